// SPDX-License-Identifier: Apache-2.0
// What the three interior points of the trace kernels share: a inside its box, the weights gamma
// and the intercept b, with their start, their part of the equations, their bounds and their end.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"
#include "optim/trace/newton.hpp"

namespace kith::trace {

class DualInterior {
 public:
  struct MachineStep {
    engine::BoxStep box;
    Vector gamma;
    double b = 0;  // the new b, not a difference
  };

  void keep() { best_ = std::move(now_); }
  [[nodiscard]] DualSolution& best() { return best_; }

 protected:
  /// The machine on the kernels of an iterate.
  struct Machine {
    Vector f;      // sum_i K_i u / gamma_i
    Vector ratio;  // u'K_i u / gamma_i^2
  };

  /// `near` (null: none) gives the gammas to begin with; of `weights` gammas none is a variable
  /// where that is 0.
  DualInterior(const Vector& y, const Vector& cost, Index kernels, Index weights,
               const DualSolution* near)
      : y_(y), cost_(cost), n_(y.size()), weights_(weights) {
    gamma_ = near != nullptr ? near->gamma
                             : Vector::Constant(kernels, 1.0 / static_cast<double>(kernels));
  }

  [[nodiscard]] Vector gradient() const { return 1 - y_.cwiseProduct(machine_.f).array(); }

  /// The box from its middle, or from next to `near`, where its own decision values do not exceed
  /// a; the product that every bound starts with. evaluate(a) sets machine_.
  template <class Evaluate>
  double begin(const DualSolution* near, const Evaluate& evaluate) {
    Vector a = engine::box_start(cost_, y_, near != nullptr ? near->alpha : Vector());
    engine::shorten(a, evaluate, [&](const Vector& at) {
      return at.sum() < y_.cwiseProduct(at).dot(machine_.f);
    });
    const double product = engine::start_product(a, gradient());
    box_ = engine::BoxPoint(cost_, std::move(a), product);
    box_.balance(gradient());
    return product;
  }

  /// The bounds that the machine alone gives: its difference is that of 1/2 max ratio_i + the
  /// losses of f + b. What the loss of the kernels adds, the problem adds to now_.
  void measure(const Machine& machine) {
    now_ = {};
    now_.alpha = box_.a;
    now_.gamma = gamma_;
    now_.b = b_;
    now_.machine = box_.a.sum() - 0.5 * machine.ratio.dot(gamma_);
    const Vector margins = y_.array() * (machine.f.array() + b_);
    now_.difference = 0.5 * machine.ratio.maxCoeff() +
                      cost_.dot((1 - margins.array()).cwiseMax(0.0).matrix()) - now_.machine;
  }
  /// The difference of the bounds, relative to the machine. The optimum of the machine is above 0:
  /// a point that is not is far from it.
  double merit_of_now() {
    if (!(now_.machine > 0)) now_.difference = std::numeric_limits<double>::infinity();
    difference_ = now_.difference;
    return now_.machine > 0 ? difference_ / now_.machine : difference_;
  }
  /// Products far below their share of the difference of the bounds leave a residual of the
  /// equations, and smaller ones would only block the steps that remove it.
  [[nodiscard]] double least_product(double mu, double products) const {
    constexpr double kShare = 0.02;
    return std::isfinite(difference_) ? std::min(mu, kShare * difference_ / products) : 0;
  }

  /// With the matrix A in (a, gamma), y'a = 0 and sum gamma = 1.
  bool factor_equations(Matrix A) {
    A.diagonal().head(n_) += engine::BoxEquations(box_).diagonal();
    Matrix E = Matrix::Zero(n_ + weights_, weights_ > 0 ? 2 : 1);
    E.col(0).head(n_) = y_;
    if (weights_ > 0) E.col(1).tail(weights_).setOnes();
    return kkt_.factor(std::move(A), std::move(E));
  }
  /// The right side but for what the kernels add to it, and the step that belongs to all of it.
  struct RightSide {
    Vector all;
    engine::BoxEquations::Right products;
  };
  [[nodiscard]] RightSide right_side(double target, const engine::BoxStep* before) const {
    RightSide right{Vector(n_ + weights_), engine::BoxEquations(box_).right_side(target, before)};
    right.all.head(n_) = gradient() + right.products.pull();
    if (weights_ > 0) right.all.tail(weights_) = 0.5 * machine_.ratio;
    return right;
  }
  void solve(const RightSide& right, MachineStep& step) const {
    const engine::BorderedSystem::Answer found = kkt_.solve(right.all);
    step.b = found.m(0);
    step.box.a = found.d.head(n_);
    engine::restore_balance(y_, step.box.a);
    step.gamma = weights_ > 0 ? Vector(found.d.tail(weights_)) : Vector::Zero(1);
    engine::BoxEquations(box_).complete(right.products, step.box);
  }

  /// `fraction` of the way to a bound, or less: near gamma = 0, 1 / gamma is far from its quadratic
  /// model. `own` is how far the problem's own variables may go.
  [[nodiscard]] double reach_of(const MachineStep& d, double fraction, double own) const {
    constexpr double kGammaFraction = 0.7;
    return std::min({1.0, fraction * std::min(own, box_.largest_step(d.box)),
                     kGammaFraction * engine::largest_step(gamma_, d.gamma)});
  }
  /// False where the new point is not finite.
  bool move(const MachineStep& d, double length) {
    box_.advance(d.box, length);
    b_ += length * (d.b - b_);
    gamma_ += length * d.gamma;
    gamma_ /= gamma_.sum();
    return box_.a.allFinite() && gamma_.allFinite() && std::isfinite(b_) &&
           box_.z_low.allFinite() && box_.z_high.allFinite();
  }

  const Vector& y_;
  const Vector& cost_;
  Index n_, weights_;
  engine::BoxPoint box_;
  Vector gamma_;
  double b_ = 0;
  Machine machine_;
  engine::BorderedSystem kkt_;
  double difference_ = std::numeric_limits<double>::infinity();
  DualSolution now_, best_;
};

template <class Problem>
DualSolution run_dual(Problem problem, double tolerance, double fraction, const RunContext& ctx) {
  const engine::BestSoFar end = engine::run_interior(
      problem, {.tolerance = tolerance, .iterations = 200, .patience = 15}, fraction, ctx);
  DualSolution best = std::move(problem.best());
  best.iterations = end.iterations();
  best.status = end.status();
  return best;
}

}  // namespace kith::trace
