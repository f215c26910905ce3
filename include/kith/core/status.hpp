// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "kith/core/enum_names.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// How a solver ended, from a met tolerance to no answer at all: of several the largest counts.
/// Only `kSolved` means that the stated tolerance was met and is proved.
enum class SolveStatus {
  kSolved,
  kUnchecked,        ///< tolerance met; that the problem is convex was neither proved nor refuted
  kStationary,       ///< tolerance met, but the problem is not convex: a stationary point
  kStopped,          ///< the method's own rule ended it: no optimum is claimed; see the gap
  kReducedAccuracy,  ///< no further progress in double precision; see the residuals
  kIterationLimit,
  kNumericalFailure,
  kInfeasible,
};
constexpr auto enum_names(SolveStatus /*of*/) {
  return named("solved", "tolerance met, convexity not checked", "not convex: stationary",
               "stopped by its rule", "reduced accuracy", "iteration limit", "numerical failure",
               "infeasible");
}

/// Whether the answer meets the tolerance that was asked for.
[[nodiscard]] constexpr bool met_tolerance(SolveStatus status) {
  return status == SolveStatus::kSolved || status == SolveStatus::kUnchecked ||
         status == SolveStatus::kStationary;
}
/// Whether the solver ended as it should: at its tolerance, or by its own rule where the method
/// claims no optimum.
[[nodiscard]] constexpr bool ended_as_asked(SolveStatus status) {
  return met_tolerance(status) || status == SolveStatus::kStopped;
}
/// What the gap of an answer is: a descent has no dual of its own, and its gap is that to a lower
/// bound of the optimum.
[[nodiscard]] constexpr const char* gap_words(SolveStatus status) {
  return status == SolveStatus::kStopped || status == SolveStatus::kStationary ? "gap to bound"
                                                                               : "duality gap";
}
/// The status of an answer that was measured after its solver had ended: what is proved is solved,
/// whatever ended the solver, and what is not proved is not.
[[nodiscard]] constexpr SolveStatus measured_status(SolveStatus ended, bool proved) {
  if (proved) return SolveStatus::kSolved;
  return ended == SolveStatus::kSolved ? SolveStatus::kReducedAccuracy : ended;
}

/// The evidence a solver returns with its answer. NaN: the quantity does not exist for this
/// problem.
struct SolveInfo {
  SolveStatus status = SolveStatus::kSolved;
  long iterations = 0;
  double objective = std::numeric_limits<double>::quiet_NaN();
  double gap = std::numeric_limits<double>::quiet_NaN();           ///< relative duality gap
  double kkt_residual = std::numeric_limits<double>::quiet_NaN();  ///< largest violation
};

/// One iteration of a solver that closes in on its optimum from both sides.
struct BoundsStep {
  double lower = 0;
  double upper = 0;
  /// upper - lower, which may be far below the rounding of the bounds themselves where these carry
  /// a constant.
  double gap = 0;
  Index set_size = 0;  ///< constraints, kernels or the like that the solver works with
};

}  // namespace kith
