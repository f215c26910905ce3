// SPDX-License-Identifier: Apache-2.0
// Samples in the pieces in which they are drawn: groups, or single samples.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "kith/core/types.hpp"

namespace kith::detail {

struct Bundle {
  std::vector<Index> members;                  ///< ascending
  std::vector<std::pair<int, Index>> classes;  ///< those it has, ascending, with how many samples

  [[nodiscard]] Index size() const { return std::ssize(members); }
};

struct Bundles {
  std::vector<Bundle> all;  ///< in the order of their first members
  Index samples = 0;
  std::vector<Index> class_sizes;  ///< samples of each class
  std::vector<Index> of_class;     ///< bundles that have samples of it

  [[nodiscard]] Index size() const { return std::ssize(all); }
};

/// A bundle for each group; for each sample where there are no groups. Class ids from 0 on.
[[nodiscard]] Bundles bundles_of(std::span<const int> class_ids, std::span<const int> groups);

}  // namespace kith::detail
