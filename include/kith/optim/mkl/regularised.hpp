// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::mkl {

/// The support vector machine on the best convex combination of p kernels, each with a price,
/// [CY] (27):
///
///   min over theta >= 0, sum theta = 1   of   max over a   of   sum_i theta_i S_i(a),
///   S_i(a) = 1'a - 1/2 a' Y K_i Y a + penalty_i,        0 <= a_j <= cost_j,  y'a = 0,
///
/// which by Theorem 5.1 there is max over a of min_i S_i(a), the restricted master problem (7).
/// The form (25) with sum theta_i trace(K_i) = 1 is this one on K_i / trace(K_i) without prices.
struct RegularisedProblem {
  std::span<const Matrix> kernels;  ///< p >= 1 symmetric positive semidefinite n x n, not owned
  Vector penalty;                   ///< p
  Vector y;                         ///< +1 and -1, both present
  Vector cost;                      ///< > 0, one per sample
};

struct RegularisedSettings {
  double tolerance = 1e-10;  ///< relative gap between `lower` and `upper`
  long max_iterations = 200;
};

struct RegularisedSolution {
  Vector alpha;
  double b = 0;
  Vector theta;   ///< p weights, sum 1
  Vector values;  ///< S_i(alpha), of which `lower` is the least
  /// lower <= optimum <= upper, both recomputed from alpha, b and theta alone (rounding apart).
  double lower = 0;
  double upper = 0;
  /// objective is `lower`; gap is (upper - lower) / max(|upper|, |lower|).
  SolveInfo info;
};

/// What (alpha, b, theta) proves: the least S_i(alpha) from below; from above the hinge-loss primal
/// of the machine on the combined kernel, 1/2 u'K u + sum cost_j max(0, 1 - y_j (K u + b)_j) +
/// theta'penalty with u = Y alpha, which no feasible a exceeds.
struct RegularisedBounds {
  double lower = 0;
  double upper = 0;
  Vector values;
  double feasibility = 0;  ///< largest of |y'a| and the violations of the box, by the largest cost
};
[[nodiscard]] RegularisedBounds regularised_bounds(const RegularisedProblem& problem,
                                                   const VectorRef& alpha, double b,
                                                   const VectorRef& theta);

/// Throws Error(kInvalidArgument) for a malformed problem and Error(kInterrupted) when stopped.
[[nodiscard]] RegularisedSolution solve_regularised(const RegularisedProblem& problem,
                                                    const RegularisedSettings& settings = {},
                                                    const RunContext& ctx = {});

}  // namespace kith::mkl
