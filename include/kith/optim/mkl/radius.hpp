// SPDX-License-Identifier: Apache-2.0
// Weights of several kernels by the ratio of margin and radius (Gai, Chen, Zhang 2010, named RKL in
// [ZGZZ]): with K = sum_m theta_m K_m and R(K) the radius of the smallest ball around the samples,
//
//   min_{theta >= 0}  G(theta) = max_a 1'a - 1/(2 R^2) a'YKYa,   0 <= a <= cost, y'a = 0.
//
// G does not change when theta, or all kernels, are scaled, so that theta is sought in the simplex.
// What the paper does not say: bound by R^2 <= 1 instead, a convex set, the machine's optimum is a
// convex function of theta that falls as theta grows, so that G has no stationary point but its
// optimum, and any feasible a and beta give a lower bound of it.
#pragma once

#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::mkl {

/// The smallest ball around samples with kernel K: its centre is sum_i beta_i phi(x_i).
struct EnclosingBall {
  Vector beta;         ///< >= 0, of sum 1
  double squared = 0;  ///< R^2
};
/// max_beta beta'diag(K) - beta'K beta. `near` is a beta to begin from, or empty.
[[nodiscard]] EnclosingBall enclosing_ball(const MatrixRef& K, const Vector& near = {});

struct RadiusProblem {
  std::vector<Matrix> kernels;  ///< positive semidefinite, of one size
  Vector y;                     ///< +1 or -1
  Vector cost;
};

/// G and what it was found from.
struct RadiusPoint {
  double value = 0;
  double gap = 0;  ///< of the machine: G is at most value / (1 - gap)
  /// No theta has a smaller G: the largest of
  /// s 1'alpha - s^2/2 max_m alpha'YK_mY alpha / (beta'diag(K_m) - beta'K_m beta) over 0 <= s <= 1,
  /// with the beta of the ball.
  double bound = 0;
  Vector gradient;  ///< of G in theta; theta'gradient = 0
  Vector alpha;
  double b = 0;
  EnclosingBall ball;
};
/// `near` is the point of a theta close by, or nothing.
[[nodiscard]] RadiusPoint radius_point(const RadiusProblem& problem, const VectorRef& theta,
                                       double tolerance, const RunContext& ctx,
                                       const RadiusPoint* near = nullptr);

struct RadiusSettings {
  double tolerance = 1e-6;  ///< of the machine, and the relative decrease that ends the descent
  long max_iterations = 200;
};
struct RadiusSolution {
  Vector theta;  ///< in the simplex
  RadiusPoint point;
  double bound = 0;  ///< the best of all points that were tried: no theta has a smaller G
  /// objective is G; gap the relative distance of what it is at most to `bound`;
  /// kkt_residual the largest of -g_m and theta_m |g_m|, relative to G; kSolved: the gap is within
  /// the tolerance; kStopped: the descent ended by its tolerance, or no step lowers G.
  SolveInfo info;
  std::vector<double> objectives;  ///< before the first step and after each; never rises
};
/// Projected gradient steps from equal weights.
[[nodiscard]] RadiusSolution solve_radius(const RadiusProblem& problem,
                                          const RadiusSettings& settings,
                                          const RunContext& ctx = {});

}  // namespace kith::mkl
