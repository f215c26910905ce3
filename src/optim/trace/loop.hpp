// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "optim/trace/newton.hpp"

namespace kith::trace {

/// The loop of newton and spectral_newton. `Method` has complementarity(), describe() for the
/// solution at the present point, and advance(difference) to the next one, with the difference of
/// the bounds at this one; it is false where the point cannot be left.
template <class Method>
DualSolution run_to_difference(Method& method, double tolerance, const RunContext& ctx) {
  constexpr long kMostIterations = 200;
  constexpr long kPatience = 15;  // iterations without a better bound or complementarity
  DualSolution best = method.describe();
  double difference = best.difference;
  double least = method.complementarity();
  long best_at = 0;
  long iteration = 0;
  while (true) {
    ctx.check_stop();
    best.status = SolveStatus::kSolved;
    if (best.difference <= tolerance * best.machine) break;
    best.status = SolveStatus::kIterationLimit;
    if (iteration >= kMostIterations) break;
    best.status = SolveStatus::kReducedAccuracy;
    if (iteration - best_at > kPatience) break;
    best.status = SolveStatus::kNumericalFailure;
    if (!method.advance(difference)) break;
    ++iteration;
    if (method.complementarity() < 0.9 * least) {
      least = method.complementarity();
      best_at = iteration;
    }
    DualSolution now = method.describe();
    difference = now.difference;
    if (now.difference < best.difference) {
      best = std::move(now);
      best_at = iteration;
    }
  }
  best.iterations = iteration;
  return best;
}

}  // namespace kith::trace
