// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"
#include "kith/optim/dual/certificate.hpp"

namespace kith::dual {

/// What is known of K before a run.
enum class Convexity {
  kProved,   ///< positive semidefinite: the answer is the optimum
  kUnknown,  ///< the run looks for cheap evidence against it
  kRefuted,  ///< not positive semidefinite: the answer is a stationary point
};

struct SmoSettings {
  /// Largest KKT violation accepted, in the unit of SvmCertificate::kkt_residual: the difference
  /// between the largest and the smallest value of b that the samples ask for.
  double tolerance = kSvmTolerance;
  /// Relative duality gap accepted; the solver goes on below `tolerance` until it is met. Infinity
  /// turns it off. Bounds nothing unless K is positive semidefinite, and has no effect where that
  /// is not proved.
  double gap_tolerance = kSvmTolerance;
  /// Pair and Newton steps together; 0 means 10^7 + 200 n, or 10^5 + 200 n where cost times kernel
  /// exceeds 1e14 and only separable classes leave digits to solve with.
  long max_iterations = 0;
  Convexity convexity = Convexity::kProved;
  bool newton = true;  ///< finish on the free variables with Newton steps
};

struct SmoSolution {
  Vector alpha;
  double b = 0;     ///< average over the free variables, else the middle of the admissible interval
  Vector gradient;  ///< Q alpha + p
  /// Where it is below every cost, alpha solves the problem for every larger cost as well.
  double largest_alpha = 0;
  /// objective is the dual's, a maximum. gap and kkt_residual come from `certify`; gap is NaN for
  /// kStationary. iterations counts pair and Newton steps.
  SolveInfo info;
};

/// Solves the dual. A `start` is moved to the nearest feasible point of simple kind: clipped to the
/// box, then balanced over its free variables. From a solution for another cost, start at alpha
/// times the ratio of the costs: what was at its bound is then at the new one. Throws
/// Error(kInvalidArgument) for a malformed problem and Error(kInterrupted) when the run is stopped;
/// everything else is a status: kSolved (certificate within both tolerances), kStationary (KKT
/// residual within tolerance, and negative curvature was met or announced), kUnchecked (KKT
/// residual within tolerance, nothing known of convexity and none refuted), kReducedAccuracy
/// (rounding ended the progress), kIterationLimit, kNumericalFailure (not finite).
[[nodiscard]] SmoSolution smo(const SvmDual& problem, const SmoSettings& settings = {},
                              const RunContext& ctx = {},
                              const std::optional<Vector>& start = std::nullopt);

}  // namespace kith::dual
