// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::linear {

/// Hinge loss with a 1-norm, for rows f_i of F and labels y in {+1, -1}:
///
///   min_{w, b}  |w|_1 + sum_i cost_i max(0, 1 - y_i (w'f_i + b)),
///
/// a linear program whose dual is
///
///   max_a  1'a   s.t.  0 <= a_i <= cost_i,  y'a = 0,  |F'(y.*a)|_j <= 1 for every column j.
struct HingeLp {
  MatrixRef F;  ///< samples x features, finite
  Vector y;     ///< +1 or -1
  Vector cost;  ///< positive; its products with the entries of F finite
};

/// Throws Error(kInvalidArgument) naming the first entry that breaks a rule stated above.
void validate(const HingeLp& problem);

/// What (w, b) and a achieve, recomputed from the data alone: nothing a solver kept is used.
struct HingeLpCertificate {
  double primal = 0;
  double dual = 0;  ///< of a moved to a feasible point: into the box, balanced, scaled down
  double gap = 0;   ///< (primal - dual) / max(primal, dual); 0 when both are 0
  /// Largest violation of the optimality conditions by (w, b) and the feasible a. With g = F'(y.*a)
  /// a column violates by 1 - sign(w_j) g_j where w_j is not 0, and with r_i = y_i f(i) - 1 a
  /// sample by max(0, -r_i) if a_i < cost_i and by max(0, r_i) if a_i > 0; or, if that is less, by
  /// its distance in units of the largest w or a from the bound that would excuse it.
  double kkt_residual = 0;
};

/// O(n m).
[[nodiscard]] HingeLpCertificate certify(const HingeLp& problem, const VectorRef& w, double b,
                                         const VectorRef& a);

struct HingeLpSettings {
  double tolerance = 1e-8;  ///< relative duality gap accepted
  /// Go on from the optimal face to one of its vertices, at which no more columns are nonzero than
  /// samples lie on the margin.
  bool vertex = true;
  long max_iterations = 2000;  ///< interior-point steps in all
};

struct HingeLpSolution {
  Vector w;
  double b = 0;  ///< the middle of the optimal values for this w
  Vector a;      ///< dual point, as the certificate takes it
  /// Columns that took part, ascending: a start for a similar problem.
  std::vector<Index> working;
  /// objective, gap and kkt_residual come from `certify`; iterations counts interior-point steps.
  SolveInfo info;
};

/// Solves the program by column generation around a primal-dual interior point method. `start`
/// names columns that are likely to be needed; it changes the time, not the answer. Throws
/// Error(kInvalidArgument) for a malformed problem and Error(kInterrupted) when the run is stopped;
/// everything else is a status: kSolved (certificate within tolerance), kReducedAccuracy (rounding
/// ended the progress), kIterationLimit, kNumericalFailure (not finite).
[[nodiscard]] HingeLpSolution solve_hinge_lp(const HingeLp& problem,
                                             const HingeLpSettings& settings = {},
                                             const RunContext& ctx = {},
                                             const std::vector<Index>& start = {});

}  // namespace kith::linear
