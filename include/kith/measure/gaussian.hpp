// SPDX-License-Identifier: Apache-2.0
// The Gaussian kernel of vectors, exp(-gamma |x - z|^2), and the noise [CY] 6.1 adds to it.
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/data/block.hpp"

namespace kith {

/// All pairs of the rows of X (n x n, exactly symmetric, diagonal 1); gamma > 0. The squares of
/// differences are summed as they are, so that near samples lose no digits, and in one order, so
/// that the numbers are the same for any number of threads.
[[nodiscard]] RowMatrix gaussian_matrix(const Eigen::Ref<const RowMatrix>& X, double gamma,
                                        const RunContext& ctx);

/// Each row of `queries` against each row of `training`, which have equally many columns.
[[nodiscard]] RowMatrix gaussian_matrix(const Eigen::Ref<const RowMatrix>& queries,
                                        const Eigen::Ref<const RowMatrix>& training, double gamma,
                                        const RunContext& ctx);

/// The same of sparse rows, whose absent numbers are 0.
[[nodiscard]] RowMatrix gaussian_matrix(const SparseBlock& X, double gamma, const RunContext& ctx);
[[nodiscard]] RowMatrix gaussian_matrix(const SparseBlock& queries, const SparseBlock& training,
                                        double gamma, const RunContext& ctx);

/// K + xi (E + E') / 2 with independent standard normal entries in E: [CY] 6.1. K is square, and
/// stays exactly symmetric if it is so.
void perturb_cy(RowMatrix& K, double xi, Rng rng);

}  // namespace kith
