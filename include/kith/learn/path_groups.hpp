// SPDX-License-Identifier: Apache-2.0
// The settings of a path by what they share.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kith/learn/learner.hpp"

namespace kith {

/// Fits the settings that agree in `key` together: `fit` takes them as a span, ascending in
/// `order`, and returns one result for each. The results come back in the order of the path. Groups
/// may be nested.
template <class Settings, class Key, class Order, class Fit>
[[nodiscard]] auto fit_in_groups(Path<Settings> path, const Key& key, const Order& order,
                                 const Fit& fit) {
  std::map<std::invoke_result_t<Key, const Settings&>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < path.size(); ++i) groups[key(path[i])].push_back(i);
  std::invoke_result_t<Fit, Path<Settings>> fitted(path.size());
  for (auto& [shared, members] : groups) {
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return order(path[a]) < order(path[b]); });
    std::vector<Settings> own;
    for (const std::size_t i : members) own.push_back(path[i]);
    auto solved = fit(Path<Settings>(own));
    for (std::size_t k = 0; k < members.size(); ++k) fitted[members[k]] = std::move(solved[k]);
  }
  return fitted;
}

/// An `order` of settings: as they stand in the path, or by their cost.
inline constexpr auto as_given = [](const auto& /*settings*/) { return 0; };
inline constexpr auto by_cost = [](const auto& settings) { return settings.cost; };

}  // namespace kith
