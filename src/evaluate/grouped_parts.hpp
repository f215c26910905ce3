// SPDX-License-Identifier: Apache-2.0
// Test parts of whole groups.
#pragma once

#include <vector>

#include "kith/evaluate/partitions.hpp"

namespace kith::detail {

/// Groups in random order, each taken where it brings the test part nearer to its share of all
/// samples and (unless `stratify` is no) of each class; then, where the part is still too small,
/// those that bring its size nearest, the ones that suit the classes best first. At least one.
///
/// As many groups as folds are left for training and, unless `stratify` is no, one of each class:
/// two where the class has three or more. Throws Error(kInvalidArgument) where that leaves none to
/// test.
[[nodiscard]] std::vector<Index> grouped_test_part(const Labels& labels,
                                                   const PartitionSettings& settings, Rng rng);

}  // namespace kith::detail
