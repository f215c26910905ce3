// SPDX-License-Identifier: Apache-2.0
// Representatives of a set of samples known by their similarities.
#pragma once

#include <span>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// `count` of `members` (all of them where there are fewer), such that the sum of each member's
/// similarity to its most similar medoid is large: a greedy start, then k-medoids until no sum
/// grows. The first of the start is the member of largest sum-similarity, so that one medoid is the
/// class centroid. Equals are settled by the order of `members`; nothing else is random.
/// Cost: count |members|^2 for the start, |members|^2 per round. Returned ascending.
[[nodiscard]] std::vector<Index> medoids(const MatrixRef& S, std::span<const Index> members,
                                         Index count);

}  // namespace kith
