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

#include <cmath>
#include <utility>

#include "optim/trace/dual_interior.hpp"

namespace kith::trace {
namespace {

class Newton : public DualInterior {
 public:
  using Step = MachineStep;

  Newton(const Dual& dual, const DualSolution* near)
      : DualInterior(dual.y, dual.cost, dual.c.size(), dual.c.size() > 1 ? dual.c.size() : 0, near),
        dual_(dual) {
    begin(near, [&](const Vector& a) { evaluate(a); });
  }

  double merit() {
    measure(machine_);
    now_.points = blocks_;
    for (Index i = 0; i < dual_.c.size(); ++i) {
      now_.penalty += dual_.c(i) * blocks_[static_cast<std::size_t>(i)].squares;
    }
    return merit_of_now();
  }

  [[nodiscard]] double complementarity() const { return box_.mean_product(); }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    return box_.mean_product(d.box, length);
  }

  bool factor() {
    Matrix A = Matrix::Zero(n_ + weights_, n_ + weights_);
    const Vector u = dual_.y.cwiseProduct(box_.a);
    for (Index i = 0; i < gamma_.size(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double gamma = gamma_(i);
      const Matrix H = dual_.blocks[k].curvature(blocks_[k]);
      A.topLeftCorner(n_, n_) += H / gamma;
      if (weights_ == 0) continue;
      const Vector wi = u / std::sqrt(gamma);
      const Vector Hw = H * wi;
      const Vector sum = blocks_[k].Kw + Hw;
      A.row(n_ + i).head(n_) =
          (-0.5 * std::pow(gamma, -1.5) * dual_.y.cwiseProduct(sum)).transpose();
      A(n_ + i, n_ + i) = (0.75 * blocks_[k].wKw + 0.25 * wi.dot(Hw)) / (gamma * gamma);
    }
    A.topLeftCorner(n_, n_) =
        (dual_.y.asDiagonal() * A.topLeftCorner(n_, n_) * dual_.y.asDiagonal()).eval();
    return factor_equations(std::move(A));
  }

  [[nodiscard]] Step direction(double target, const Step* before) const {
    Step step;
    solve(right_side(target, before != nullptr ? &before->box : nullptr), step);
    return step;
  }

  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return reach_of(d, fraction, std::numeric_limits<double>::infinity());
  }

  bool advance(const Step& d, double length) {
    if (!move(d, length)) return false;
    evaluate(box_.a);
    return machine_.f.allFinite();
  }

 private:
  void evaluate(const Vector& a) {
    const Vector u = dual_.y.cwiseProduct(a);
    blocks_.clear();
    machine_ = {Vector::Zero(a.size()), Vector(gamma_.size())};
    for (Index i = 0; i < gamma_.size(); ++i) {
      const double root = std::sqrt(gamma_(i));
      blocks_.push_back(dual_.blocks[static_cast<std::size_t>(i)].at(u / root, dual_.c(i)));
      machine_.f += blocks_.back().Kw / root;
      machine_.ratio(i) = blocks_.back().wKw / gamma_(i);
    }
  }

  const Dual& dual_;
  std::vector<BlockPoint> blocks_;
};

}  // namespace

DualSolution newton(const Dual& dual, double tolerance, const RunContext& ctx,
                    const DualSolution* near) {
  constexpr double kStepFraction = 0.995;
  return run_dual(Newton(dual, near), tolerance, kStepFraction, ctx);
}

}  // namespace kith::trace
