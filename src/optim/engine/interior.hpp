// SPDX-License-Identifier: Apache-2.0
// The loop of every primal-dual interior point method: Mehrotra's predictor and corrector. A
// problem holds its iterate and its mathematics; this file decides when to measure, keep, step and
// stop. A problem has
//
//   merit()                     of the present point: 0 at an optimum
//   keep()                      remember the present point, the best so far
//   complementarity()           the mean of the products of multipliers and slacks
//   factor()                    the Newton system at the present point; false: it has no solution
//   direction(target, before)   the step towards products equal to `target`, less the second-order
//                               terms of the step `before` (null: none)
//   reach(step, fraction)       how far to go: `fraction` of the way to the boundary, at most a
//                               whole step; a number, or one for each half of the variables
//   complementarity(step, far)  the same mean after that step
//   advance(step, far)          takes the step; false: the new point is of no use
//
// and may have least_target(mu), below which products are not sent; exhausted(), true where further
// steps would only move rounding; and restart(), called where the iteration is stuck: true if it
// goes on in another way from the best point.
#pragma once

#include <algorithm>
#include <concepts>
#include <utility>

#include "optim/engine/progress.hpp"

namespace kith::engine {

template <class P>
concept InteriorProblem = requires(P& problem, const P& fixed, const typename P::Step& step) {
  { problem.merit() } -> std::convertible_to<double>;
  problem.keep();
  { fixed.complementarity() } -> std::convertible_to<double>;
  { problem.factor() } -> std::same_as<bool>;
  { fixed.direction(0.0, &step) } -> std::same_as<typename P::Step>;
  { fixed.complementarity(step, fixed.reach(step, 1.0)) } -> std::convertible_to<double>;
  { problem.advance(step, fixed.reach(step, 1.0)) } -> std::same_as<bool>;
};

/// What the loop asks of a problem whose point x_ knows its products and its bounds:
/// mean_product(), now or after a step, and largest_step().
template <class Point, class S>
class PointProblem {
 public:
  using Step = S;
  [[nodiscard]] double complementarity() const { return x_.mean_product(); }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    return x_.mean_product(d, length);
  }
  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return std::min(1.0, fraction * x_.largest_step(d));
  }

 protected:
  PointProblem() = default;
  explicit PointProblem(Point start) : x_(std::move(start)) {}
  Point x_;
};

/// One step; false where none can be taken.
template <InteriorProblem P>
bool predict_and_correct(P& problem, double fraction) {
  if (!problem.factor()) return false;
  const auto affine = problem.direction(0, nullptr);
  const double mu = problem.complementarity();
  const double ahead = problem.complementarity(affine, problem.reach(affine, 1));
  const double ratio = std::clamp(ahead / mu, 0.0, 1.0);
  double target = ratio * ratio * ratio * mu;
  if constexpr (requires { problem.least_target(mu); }) {
    target = std::max(target, problem.least_target(mu));
  }
  const auto step = problem.direction(target, &affine);
  return problem.advance(step, problem.reach(step, fraction));
}

/// Runs the iteration to its end. The problem has kept the best point; what is returned tells how
/// the iteration ended. `fraction` of the way to the boundary is the longest step.
template <InteriorProblem P>
BestSoFar run_interior(P& problem, const Limits& limits, double fraction, const RunContext& ctx) {
  BestSoFar best(limits, ctx);
  while (true) {
    best.watch(problem.complementarity());
    if (best.offer(problem.merit())) problem.keep();
    bool stuck = !best.goes_on();
    if (stuck && best.status() != SolveStatus::kReducedAccuracy) break;
    if constexpr (requires { problem.exhausted(); }) {
      if (!stuck && problem.exhausted()) {
        best.end(SolveStatus::kReducedAccuracy);
        break;
      }
    }
    if (!stuck && !predict_and_correct(problem, fraction)) {
      best.end(SolveStatus::kNumericalFailure);
      stuck = true;
    }
    if (!stuck) {
      best.stepped();
      continue;
    }
    if constexpr (requires {
                    { problem.restart() } -> std::same_as<bool>;
                  }) {
      if (problem.restart()) {
        best.resume();
        continue;
      }
    }
    break;
  }
  return best;
}

}  // namespace kith::engine
