// SPDX-License-Identifier: Apache-2.0
// Interior points in alpha over the box 0 <= alpha <= cost of a machine: its part of the Newton
// equations, Mehrotra's step, and what a machine found in it proves.
#pragma once

#include <Eigen/Cholesky>
#include <algorithm>

#include "kith/core/types.hpp"

namespace kith::engine {

/// The hinge-loss primal 1/2 squares + sum cost_j max(0, 1 - margin_j) at the machine or at the
/// machine longer by what rounding left its margins short of 1 (at most 1e-6): large costs would
/// multiply margins of 1 - 1e-12.
[[nodiscard]] double best_primal(const Vector& cost, double squares, const Vector& margins);

/// The largest of |y'a| and the violations of the box, by the largest cost.
[[nodiscard]] double infeasibility(const Vector& y, const Vector& cost, const VectorRef& alpha);

/// alpha with what is within 1e-10 of a bound (relative to the largest) at that bound, and y'a = 0
/// kept by those in between: an interior point never reaches a bound.
[[nodiscard]] Vector at_bounds(const Vector& y, const Vector& cost, Vector alpha);

/// 0 <= alpha <= cost with multipliers z_low and z_high.
struct BoxPoint {
  Vector alpha;
  Vector z_low;
  Vector z_high;
};

/// alpha with multipliers whose products are all `mu`.
[[nodiscard]] BoxPoint centred_box(const Vector& cost, Vector alpha, double mu);

/// The part of the Newton equations that the box has; x and cost are not owned.
class BoxNewton {
 public:
  BoxNewton(const BoxPoint& x, const Vector& cost) : x_(x), room_(cost - x.alpha) {}

  /// Where eliminating the multipliers leaves it on the diagonal.
  [[nodiscard]] Vector diagonal() const;

  /// Right-hand sides of the products: towards `target`, less the second-order terms of `before`
  /// where one is given (else null).
  struct Right {
    Vector low;
    Vector high;
  };
  [[nodiscard]] Right right_side(double target, const BoxPoint* before) const;
  /// Fills the multipliers of a step that has its alpha.
  void complete(const Right& right, BoxPoint& step) const;

 private:
  const BoxPoint& x_;
  Vector room_;
};

/// Weights beside the box, such as those of kernels, and what is multiplied with each of them: >= 0
/// and with products that vanish like those of the box.
struct WeightPairs {
  const Vector& weights;
  const Vector& slacks;
};

/// The largest step that keeps everything >= 0.
[[nodiscard]] double largest_step(const BoxPoint& x, const WeightPairs& pairs, const BoxPoint& dx,
                                  const WeightPairs& dpairs, const Vector& cost);
/// The mean of all products after a step.
[[nodiscard]] double complementarity_after(const BoxPoint& x, const WeightPairs& pairs,
                                           const BoxPoint& dx, const WeightPairs& dpairs,
                                           const Vector& cost, double length);
void advance(BoxPoint& x, const BoxPoint& d, double length);

/// Factors A, which is positive definite, so that only rounding can spoil the factor: a little more
/// on the diagonal helps.
void factor(Matrix& A, Eigen::LLT<Matrix>& into);

/// One step by Mehrotra's rule for the centring; one length for all variables, since not all
/// equations are linear. An iterate has a `box` and its `pairs()`; advance(x, d, length) is found
/// by argument.
template <class Newton, class Iterate>
void predict_and_correct(const Vector& cost, const Newton& newton, Iterate& x) {
  constexpr double kFraction = 0.99;  // of the way to the boundary
  const auto longest = [&](const Iterate& d) {
    return largest_step(x.box, x.pairs(), d.box, d.pairs(), cost);
  };
  const Iterate affine = newton.solve(0, nullptr);
  const auto after = [&](double length) {
    return complementarity_after(x.box, x.pairs(), affine.box, affine.pairs(), cost, length);
  };
  const double mu = after(0);
  const double ratio = std::clamp(after(std::min(1.0, longest(affine))) / mu, 0.0, 1.0);
  const Iterate step = newton.solve(ratio * ratio * ratio * mu, &affine);
  advance(x, step, std::min(1.0, kFraction * longest(step)));
}

}  // namespace kith::engine
