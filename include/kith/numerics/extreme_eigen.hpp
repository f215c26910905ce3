// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

// A few pairs at one end of the spectrum of a symmetric S (n x n, lower triangle read) without a
// full decomposition, found by Lanczos and verified by a Cholesky factorisation: docs/numerics.md
// says how. All three functions throw kInvalidArgument if S is not square or not finite, and
// kInterrupted within one Lanczos step once the stop token is raised. The answer does not depend on
// the seed of the run.
namespace kith {

enum class SpectrumEnd { kSmallest, kLargest };

/// `residual[i]` = ||S u_i - lambda_i u_i||, which bounds the distance of lambda_i from an
/// eigenvalue of S. That no eigenvalue beyond the returned ones was missed is verified, up to
/// `slack`.
struct ExtremePairs {
  Vector lambda;  ///< the `count` algebraically smallest ascending, or largest descending
  Matrix U;       ///< n x count, orthonormal, largest component of each column positive
  Vector residual;
  double slack = 0;  ///< at most i eigenvalues lie further out than lambda_i by more than this
};

/// The `count` (0 to n) extreme pairs. n^2 doubles and a few hundred n beside S.
[[nodiscard]] ExtremePairs extreme_eigenpairs(const MatrixRef& S, Index count, SpectrumEnd end,
                                              const RunContext& ctx);

/// lower <= lambda_min(S) <= upper, up to the rounding of a Cholesky factorisation that `lower`
/// makes room for; upper - lower is at most about 2e-9 |lambda_min|, or n eps ||S|| if that is
/// more.
struct EigenvalueBracket {
  double lower = 0;
  double upper = 0;
};
[[nodiscard]] EigenvalueBracket smallest_eigenvalue(const MatrixRef& S, const RunContext& ctx);

/// The least t >= 0, rounded up, for which S + t I is positive semidefinite. Exactly 0 if S is so
/// already up to n eps ||S||, the size at which an eigenvalue counts as zero.
[[nodiscard]] double shift_to_psd(const MatrixRef& S, const RunContext& ctx);

/// Whether S is positive semidefinite up to n eps ||S||. One Cholesky factorisation, which mostly
/// ends in its first columns where it is not.
[[nodiscard]] bool is_positive_semidefinite(const MatrixRef& S, const RunContext& ctx);

}  // namespace kith
