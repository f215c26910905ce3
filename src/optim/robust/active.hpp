// SPDX-License-Identifier: Apache-2.0
// Newton's method with the bounds kept exactly (optim/dual/ascent) on D (optim/robust/dual), with a
// fixed rho or with the rho that belongs to each a. Cost of a step: O(n^2) for the secular equation
// and 4 n^2 m flops for m samples in play.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/optim/robust/newton.hpp"
#include "optim/dual/ascent.hpp"
#include "optim/robust/dual.hpp"

namespace kith::robust {

/// What the machine on K = M_+ proves of a point.
struct MachineView {
  double b = 0;    ///< of least loss
  double gap = 0;  ///< (upper bound of D - D) / D, both less the offset
  double kkt_residual = 0;
  double merit = 0;  ///< at most 1 where both tolerances are met
};
[[nodiscard]] MachineView machine_view(const Problem& problem, const VectorRef& alpha,
                                       const DualPoint& point, const NewtonSettings& settings);

/// Largest violation of the machine's optimality conditions at (alpha, b), as
/// SvmCertificate::kkt_residual, in its unit or a smaller one: M_ii stands for K_ii, which is no
/// smaller.
[[nodiscard]] double machine_residual(const Problem& problem, const VectorRef& alpha, double b,
                                      const DualPoint& point);

/// A function of a alone to be climbed.
struct ActiveFunction {
  struct Place : DualPoint {
    Vector a;
    double noise = 0;  // D is known no better
  };
  using Measure = MachineView;

  const Problem& problem;
  const NewtonSettings& settings;
  std::function<DualPoint(const Vector& alpha)> point_at;
  /// Minus its Hessian on some samples, without Y on its two sides.
  std::function<Matrix(const DualPoint& point, const std::vector<Index>& rows)> curvature;

  [[nodiscard]] Place at(Vector alpha) const;
  [[nodiscard]] Measure measure(const Place& place) const {
    return machine_view(problem, place.a, place, settings);
  }
};
using ActiveAnswer = dual::Ascent<ActiveFunction>;

/// D with the rho of the problem.
[[nodiscard]] ActiveFunction fixed_rho(const Problem& problem, const Dual& dual,
                                       const NewtonSettings& settings);

/// |K - S|_F <= radius in place of rho |K - S|_F^2, as a function of a alone: the least over the
/// kernels of the ball is the largest over rho,
///
///   F(a) = min_K 1'a - 1/2 u'Ku = max over rho of D(a, rho) - rho radius^2,
///
/// reached at the one rho with |K - S| = radius, K = M_+. F is concave and once differentiable (two
/// best kernels would have a better one between them), its gradient 1 - Y K u, and with v = D_a,rho
/// its Hessian D_aa - v v' / D_rho,rho.
class BallFunction {
 public:
  /// Keeps a reference. radius > |S_-|_F.
  BallFunction(const Dual& dual, double radius) : dual_(dual), radius_(radius) {}

  /// K is in the ball, not outside by rounding of the search, and value is F(a), no offset.
  [[nodiscard]] DualPoint at(const Vector& alpha) const;
  /// Minus the Hessian on some samples, without Y.
  [[nodiscard]] Matrix curvature(const DualPoint& point, const std::vector<Index>& rows) const;

 private:
  const Dual& dual_;
  double radius_;
};

/// As a function to be climbed. The returned bounds are true ones: K is in the ball.
[[nodiscard]] ActiveFunction in_ball(const Problem& problem, const BallFunction& ball,
                                     const NewtonSettings& settings);

/// From the best of several starts, each the alpha of a near problem (they are drawn into the box
/// and balanced first). `starts` is not empty, and `most` the number of steps.
[[nodiscard]] ActiveAnswer climb(const ActiveFunction& function, std::span<const Vector> starts,
                                 long most, const RunContext& ctx);

}  // namespace kith::robust
