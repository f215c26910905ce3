// SPDX-License-Identifier: Apache-2.0
// Mehrotra's predictor and corrector in (a, gamma). D is concave in both together. Notation: w_i =
// u / sqrt(gamma_i), K_i and H_i those of phi_i there, s = cost - a; z and v the multipliers of the
// two bounds, b that of y'a = 0. With f = sum_i K_i w_i / sqrt(gamma_i), minus D has
//
//   gradient      in a  Y f - 1               in gamma_i  -w_i'K_i w_i / (2 gamma_i)
//   Hessian       aa    Y (sum H_i / gamma_i) Y
//                 a gamma_i   -Y (K_i w_i + H_i w_i) / (2 gamma_i^(3/2))
//                 gamma_i^2   (3 w_i'K_i w_i + w_i'H_i w_i) / (4 gamma_i^2)
//
// gamma needs no barrier: D falls without bound as some gamma_i vanishes.
// Each point carries its bounds: D from below; from above, since the dual norm of (sum sqrt q_i)
// is a maximum, 1/2 max_i w_i'K_i w_i / gamma_i + sum_j cost_j max(0, 1 - y_j (f_j + b)) and the
// same penalty. Cost per step: three products of n x n matrices per block and one Cholesky factor.
#include "optim/trace/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optim/engine/box.hpp"
#include "optim/trace/dual_interior.hpp"

namespace kith::trace {
namespace {

class Newton {
 public:
  struct Step {
    engine::BoxStep box;
    Vector gamma;
    double b = 0;  // the new b, not a difference
  };

  Newton(const Dual& dual, const DualSolution* near) : dual_(dual) {
    const Index p = dual.c.size();
    gamma_ = near != nullptr ? near->gamma : Vector::Constant(p, 1.0 / static_cast<double>(p));
    Vector a = engine::box_start(dual.cost, dual.y, near != nullptr ? near->alpha : Vector());
    evaluate(a);
    shrink_start(
        dual.y, a, [&] { return f_; }, [&] { evaluate(a); });
    const Vector slope = gradient();
    x_ = engine::BoxPoint(dual.cost, a, engine::start_product(a, slope));
    x_.balance(slope);
  }

  double merit() {
    now_ = DualSolution{.alpha = x_.a, .gamma = gamma_, .b = b_, .points = blocks_};
    now_.machine = x_.a.sum() - 0.5 * ratio_.dot(gamma_);
    now_.difference = machine_primal(dual_.y, dual_.cost, ratio_, f_, b_) - now_.machine;
    for (Index i = 0; i < dual_.c.size(); ++i) {
      now_.penalty += dual_.c(i) * blocks_[static_cast<std::size_t>(i)].squares;
    }
    return merit_of(now_);
  }
  void keep() { best_ = std::move(now_); }
  [[nodiscard]] DualSolution& best() { return best_; }

  [[nodiscard]] double complementarity() const { return x_.products() / x_.count(); }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    return x_.products(d.box, length) / x_.count();
  }

  bool factor() {
    const Index n = x_.a.size();
    const Index w = weights();
    Matrix A = Matrix::Zero(n + w, n + w);
    const Vector u = dual_.y.cwiseProduct(x_.a);
    for (Index i = 0; i < gamma_.size(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double gamma = gamma_(i);
      const Matrix H = dual_.blocks[k].curvature(blocks_[k]);
      A.topLeftCorner(n, n) += H / gamma;
      if (w == 0) continue;
      const Vector wi = u / std::sqrt(gamma);
      const Vector Hw = H * wi;
      const Vector sum = blocks_[k].Kw + Hw;
      A.row(n + i).head(n) = (-0.5 * std::pow(gamma, -1.5) * dual_.y.cwiseProduct(sum)).transpose();
      A(n + i, n + i) = (0.75 * blocks_[k].wKw + 0.25 * wi.dot(Hw)) / (gamma * gamma);
    }
    A.topLeftCorner(n, n) =
        (dual_.y.asDiagonal() * A.topLeftCorner(n, n) * dual_.y.asDiagonal()).eval();
    A.diagonal().head(n) += engine::BoxEquations(x_).diagonal();
    return kkt_.factor(std::move(A), border(dual_.y, w));
  }

  [[nodiscard]] Step direction(double target, const Step* before) const {
    const Index n = x_.a.size();
    const engine::BoxEquations box(x_);
    const auto products = box.right_side(target, before != nullptr ? &before->box : nullptr);
    Vector right(n + weights());
    right.head(n) = gradient() + products.pull();
    if (weights() > 0) right.tail(weights()) = 0.5 * ratio_;
    const engine::BorderedSystem::Answer found = kkt_.solve(right);
    Step step;
    step.b = found.m(0);
    step.box.a = found.d.head(n);
    engine::restore_balance(dual_.y, step.box.a);
    step.gamma = weights() > 0 ? Vector(found.d.tail(weights())) : Vector::Zero(1);
    box.complete(products, step.box);
    return step;
  }

  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return std::min({1.0, fraction * x_.largest_step(d.box),
                     kGammaFraction * engine::largest_step(gamma_, d.gamma)});
  }

  bool advance(const Step& d, double length) {
    x_.advance(d.box, length);
    b_ += length * (d.b - b_);
    gamma_ += length * d.gamma;
    gamma_ /= gamma_.sum();
    if (!x_.a.allFinite() || !gamma_.allFinite() || !std::isfinite(b_)) return false;
    evaluate(x_.a);
    return f_.allFinite() && x_.z_low.allFinite() && x_.z_high.allFinite();
  }

 private:
  /// gammas that are variables.
  [[nodiscard]] Index weights() const { return gamma_.size() > 1 ? gamma_.size() : 0; }
  [[nodiscard]] Vector gradient() const { return 1 - dual_.y.cwiseProduct(f_).array(); }

  void evaluate(const Vector& a) {
    const Vector u = dual_.y.cwiseProduct(a);
    blocks_.clear();
    f_ = Vector::Zero(a.size());
    ratio_.resize(gamma_.size());
    for (Index i = 0; i < gamma_.size(); ++i) {
      const double root = std::sqrt(gamma_(i));
      blocks_.push_back(dual_.blocks[static_cast<std::size_t>(i)].at(u / root, dual_.c(i)));
      f_ += blocks_.back().Kw / root;
      ratio_(i) = blocks_.back().wKw / gamma_(i);
    }
  }

  const Dual& dual_;
  engine::BoxPoint x_;
  Vector gamma_;
  double b_ = 0;
  std::vector<BlockPoint> blocks_;
  Vector f_;
  Vector ratio_;  // w_i'K_i w_i / gamma_i
  engine::BorderedSystem kkt_;
  DualSolution now_, best_;
};

}  // namespace

DualSolution newton(const Dual& dual, double tolerance, const RunContext& ctx,
                    const DualSolution* near) {
  constexpr double kStepFraction = 0.995;
  Newton problem(dual, near);
  return run_dual(problem, tolerance, kStepFraction, ctx);
}

}  // namespace kith::trace
