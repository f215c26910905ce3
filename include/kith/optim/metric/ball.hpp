// SPDX-License-Identifier: Apache-2.0
// The radius of [ZGZZ] (4): that of the smallest ball around the images of a map, and what the
// programs of optim/metric are where it takes the place of the largest distance from the mean.
#pragma once

#include <vector>

#include "kith/optim/metric/problem.hpp"

namespace kith::metric {

struct SmallestBall {
  Vector centre;
  double radius = 0;            ///< the largest distance of a point from the centre: all are inside
  std::vector<Index> supports;  ///< points with a weight
  Vector weights;               ///< theirs, > 0, of sum 1; the centre is their weighted mean
};
/// Around the rows of `points`, one at least. `near` is where the centre may be, or empty. Some d
/// steps of O(n d + d^3) each for points of d dimensions.
[[nodiscard]] SmallestBall smallest_ball(const MatrixRef& points, const Vector& near = {});

/// What a ball achieves, recomputed from the points.
struct BallCertificate {
  double radius = 0;  ///< the largest distance of a point from the centre
  double lower = 0;   ///< no ball around the points is smaller, by the weights
  double gap = 0;     ///< (radius - lower) / radius
};
[[nodiscard]] BallCertificate certify(const MatrixRef& points, const SmallestBall& ball);

/// The problem with |L x_i - c| <= 1 is the one with |L x_i| <= 1 for samples (x_i, s), s the
/// longest sample: L~ = (L, -c / s) maps them to L x_i - c, and b~ = b + w'c keeps the decisions.
[[nodiscard]] linear::SignedSamples with_constant(const linear::SignedSamples& samples);
/// The point of that problem whose c is the centre of the smallest ball.
[[nodiscard]] Point around_centre(const linear::SignedSamples& samples, const Point& point);
/// L, w and b of one of its points.
[[nodiscard]] Point without_constant(const linear::SignedSamples& samples, const Point& point);

}  // namespace kith::metric
