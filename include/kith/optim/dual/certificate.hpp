// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/types.hpp"
#include "kith/optim/dual/symmetric_view.hpp"

namespace kith::dual {

/// The dual of a support vector machine with an arbitrary linear term, labels y in {+1, -1}:
///
///   max  -p'a - 1/2 a'Qa   s.t.  0 <= a_i <= cost_i,  y'a = 0,      Q = diag(y) K diag(y),
///
/// whose primal, for positive semidefinite K = X X', is
///
///   min  1/2 |w|^2 + sum_i cost_i max(0, -p_i - y_i (w'x_i + b)).
///
/// p = -1 is the usual machine with margin 1.
struct SvmDual {
  SymmetricView K;
  Vector y;       ///< +1 or -1
  Vector cost;    ///< finite, >= 0; 0 fixes the variable at 0
  Vector linear;  ///< p; empty means -1 for every sample
};

/// Throws Error(kInvalidArgument) naming the first entry that breaks a rule stated above.
void validate(const SvmDual& problem);

/// What a pair (alpha, b) achieves, recomputed from the data alone: nothing a solver kept is used.
struct SvmCertificate {
  double dual = 0;  ///< -p'a - 1/2 a'Qa
  /// At w = sum_i a_i y_i x_i and the given b, or at both longer by up to 1e-9 of themselves
  /// where that meets margins missed by rounding and is less.
  double primal = 0;
  double gap = 0;  ///< (primal - dual) / max(|primal|, |dual|); 0 when both are 0
  /// Largest violation of the optimality conditions. With r_i = y_i f_i + p_i (margin 1: y_i f_i -
  /// 1), sample i violates by max(0, -r_i) if a_i < cost_i and by max(0, r_i) if a_i > 0. The unit
  /// is the margin max|p|, or where the kernel is so small that no sample moves its own decision
  /// value that far, max_i cost_i K_ii (but no less than 1e-6 of the margin). A variable that is
  /// closer to the bound it should be at than its violation, in units of the largest alpha, counts
  /// by that distance: 1e-12 off a bound is rounding, not a support vector.
  double kkt_residual = 0;
  /// Largest of |y'a| and the violations of the box, relative to the largest cost.
  double feasibility = 0;
  /// a'Qa. Below zero it proves that K is not positive semidefinite; then no gap exists.
  double quadratic = 0;
  Vector decision;  ///< f_i = sum_j K_ij y_j a_j + b

  [[nodiscard]] bool within(double tolerance) const {
    return gap <= tolerance && kkt_residual <= tolerance && feasibility <= tolerance;
  }
};

/// What solver and certificate accept unless told otherwise.
inline constexpr double kSvmTolerance = 1e-6;

/// (upper - lower) / max(|upper|, |lower|): 0 where both are 0 or where they are in the wrong order
/// by rounding alone (1e-13), NaN where a bound is not finite.
[[nodiscard]] double relative_gap(double lower, double upper);

/// O(n s) for s nonzero alphas.
[[nodiscard]] SvmCertificate certify(const SvmDual& problem, const VectorRef& alpha, double b);

/// The kkt_residual of any machine that has decision values: residuals r_i = y_i f_i + p_i, in
/// `unit`.
[[nodiscard]] double kkt_violation(const VectorRef& alpha, const VectorRef& cost,
                                   const VectorRef& residuals, double unit);

/// The b of least hinge loss sum_i cost_i max(0, 1 - y_i (f_i + b)), the middle of the interval
/// where there are several.
[[nodiscard]] double least_loss_intercept(const VectorRef& f, const VectorRef& y,
                                          const VectorRef& cost);

/// The unit of kkt_residual: of a machine whose largest margin is `margin` and whose largest
/// cost_i K_ii is `reach`.
[[nodiscard]] double kkt_unit(double reach, double margin = 1);
[[nodiscard]] double kkt_unit(const SvmDual& problem);

}  // namespace kith::dual
