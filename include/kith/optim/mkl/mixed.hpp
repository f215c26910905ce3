// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::mkl {

/// The support vector machine on several kernels with the mixed norm of [KTBB] (10):
///
///   max over gamma >= 0, sum gamma <= 1, and a   of   1'a - 1/2 a' Y (sum_i K_i / gamma_i) Y a,
///   0 <= a_j <= cost_j,  y'a = 0.
///
/// For fixed a the best gamma_i is sqrt(q_i) / sum_k sqrt(q_k) with q_i = a' Y K_i Y a, which
/// leaves max over a of 1'a - 1/2 (sum_i sqrt(q_i))^2. Its primal, with K_i = X_i X_i', is
///
///   min over w, b   of   1/2 max_i |w_i|^2 + sum_j cost_j max(0, 1 - y_j (sum_i X_i w_i + b)_j).
///
/// Where |w_i| is below the largest, q_i = 0 and gamma_i = 0 at the optimum: K_i Y a / gamma_i then
/// has a limit that a does not determine, and c_i below is that limit's own.
struct MixedProblem {
  std::span<const Matrix> kernels;  ///< m >= 1 symmetric positive semidefinite n x n, not owned
  Vector y;                         ///< +1 and -1, both present
  Vector cost;                      ///< > 0, one per sample
};

struct MixedSettings {
  double tolerance = 1e-10;  ///< relative gap between `lower` and `upper`
  long max_iterations = 200;
};

struct MixedSolution {
  Vector alpha;
  double b = 0;
  Vector gamma;  ///< m weights > 0, sum 1
  /// n x m: a sample has decision value sum_i k_i'c_i + b. c_i is Y alpha / gamma_i, or where
  /// gamma_i is next to nothing a vector with the same part in the range of K_i.
  Matrix c;
  /// lower <= optimum <= upper, both recomputed from alpha, b and c alone (rounding apart).
  double lower = 0;
  double upper = 0;
  /// objective is `lower`; gap is (upper - lower) / max(|upper|, |lower|).
  SolveInfo info;
};

/// What (alpha, b, c) proves: the dual from below, the primal at w_i = X_i'c_i from above. X_i is
/// the factor of numerics/pivoted_cholesky: eigenvalues of the size of rounding count as zero,
/// since their square roots would not.
struct MixedBounds {
  double lower = 0;
  double upper = 0;
  double feasibility = 0;  ///< largest of |y'a| and the violations of the box, by the largest cost
};
[[nodiscard]] MixedBounds mixed_bounds(const MixedProblem& problem, const VectorRef& alpha,
                                       double b, const MatrixRef& c);

/// Throws Error(kInvalidArgument) for a malformed problem and Error(kInterrupted) when stopped.
[[nodiscard]] MixedSolution solve_mixed(const MixedProblem& problem,
                                        const MixedSettings& settings = {},
                                        const RunContext& ctx = {});

}  // namespace kith::mkl
