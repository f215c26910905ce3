// SPDX-License-Identifier: Apache-2.0
#include "data/bundles.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace kith::detail {

Bundles bundles_of(std::span<const int> class_ids, std::span<const int> groups) {
  const int classes =
      class_ids.empty() ? 0 : 1 + *std::max_element(class_ids.begin(), class_ids.end());
  Bundles bundles{.all = {},
                  .samples = std::ssize(class_ids),
                  .class_sizes = std::vector<Index>(static_cast<std::size_t>(classes), 0),
                  .of_class = std::vector<Index>(static_cast<std::size_t>(classes), 0)};
  std::unordered_map<int, std::size_t> place;
  for (std::size_t i = 0; i < class_ids.size(); ++i) {
    const int group = groups.empty() ? static_cast<int>(i) : groups[i];
    const auto [found, is_new] = place.emplace(group, bundles.all.size());
    if (is_new) bundles.all.emplace_back();
    bundles.all[found->second].members.push_back(static_cast<Index>(i));
  }
  for (Bundle& bundle : bundles.all) {
    std::map<int, Index> counts;
    for (const Index i : bundle.members) ++counts[class_ids[static_cast<std::size_t>(i)]];
    bundle.classes.assign(counts.begin(), counts.end());
    for (const auto& [c, count] : bundle.classes) {
      bundles.class_sizes[static_cast<std::size_t>(c)] += count;
      ++bundles.of_class[static_cast<std::size_t>(c)];
    }
  }
  return bundles;
}

}  // namespace kith::detail
