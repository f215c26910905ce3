// SPDX-License-Identifier: Apache-2.0
// Learning a linear map together with a support vector machine, [ZGZZ] (5) and (6):
//
//   min_{L, w, b}  f = 1/2 |w|^2 + sum_i cost_i max(0, 1 - y_i (w'L x_i + b))^2,   |L x_i| <= 1,
//
// over centred samples x_i. L is d x r for samples of r features. Samples of D > n features are
// first brought to the r < n coordinates of their span: the gradient in L lies in it, so nothing is
// lost and no D x D matrix is formed.
#pragma once

#include <span>

#include "kith/core/context.hpp"
#include "kith/core/enum_names.hpp"
#include "kith/core/rng.hpp"
#include "kith/optim/linear/squared_hinge.hpp"

namespace kith::metric {

/// The radius of mapped samples.
enum class RadiusRule {
  kMean,  ///< max_i |L x_i| over centred samples: what the paper computes
  kBall,  ///< min_c max_i |L x_i - c|: (4) as it is printed
};
constexpr auto enum_names(RadiusRule /*of*/) { return named("mean", "ball"); }

struct Point {
  Matrix L;  ///< d x r
  Vector w;  ///< d
  double b = 0;
};

/// f of [ZGZZ] (6), whether or not the point is inside the ball.
[[nodiscard]] double objective(const linear::SignedSamples& samples, const Point& point);
/// The gradient [ZGZZ] (7) in its parts: that in L is -w q', of rank one.
struct Slope {
  Vector q;  ///< r
  Vector w;  ///< d
  double b = 0;
};
[[nodiscard]] Slope slope(const linear::SignedSamples& samples, const Point& point);
/// The same with its part in L written out.
[[nodiscard]] Point gradient(const linear::SignedSamples& samples, const Point& point);
/// R(L) = max_i |L x_i|. The mean is not the centre of the smallest enclosing ball, so this bounds
/// [ZGZZ] (4) from above (metric/ball has the ball itself).
[[nodiscard]] double radius(const MatrixRef& X, const MatrixRef& L);

/// [ZGZZ] (10): L / R(L). A map that sends every sample to 0 stays.
[[nodiscard]] Matrix scaled_projection(const MatrixRef& X, Matrix L);
/// [ZGZZ] (9): the nearest A in the Frobenius norm with |A x_i| <= 1, A = L (I + X' diag(lambda)
/// X)^-1. By an interior point method on the lambda of the k samples that come to lie outside of
/// the ball: some 20 steps of O(k^3) for each growth of that set, and O(n r d + k r (k + d)) beside
/// them. `near` are samples that are likely to end on the sphere, such as those that had a lambda
/// for a map close by.
struct ExactProjection {
  Matrix A;
  Vector lambda;  ///< multipliers, >= 0
};
[[nodiscard]] ExactProjection exact_projection(const MatrixRef& X, const MatrixRef& L,
                                               const RunContext& ctx = {},
                                               std::span<const Index> near = {});

/// Where the descent begins, [ZGZZ] IV.B.
enum class MapStart { kIdentity, kPca, kRandom };
enum class MachineStart { kSvm, kRandom };
constexpr auto enum_names(MapStart /*of*/) { return named("identity", "pca", "random"); }
constexpr auto enum_names(MachineStart /*of*/) { return named("svm", "random"); }

/// `samples` in the coordinates of their principal directions, largest first. There the identity
/// and the PCA projection are the same matrix, [I 0], and their descents differ in random draws
/// alone. The map is scaled into the ball; the machine is the squared-hinge machine on L x_i.
[[nodiscard]] Point start_point(const linear::SignedSamples& samples, Index dimensions,
                                MapStart map, MachineStart machine, Rng rng, const RunContext& ctx,
                                RadiusRule radius = RadiusRule::kMean);

}  // namespace kith::metric
