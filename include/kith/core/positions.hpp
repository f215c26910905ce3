// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kith/core/text.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// 0, 1, ..., count - 1.
[[nodiscard]] inline std::vector<Index> all_positions(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// The values at `positions`, in that order; none where there are no values at all.
template <class Value>
[[nodiscard]] std::vector<Value> values_at(const std::vector<Value>& values,
                                           std::span<const Index> positions) {
  std::vector<Value> chosen;
  if (values.empty()) return chosen;
  chosen.reserve(positions.size());
  for (const Index i : positions) chosen.push_back(values[static_cast<std::size_t>(i)]);
  return chosen;
}

/// Where ids stand: the first place of each.
using Positions = std::unordered_map<std::string_view, Index>;
[[nodiscard]] inline Positions positions_of(std::span<const std::string> ids) {
  Positions positions;
  positions.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) positions.emplace(ids[i], static_cast<Index>(i));
  return positions;
}

/// Where some ids stand among others.
struct MatchedIds {
  std::vector<Index> positions;      ///< of those that do
  std::vector<std::string> unknown;  ///< the others, in quotes
};
[[nodiscard]] inline MatchedIds match_ids(std::span<const std::string> ids,
                                          const Positions& positions) {
  MatchedIds matched;
  matched.positions.reserve(ids.size());
  for (const std::string& id : ids) {
    const auto at = positions.find(id);
    if (at == positions.end()) {
      matched.unknown.push_back(in_quotes(id));
    } else {
      matched.positions.push_back(at->second);
    }
  }
  return matched;
}

/// At most `most` of 0 .. n-1, evenly spread.
[[nodiscard]] inline std::vector<Index> spread_positions(Index n, Index most) {
  const Index count = std::min(n, most);
  std::vector<Index> chosen;
  chosen.reserve(static_cast<std::size_t>(count));
  for (Index k = 0; k < count; ++k) chosen.push_back(k * n / count);
  return chosen;
}

}  // namespace kith
