// SPDX-License-Identifier: Apache-2.0
// |K - S|_F <= radius in place of rho |K - S|_F^2, as a function of a alone: the least over the
// kernels of the ball is the largest over rho,
//
//   F(a) = min_K 1'a - 1/2 u'Ku = max over rho of D(a, rho) - rho radius^2,
//
// reached at the one rho with |K - S| = radius, K = M_+. F is concave and once differentiable (two
// best kernels would have a better one between them), its gradient 1 - Y K u, and with v = D_a,rho
// its Hessian D_aa - v v' / D_rho,rho.
#pragma once

#include "kith/optim/robust/newton.hpp"
#include "optim/robust/active.hpp"
#include "optim/robust/dual.hpp"

namespace kith::robust {

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

}  // namespace kith::robust
