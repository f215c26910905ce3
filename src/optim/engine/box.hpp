// SPDX-License-Identifier: Apache-2.0
// The box 0 <= a <= cost with y'a = 0, which every machine's dual has: the variables of an interior
// point in it, their part of the Newton equations, starts, and what a machine found there proves.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "kith/core/types.hpp"
#include "numerics/cholesky.hpp"

namespace kith::engine {

/// Throws Error(kInvalidArgument).
[[noreturn]] void refuse(const std::string& message);

/// Throw Error(kInvalidArgument) naming a number that is not finite and above 0, or a matrix that
/// is not n x n, as there are n labels, and finite.
void check_positive(std::string_view what, double value);
void check_square(const std::string& what, const MatrixRef& matrix, Index n);

enum class SignRule { kCostMayBeZero, kAny, kBothClasses };
/// Throws Error(kInvalidArgument) naming the first thing that is not as it should be: one sign and
/// one cost per sample, each sign +1 or -1, each cost finite and above 0 (or 0 where that may be).
/// With kAny there may be no sample at all; with kBothClasses both signs are present.
void check_signs(const Vector& y, const Vector& cost, Index samples,
                 SignRule rule = SignRule::kBothClasses);
/// The same of a machine on several matrices of its samples: at least one, each n x n and finite.
/// Errors call them `what` and count them.
void check_machine(std::span<const Matrix> matrices, const Vector& y, const Vector& cost,
                   std::string_view what = "kernel");

/// The hinge-loss primal 1/2 squares + sum cost_j max(0, 1 - margin_j) at the machine or at the
/// machine longer by what rounding left its margins short of 1 (at most 4e-9, or at most 1e-6):
/// large costs would multiply margins of 1 - 1e-12.
[[nodiscard]] double best_primal(const Vector& cost, double squares, const Vector& margins);

/// By what share a machine must be longer for the margins `wanted` to be met that it has reached
/// but for rounding, at most 1e-9 of them; 0 where there are none.
[[nodiscard]] double stretch(const Vector& reached, const Vector& wanted);

/// The largest of |y'a| and the violations of the box, by the largest cost.
[[nodiscard]] double infeasibility(const Vector& y, const Vector& cost, const VectorRef& alpha);

/// alpha with what is within 1e-10 of a bound (relative to the largest) at that bound, and y'a = 0
/// kept by those in between: an interior point never reaches a bound.
[[nodiscard]] Vector at_bounds(const Vector& y, const Vector& cost, Vector alpha);

/// The heavier class made lighter until y'a = 0, for a >= 0.
[[nodiscard]] Vector balanced(const Vector& y, Vector a);
/// The same, drawn into the box first.
[[nodiscard]] Vector into_box(const Vector& y, const Vector& cost, const VectorRef& alpha);

/// The largest t with x + t dx >= 0; infinite where nothing falls.
[[nodiscard]] double largest_step(const MatrixRef& x, const MatrixRef& dx);
[[nodiscard]] double largest_step(double x, double dx);

/// Inside the box and on y'a = 0: each class at half of what the smaller one can carry.
[[nodiscard]] Vector box_centre(const Vector& cost, const Vector& y);
/// The same, or nine parts `near` to one part of it where `near` has the size.
[[nodiscard]] Vector box_start(const Vector& cost, const Vector& y, const Vector& near);
/// A start for a machine whose box may be much larger than its answer, when the middle of the box
/// is far outside: a becomes shorter until it is no longer `outside`. evaluate(a) is called for
/// each.
template <class Evaluate, class Outside>
void shorten(Vector& a, const Evaluate& evaluate, const Outside& outside) {
  evaluate(a);
  while (outside(a)) {
    a *= 0.3;
    evaluate(a);
  }
}
/// The size of products at which a start balances this gradient of the maximised objective.
[[nodiscard]] double start_product(const Vector& a, const Vector& gradient);

/// Variables x >= 0 with their multipliers z >= 0, whose products go to 0; also a change of both.
/// T is a vector, a matrix or a number.
template <class T>
struct Partners {
  T x;
  T z;

  [[nodiscard]] double products() const { return inner(x, z); }
  [[nodiscard]] double products(const Partners& d, double length) const {
    return inner(T(x + length * d.x), T(z + length * d.z));
  }
  [[nodiscard]] double count() const {
    if constexpr (std::is_same_v<T, double>) return 1;
    if constexpr (!std::is_same_v<T, double>) return static_cast<double>(x.size());
  }
  [[nodiscard]] double largest_step(const Partners& d) const {
    return std::min(engine::largest_step(x, d.x), engine::largest_step(z, d.z));
  }
  void advance(const Partners& d, double length) {
    x += length * d.x;
    z += length * d.z;
  }
  [[nodiscard]] double mean_product() const { return products() / count(); }
  [[nodiscard]] double mean_product(const Partners& d, double length) const {
    return products(d, length) / count();
  }

 private:
  static double inner(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, double>) return a * b;
    if constexpr (!std::is_same_v<T, double>) return a.cwiseProduct(b).sum();
  }
};

/// How much of a step variables and multipliers take.
struct Lengths {
  double x = 1;
  double z = 1;
};

/// Several of them.
template <std::size_t N>
struct ManyPartners : std::array<Partners<Vector>, N> {
  [[nodiscard]] double count() const {
    double sum = 0;
    for (const Partners<Vector>& one : *this) sum += one.count();
    return sum;
  }
  [[nodiscard]] double mean_product() const {
    double sum = 0;
    for (const Partners<Vector>& one : *this) sum += one.products();
    return sum / count();
  }
  [[nodiscard]] double mean_product(const ManyPartners& d, const Lengths& t) const {
    double sum = 0;
    for (std::size_t k = 0; k < N; ++k) {
      const Partners<Vector>& own = (*this)[k];
      sum += (own.x + t.x * d[k].x).cwiseProduct(own.z + t.z * d[k].z).sum();
    }
    return sum / count();
  }
  [[nodiscard]] double mean_product(const ManyPartners& d, double length) const {
    return mean_product(d, Lengths{length, length});
  }
  [[nodiscard]] Lengths largest_steps(const ManyPartners& d) const {
    Lengths steps{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (std::size_t k = 0; k < N; ++k) {
      steps.x = std::min(steps.x, engine::largest_step((*this)[k].x, d[k].x));
      steps.z = std::min(steps.z, engine::largest_step((*this)[k].z, d[k].z));
    }
    return steps;
  }
  [[nodiscard]] double largest_step(const ManyPartners& d) const {
    const Lengths steps = largest_steps(d);
    return std::min(steps.x, steps.z);
  }
  void advance(const ManyPartners& d, const Lengths& t) {
    for (std::size_t k = 0; k < N; ++k) {
      (*this)[k].x += t.x * d[k].x;
      (*this)[k].z += t.z * d[k].z;
    }
  }
  void advance(const ManyPartners& d, double length) { advance(d, Lengths{length, length}); }
  /// What each product is to change by, less the second-order terms of `before` (null: none).
  [[nodiscard]] std::array<Vector, N> missing(double target, const ManyPartners* before) const {
    std::array<Vector, N> missing;
    for (std::size_t k = 0; k < N; ++k) {
      missing[k] = target - (*this)[k].x.array() * (*this)[k].z.array();
      if (before != nullptr) missing[k] -= (*before)[k].x.cwiseProduct((*before)[k].z);
    }
    return missing;
  }
};

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
  [[nodiscard]] double mean_product() const { return products() / count(); }
  [[nodiscard]] double mean_product(const BoxStep& d, double length) const {
    return products(d, length) / count();
  }
  /// The largest step that keeps everything >= 0.
  [[nodiscard]] double largest_step(const BoxStep& d) const;
  void advance(const BoxStep& d, double length);
};

/// A change of a BoxAndPartners.
template <class T>
struct BoxAndPartnersStep {
  BoxStep box;
  Partners<T> own;
};

/// A point inside the box, and beside it variables with products of their own.
template <class T>
struct BoxAndPartners {
  BoxPoint box;
  Partners<T> own;

  using Change = BoxAndPartnersStep<T>;
  [[nodiscard]] double count() const { return box.count() + own.count(); }
  [[nodiscard]] double mean_product() const { return (box.products() + own.products()) / count(); }
  [[nodiscard]] double mean_product(const Change& d, double length) const {
    return (box.products(d.box, length) + own.products(d.own, length)) / count();
  }
  [[nodiscard]] double largest_step(const Change& d) const {
    return std::min(box.largest_step(d.box), own.largest_step(d.own));
  }
  void advance(const Change& d, double length) {
    box.advance(d.box, length);
    own.advance(d.own, length);
  }
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

/// A d + E m = r and E'd - C m = s for a positive definite A and few columns E, such as y.
class BorderedSystem {
 public:
  /// False where A has no Cholesky factor. An empty C is 0.
  [[nodiscard]] bool factor(Matrix A, Matrix E, const Matrix& C = {},
                            Ridge ridge = Ridge::kOfLargest);
  struct Answer {
    Vector d, m;
  };
  /// An empty s is 0.
  [[nodiscard]] Answer solve(const Vector& right, const Vector& s = {}) const;
  /// A^-1 r, without the border.
  [[nodiscard]] Vector apply_inverse(const Vector& right) const;

 private:
  Matrix L_, E_, AE_, corner_;
};

/// d moved back to y'd = 0, off which rounding brought it.
void restore_balance(const Vector& y, Vector& d);

}  // namespace kith::engine
