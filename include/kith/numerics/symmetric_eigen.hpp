// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// S = U diag(lambda) U' with lambda ascending and the largest component of each column of U
/// positive.
struct SymmetricEigen {
  Vector lambda;
  Matrix U;
};

/// Full decomposition (LAPACK dsyevd). Only the lower triangle of S is read. O(n^3), 3 n^2 doubles
/// of workspace beyond S when S is moved in.
[[nodiscard]] SymmetricEigen symmetric_eigen(Matrix S);

/// Eigenvalues alone, ascending.
[[nodiscard]] Vector symmetric_eigenvalues(Matrix S);

enum class SpectrumEnd { kSmallest, kLargest };

/// Extreme pairs without a full decomposition. `residual[i]` = ||S u_i - lambda_i u_i||, which
/// bounds the distance of lambda_i from an eigenvalue of S.
struct ExtremePairs {
  Vector lambda;  ///< the `count` algebraically smallest ascending, or largest descending
  Matrix U;
  Vector residual;
};
[[nodiscard]] ExtremePairs extreme_eigenpairs(const MatrixRef& S, Index count, SpectrumEnd end,
                                              const RunContext& ctx);

/// lambda below which an eigenvalue counts as negative in reports: -1e-9 max|lambda|.
[[nodiscard]] double negative_threshold(const VectorRef& lambda);
/// |lambda| at or below which an eigenvalue counts as zero in kernels: n eps max|lambda|.
[[nodiscard]] double zero_threshold(const VectorRef& lambda);

}  // namespace kith
