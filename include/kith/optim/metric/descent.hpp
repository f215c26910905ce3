// SPDX-License-Identifier: Apache-2.0
// [ZGZZ] Algorithm 1: gradient projection with Armijo steps.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "kith/optim/metric/ball.hpp"
#include "kith/optim/metric/problem.hpp"

namespace kith::metric {

enum class BallProjection { kScaled, kExact };
constexpr auto enum_names(BallProjection /*of*/) { return named("scaled", "exact"); }

struct DescentSettings {
  double tolerance = 1e-6;  ///< epsilon of line 12: the relative decrease that ends the descent
  BallProjection projection = BallProjection::kScaled;
  RadiusRule radius = RadiusRule::kMean;
  long max_iterations = 100000;
};

struct Descent {
  Point point;  ///< inside the ball
  /// objective is f; kStopped: ended by epsilon, or because no step lowers f, which says nothing of
  /// how near a stationary point is. iterations counts accepted steps. The problem is not convex in
  /// (L, w), so there is no gap here.
  SolveInfo info;
  std::vector<double> objectives;  ///< before the first step and after each; never rises
};

/// From `start`, which is first projected into the ball. A step is accepted only where f at the
/// *projected* point passes Armijo's rule: the scaled projection is no projection in the Euclidean
/// sense, so f could rise after it. Scaled: O(n min(n, r + d)) per iteration and O(n) per
/// trial step, because the gradient in L has rank one. Exact: O(n r d) and a program
/// of its own per trial, the first of which is at most four times as long as the last step and
/// moves images by at most four radii. With kBall a scaled trial looks for the
/// smallest ball: some d steps of O(n d).
[[nodiscard]] Descent descent(const linear::SignedSamples& samples, Point start,
                              const DescentSettings& settings, const RunContext& ctx = {});

/// How far the point is from stationary, in [0, 1]: |p - P(p - s g)| / (s |g|) for the point p, the
/// gradient g, the exact projection P and s = 1 / max(1, |g|), all of it in units in which the
/// longest sample has length 1. So it does not change when the samples are multiplied by a constant
/// and L is divided by it. 0: stationary; 1: the ball holds nothing of the gradient.
[[nodiscard]] double projected_gradient_share(const linear::SignedSamples& samples,
                                              const Point& point, const RunContext& ctx = {},
                                              RadiusRule radius = RadiusRule::kMean);

}  // namespace kith::metric
