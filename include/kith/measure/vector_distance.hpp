// SPDX-License-Identifier: Apache-2.0
// Distances of vectors and the kernel made of one of them:
//   euclidean  |x - z|         manhattan  |x - z|_1        laplacian  exp(-gamma |x - z|_1)
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/data/block.hpp"

namespace kith {

enum class VectorDistance { kEuclidean, kManhattan, kLaplacian };

/// All pairs of the rows of X (n x n, exactly symmetric). Differences are summed as they are, so
/// that near samples lose no digits, and in one order. `gamma` > 0 is of laplacian.
[[nodiscard]] RowMatrix vector_distance_matrix(const Eigen::Ref<const RowMatrix>& X,
                                               VectorDistance distance, double gamma,
                                               const RunContext& ctx);

/// Each row of `queries` against each row of `training`, which have equally many columns.
[[nodiscard]] RowMatrix vector_distance_matrix(const Eigen::Ref<const RowMatrix>& queries,
                                               const Eigen::Ref<const RowMatrix>& training,
                                               VectorDistance distance, double gamma,
                                               const RunContext& ctx);

/// The same of sparse rows, whose absent numbers are 0.
[[nodiscard]] RowMatrix vector_distance_matrix(const SparseBlock& X, VectorDistance distance,
                                               double gamma, const RunContext& ctx);
[[nodiscard]] RowMatrix vector_distance_matrix(const SparseBlock& queries,
                                               const SparseBlock& training, VectorDistance distance,
                                               double gamma, const RunContext& ctx);

}  // namespace kith
