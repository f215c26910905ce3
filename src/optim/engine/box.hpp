// SPDX-License-Identifier: Apache-2.0
// The box 0 <= a <= cost with y'a = 0, which every machine's dual has: the variables of an interior
// point in it, their part of the Newton equations, starts, and what a machine found there proves.
#pragma once

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

/// The largest t with x + t dx >= 0; infinite where nothing falls.
[[nodiscard]] double largest_step(const MatrixRef& x, const MatrixRef& dx);
[[nodiscard]] double largest_step(double x, double dx);

/// Inside the box and on y'a = 0: each class at half of what the smaller one can carry.
[[nodiscard]] Vector box_centre(const Vector& cost, const Vector& y);
/// The same, or nine parts `near` to one part of it where `near` has the size.
[[nodiscard]] Vector box_start(const Vector& cost, const Vector& y, const Vector& near);
/// The size of products at which a start balances this gradient of the maximised objective.
[[nodiscard]] double start_product(const Vector& a, const Vector& gradient);

/// A change of a BoxPoint.
struct BoxStep {
  Vector a;
  Vector z_low;
  Vector z_high;
};

/// A point inside the box, with the multipliers of a >= 0 and of a <= cost.
struct BoxPoint {
  Vector a;
  Vector room;  ///< cost - a; moved with a, since the difference is 0 where a rounds to its bound
  Vector z_low;
  Vector z_high;

  BoxPoint() = default;
  /// Every product is `product`.
  BoxPoint(const Vector& cost, Vector start, double product);
  /// Adds what a gradient of the maximised objective asks of the multipliers.
  void balance(const Vector& gradient);

  /// The sum of all products a z_low and room z_high, now or after a step.
  [[nodiscard]] double products() const { return a.dot(z_low) + room.dot(z_high); }
  [[nodiscard]] double products(const BoxStep& d, double length) const;
  /// How many products there are.
  [[nodiscard]] double count() const { return 2 * static_cast<double>(a.size()); }
  /// The largest step that keeps everything >= 0.
  [[nodiscard]] double largest_step(const BoxStep& d) const;
  void advance(const BoxStep& d, double length);
};

/// What the box adds to the Newton equations once its multipliers are eliminated.
class BoxEquations {
 public:
  /// `x` is not owned.
  explicit BoxEquations(const BoxPoint& x) : x_(x) {}

  /// On the diagonal.
  [[nodiscard]] Vector diagonal() const;
  /// On the right side, towards products equal to `target`, less the second-order terms of `before`
  /// (null: none).
  struct Right {
    Vector low, high;
    [[nodiscard]] Vector pull() const { return low - high; }
  };
  [[nodiscard]] Right right_side(double target, const BoxStep* before) const;
  /// Fills the multipliers of a step that has its a.
  void complete(const Right& right, BoxStep& step) const;

 private:
  const BoxPoint& x_;
};

/// A d + E m = r and E'd = 0 for a positive definite A and few columns E, such as y.
class BorderedSystem {
 public:
  /// False where A has no Cholesky factor.
  [[nodiscard]] bool factor(Matrix A, Matrix E);
  struct Answer {
    Vector d, m;
  };
  [[nodiscard]] Answer solve(const Vector& right) const;
  /// A^-1 r, without the border.
  [[nodiscard]] Vector apply_inverse(const Vector& right) const;

 private:
  Matrix L_, E_, AE_, corner_;
};

/// d moved back to y'd = 0, off which rounding brought it.
void restore_balance(const Vector& y, Vector& d);

}  // namespace kith::engine
