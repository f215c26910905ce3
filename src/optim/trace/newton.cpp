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

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optim/engine/interior.hpp"
#include "optim/trace/loop.hpp"

namespace kith::trace {
namespace {

struct Iterate {
  Vector a, s, z, v, gamma;
  double b = 0;
  [[nodiscard]] double mu() const {
    return (a.dot(z) + s.dot(v)) / static_cast<double>(2 * a.size());
  }
};

struct Step {
  Vector a, z, v, gamma;
  double b = 0;  // the new b, not a difference
};

struct Point {
  std::vector<BlockPoint> blocks;
  Vector f;
  Vector ratio;  // w_i'K_i w_i / gamma_i
};

Point evaluate(const Dual& dual, const Vector& a, const Vector& gamma) {
  const Vector u = dual.y.cwiseProduct(a);
  Point at{{}, Vector::Zero(a.size()), Vector(gamma.size())};
  for (Index i = 0; i < gamma.size(); ++i) {
    const double root = std::sqrt(gamma(i));
    at.blocks.push_back(dual.blocks[static_cast<std::size_t>(i)].at(u / root, dual.c(i)));
    at.f += at.blocks.back().Kw / root;
    at.ratio(i) = at.blocks.back().wKw / gamma(i);
  }
  return at;
}

using engine::box_centre;
using engine::largest_step;

double largest_step(const Iterate& x, const Step& d) {
  return std::min({largest_step(x.a, d.a), largest_step(x.s, -d.a), largest_step(x.z, d.z),
                   largest_step(x.v, d.v)});
}

Iterate start_iterate(const Dual& dual, const DualSolution* near, Point& point) {
  const Index p = dual.c.size();
  Iterate x;
  x.a = box_centre(dual.cost, dual.y);
  x.gamma = Vector::Constant(p, 1.0 / static_cast<double>(p));
  if (near != nullptr) {
    x.a = 0.9 * near->alpha + 0.1 * x.a;
    x.gamma = near->gamma;
  }
  point = evaluate(dual, x.a, x.gamma);
  // Where the box is much larger than the answer, its middle is far outside.
  while (x.a.sum() < dual.y.cwiseProduct(x.a).dot(point.f)) {
    x.a *= 0.3;
    point = evaluate(dual, x.a, x.gamma);
  }
  x.s = dual.cost - x.a;
  const Vector gradient = 1 - dual.y.cwiseProduct(point.f).array();
  const double mu =
      std::max(x.a.dot(gradient.cwiseAbs()) / static_cast<double>(x.a.size()), 1e-8 * x.a.mean());
  x.z = (-gradient).cwiseMax(0.0).array() + mu / x.a.array();
  x.v = gradient.cwiseMax(0.0).array() + mu / x.s.array();
  return x;
}

class KktSystem {
 public:
  KktSystem(const Dual& dual, const Iterate& at, const Point& point) : dual_(dual), at_(at) {
    const Index n = at.a.size();
    weights_ = at.gamma.size() > 1 ? at.gamma.size() : 0;
    gradient_ = Vector::Zero(n + weights_);
    gradient_.head(n) = 1 - dual.y.cwiseProduct(point.f).array();
    if (weights_ > 0) gradient_.tail(weights_) = 0.5 * point.ratio;
    assemble(point);
    ok_ = engine::factor_with_ridge(L_);
    if (!ok_) return;
    E_ = Matrix::Zero(n + weights_, weights_ > 0 ? 2 : 1);
    E_.col(0).head(n) = dual.y;
    if (weights_ > 0) E_.col(1).tail(weights_).setOnes();
    AE_ = apply_inverse(E_);
    corner_.compute(E_.transpose() * AE_);
  }
  [[nodiscard]] bool ok() const { return ok_; }

  [[nodiscard]] Step solve(double target, const Vector& q1, const Vector& q2) const {
    const Index n = at_.a.size();
    const Vector t1 = (target - q1.array()) / at_.a.array();
    const Vector t2 = (target - q2.array()) / at_.s.array();
    Vector right = gradient_;
    right.head(n) += t1 - t2;
    const Vector Ar = apply_inverse(right);
    const Vector multipliers = corner_.solve(E_.transpose() * Ar);
    const Vector d = Ar - AE_ * multipliers;
    Step step;
    step.b = multipliers(0);
    step.a = d.head(n);
    step.a -= dual_.y * (dual_.y.dot(step.a) / static_cast<double>(n));  // rounding of y'a
    step.gamma = weights_ > 0 ? Vector(d.tail(weights_)) : Vector::Zero(1);
    step.z = t1 - at_.z - at_.z.cwiseQuotient(at_.a).cwiseProduct(step.a);
    step.v = t2 - at_.v + at_.v.cwiseQuotient(at_.s).cwiseProduct(step.a);
    return step;
  }

 private:
  void assemble(const Point& point) {
    const Index n = at_.a.size();
    L_ = Matrix::Zero(n + weights_, n + weights_);
    const Vector u = dual_.y.cwiseProduct(at_.a);
    for (Index i = 0; i < at_.gamma.size(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double gamma = at_.gamma(i);
      const Matrix H = dual_.blocks[k].curvature(point.blocks[k]);
      L_.topLeftCorner(n, n) += H / gamma;
      if (weights_ == 0) continue;
      const Vector w = u / std::sqrt(gamma);
      const Vector Hw = H * w;
      const Vector sum = point.blocks[k].Kw + Hw;
      L_.row(n + i).head(n) =
          (-0.5 * std::pow(gamma, -1.5) * dual_.y.cwiseProduct(sum)).transpose();
      L_(n + i, n + i) = (0.75 * point.blocks[k].wKw + 0.25 * w.dot(Hw)) / (gamma * gamma);
    }
    L_.topLeftCorner(n, n) =
        (dual_.y.asDiagonal() * L_.topLeftCorner(n, n) * dual_.y.asDiagonal()).eval();
    L_.diagonal().head(n) += at_.z.cwiseQuotient(at_.a) + at_.v.cwiseQuotient(at_.s);
  }
  [[nodiscard]] Matrix apply_inverse(Matrix x) const {
    L_.triangularView<Eigen::Lower>().solveInPlace(x);
    L_.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
    return x;
  }

  const Dual& dual_;
  const Iterate& at_;
  Index weights_ = 0;  // gamma's that are variables
  Vector gradient_;
  Matrix L_, E_, AE_;
  Eigen::FullPivLU<Matrix> corner_;
  bool ok_ = false;
};

Step predict_and_correct(const KktSystem& kkt, const Iterate& x) {
  const Vector none = Vector::Zero(x.a.size());
  const Step affine = kkt.solve(0, none, none);
  const double t = std::min(1.0, largest_step(x, affine));
  const double ahead =
      (x.a + t * affine.a).dot(x.z + t * affine.z) + (x.s - t * affine.a).dot(x.v + t * affine.v);
  const double mu = x.mu();
  const double sigma = std::pow(ahead / (static_cast<double>(2 * x.a.size()) * mu), 3);
  return kkt.solve(sigma * mu, affine.a.cwiseProduct(affine.z), -affine.a.cwiseProduct(affine.v));
}

void advance(const Dual& dual, Iterate& x, const Step& step) {
  constexpr double kStepFraction = 0.995;
  constexpr double kGammaFraction = 0.7;  // 1 / gamma is far from its quadratic model near 0
  double length = std::min(1.0, kStepFraction * largest_step(x, step));
  length = std::min(length, kGammaFraction * largest_step(x.gamma, step.gamma));
  x.a += length * step.a;
  x.s = dual.cost - x.a;
  x.z += length * step.z;
  x.v += length * step.v;
  x.b += length * (step.b - x.b);
  x.gamma += length * step.gamma;
  x.gamma /= x.gamma.sum();
}

DualSolution describe(const Dual& dual, const Iterate& x, const Point& point) {
  DualSolution now;
  now.alpha = x.a;
  now.gamma = x.gamma;
  now.b = x.b;
  now.points = point.blocks;
  now.machine = x.a.sum() - 0.5 * point.ratio.dot(x.gamma);
  const Vector margins = dual.y.array() * (point.f.array() + x.b);
  const double primal =
      0.5 * point.ratio.maxCoeff() + dual.cost.dot((1 - margins.array()).cwiseMax(0.0).matrix());
  // The optimum of the machine is above 0: a point that is not is far from it.
  now.difference = now.machine > 0 ? primal - now.machine : std::numeric_limits<double>::infinity();
  for (Index i = 0; i < dual.c.size(); ++i) {
    now.penalty += dual.c(i) * point.blocks[static_cast<std::size_t>(i)].squares;
  }
  return now;
}

class Method {
 public:
  Method(const Dual& dual, const DualSolution* near)
      : dual_(dual), x_(start_iterate(dual, near, point_)) {}

  [[nodiscard]] double complementarity() const { return x_.mu(); }
  [[nodiscard]] DualSolution describe() const { return trace::describe(dual_, x_, point_); }

  bool advance(double /*difference*/) {
    const KktSystem kkt(dual_, x_, point_);
    if (!kkt.ok()) return false;
    const Step step = predict_and_correct(kkt, x_);
    if (!step.a.allFinite() || !step.z.allFinite() || !step.v.allFinite() ||
        !step.gamma.allFinite() || !std::isfinite(step.b)) {
      return false;
    }
    Iterate next = x_;
    trace::advance(dual_, next, step);
    if (!next.a.allFinite() || !next.gamma.allFinite()) return false;
    x_ = std::move(next);
    point_ = evaluate(dual_, x_.a, x_.gamma);
    return point_.f.allFinite();
  }

 private:
  const Dual& dual_;
  Point point_;
  Iterate x_;
};

}  // namespace

DualSolution newton(const Dual& dual, double tolerance, const RunContext& ctx,
                    const DualSolution* near) {
  Method method(dual, near);
  return run_to_difference(method, tolerance, ctx);
}

}  // namespace kith::trace
