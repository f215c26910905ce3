// SPDX-License-Identifier: Apache-2.0
// A primal-dual interior point on the saddle point of
//
//   1'a - 1/2 sum_ij mu_ij p_ij^2 / gamma_i + sum_i c_i |mu_i - lambda_i|^2,    p_i = U_i'Y a,
//
// least in mu, largest in (a, gamma). Projecting mu away, as optim/trace/newton does with whole
// kernels, would leave corners where c is small: the limit is a maximum of n quadratics. So mu has
// its own barrier. Notation: s = cost - a; z, v and x_i the multipliers of a >= 0, a <= cost and
// mu_i >= 0; b that of y'a = 0; t the target of all products. Per matrix, with e = 1 / (2c + x/mu)
// and C = diag(e) - e e' / sum(e),
//
//   dmu = C (r + J d(a, gamma)) + e (trace - sum mu) / sum(e),
//   r = -2c (mu - lambda) + p^2 / (2 gamma) + t / mu,    J = [diag(p / gamma) U'Y,  -p^2 / (2
//   gamma^2)],
//
// and the step in (a, gamma) has the matrix H + sum J'C J, H that of the machine for fixed mu.
//
// Bounds: from above the primal of the machine at (a, gamma, b) on the present mu; from below D(a,
// gamma), whose mu is the projection k of lambda + p^2 / (4 c gamma). The losses of the two differ
// by c |mu - k|^2 + 2c sum_j mu_j (theta - d_j)_+, without cancellation.
#include "optim/trace/spectral.hpp"

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
  Matrix mu, x;  // n x m
  double b = 0;
  [[nodiscard]] double complementarity() const {
    return (a.dot(z) + s.dot(v) + mu.cwiseProduct(x).sum()) /
           static_cast<double>(2 * a.size() + mu.size());
  }
};

struct Step {
  Vector a, z, v, gamma;
  Matrix mu, x;
  double b = 0;  // the new b, not a difference
};

struct Point {
  Matrix p;      // n x m
  Vector f;      // sum_i U_i (mu_i p_i) / gamma_i
  Vector ratio;  // sum_j mu_ij p_ij^2 / gamma_i^2
};

Point evaluate(const SpectralDual& dual, const Iterate& at) {
  const Index m = at.gamma.size();
  const Vector u = dual.y.cwiseProduct(at.a);
  Point point{Matrix(u.size(), m), Vector::Zero(u.size()), Vector(m)};
  for (Index i = 0; i < m; ++i) {
    const Matrix& U = dual.eigen[static_cast<std::size_t>(i)].U;
    point.p.col(i).noalias() = U.transpose() * u;
    const Vector weighted = at.mu.col(i).cwiseProduct(point.p.col(i)) / at.gamma(i);
    point.f.noalias() += U * weighted;
    point.ratio(i) = weighted.dot(point.p.col(i)) / at.gamma(i);
  }
  return point;
}

/// The slope in mu_i of everything but its barrier.
Vector slope(const SpectralDual& dual, const Iterate& at, const Point& point, Index i) {
  const Vector& lambda = dual.eigen[static_cast<std::size_t>(i)].lambda;
  return 2 * dual.c(i) * (at.mu.col(i) - lambda) - point.p.col(i).cwiseAbs2() / (2 * at.gamma(i));
}

Iterate start_iterate(const SpectralDual& dual, const DualSolution* near, Point& point) {
  const Index n = dual.y.size();
  const Index m = dual.c.size();
  Iterate at;
  at.a = engine::box_centre(dual.cost, dual.y);
  at.gamma = Vector::Constant(m, 1.0 / static_cast<double>(m));
  at.mu = Matrix::Constant(n, m, dual.trace / static_cast<double>(n));
  if (near != nullptr) {
    at.a = 0.9 * near->alpha + 0.1 * at.a;
    at.gamma = near->gamma;
    for (Index i = 0; i < m; ++i) {
      at.mu.col(i) = 0.9 * near->points[static_cast<std::size_t>(i)].k + 0.1 * at.mu.col(i);
    }
  }
  point = evaluate(dual, at);
  // Where the box is much larger than the answer, its middle is far outside.
  while (at.a.sum() < dual.y.cwiseProduct(at.a).dot(point.f)) {
    at.a *= 0.3;
    point = evaluate(dual, at);
  }
  at.s = dual.cost - at.a;
  const Vector gradient = 1 - dual.y.cwiseProduct(point.f).array();
  const double mean =
      std::max(at.a.dot(gradient.cwiseAbs()) / static_cast<double>(n), 1e-8 * at.a.mean());
  at.z = (-gradient).cwiseMax(0.0).array() + mean / at.a.array();
  at.v = gradient.cwiseMax(0.0).array() + mean / at.s.array();
  at.x.resize(n, m);
  for (Index i = 0; i < m; ++i) {
    const Vector g = slope(dual, at, point, i);
    at.x.col(i) = g.array() - g.minCoeff() + mean / at.mu.col(i).array();
  }
  return at;
}

/// The Newton system at one iterate, factored.
class KktSystem {
 public:
  KktSystem(const SpectralDual& dual, const Iterate& at, const Point& point)
      : dual_(dual), at_(at), point_(point), n_(at.a.size()), m_(at.gamma.size()) {
    A_ = Matrix::Zero(n_ + m_, n_ + m_);
    for (Index i = 0; i < m_; ++i) add_matrix(i);
    A_.diagonal().head(n_) += at.z.cwiseQuotient(at.a) + at.v.cwiseQuotient(at.s);
    E_ = Matrix::Zero(n_ + m_, 2);
    E_.col(0).head(n_) = dual.y;
    E_.col(1).tail(m_).setOnes();
    factor_.compute(A_);
    ok_ = factor_.info() == Eigen::Success;
    if (!ok_) return;
    AE_ = factor_.solve(E_);
    corner_.compute(E_.transpose() * AE_);
  }
  [[nodiscard]] bool ok() const { return ok_; }

  /// Towards the products `target`, less the second-order terms of `before` where one is given.
  [[nodiscard]] Step solve(double target, const Step* before) const {
    Vector t1 = target / at_.a.array();
    Vector t2 = target / at_.s.array();
    Matrix r(n_, m_);
    for (Index i = 0; i < m_; ++i) {
      r.col(i) = target / at_.mu.col(i).array() - slope(dual_, at_, point_, i).array();
    }
    Matrix second = Matrix::Zero(n_, m_);
    if (before != nullptr) {
      t1 -= before->a.cwiseProduct(before->z).cwiseQuotient(at_.a);
      t2 += before->a.cwiseProduct(before->v).cwiseQuotient(at_.s);
      second = before->mu.cwiseProduct(before->x).cwiseQuotient(at_.mu);
      r -= second;
    }
    Vector right(n_ + m_);
    right.head(n_) = 1 - dual_.y.cwiseProduct(point_.f).array();
    right.head(n_) += t1 - t2;
    right.tail(m_) = 0.5 * point_.ratio;
    Matrix fixed(n_, m_);  // dmu for d(a, gamma) = 0
    for (Index i = 0; i < m_; ++i) {
      fixed.col(i) = respond(i, r.col(i));
      const double missing = dual_.trace - at_.mu.col(i).sum();
      fixed.col(i) += e_.col(i) * (missing / e_.col(i).sum());
      subtract_pull(i, fixed.col(i), right);
    }
    const Vector Ar = factor_.solve(right);
    const Vector multipliers = corner_.solve(E_.transpose() * Ar);
    const Vector d = Ar - AE_ * multipliers;
    Step step;
    step.b = multipliers(0);
    step.a = d.head(n_);
    step.a -= dual_.y * (dual_.y.dot(step.a) / static_cast<double>(n_));  // rounding of y'a
    step.gamma = d.tail(m_);
    step.z = t1 - at_.z - at_.z.cwiseQuotient(at_.a).cwiseProduct(step.a);
    step.v = t2 - at_.v + at_.v.cwiseQuotient(at_.s).cwiseProduct(step.a);
    step.mu = fixed;
    for (Index i = 0; i < m_; ++i) step.mu.col(i) += respond(i, turned(i, step));
    step.x = target * at_.mu.cwiseInverse() - second - at_.x -
             at_.x.cwiseQuotient(at_.mu).cwiseProduct(step.mu);
    return step;
  }

 private:
  /// H and J'C J of one matrix.
  void add_matrix(Index i) {
    const Matrix& U = dual_.eigen[static_cast<std::size_t>(i)].U;
    const double gamma = at_.gamma(i);
    const Vector p = point_.p.col(i);
    const Vector mu = at_.mu.col(i);
    if (e_.size() == 0) e_.resize(n_, m_);
    e_.col(i) = (2 * dual_.c(i) + at_.x.col(i).array() / mu.array()).inverse();
    const Vector e = e_.col(i);
    const Vector in_gamma = p.cwiseAbs2() / (-2 * gamma * gamma);  // last column of J
    // In the basis of U, then turned by Y U.
    Matrix B = Vector(mu / gamma + e.cwiseProduct(p.cwiseAbs2()) / (gamma * gamma)).asDiagonal();
    const Vector ep = e.cwiseProduct(p) / gamma;
    const double sum = e.sum();
    B.noalias() -= ep * (ep / sum).transpose();
    const Matrix V = dual_.y.asDiagonal() * U;
    Matrix VB(n_, n_);
    VB.noalias() = V * B;
    A_.topLeftCorner(n_, n_).noalias() += VB * V.transpose();
    const double mean = e.dot(in_gamma) / sum;
    const Vector side =
        ep.cwiseProduct(Vector(in_gamma.array() - mean)) - mu.cwiseProduct(p) / (gamma * gamma);
    const Vector cross = V * side;
    A_.col(n_ + i).head(n_) = cross;
    A_.row(n_ + i).head(n_) = cross.transpose();
    A_(n_ + i, n_ + i) = mu.dot(p.cwiseAbs2()) / (gamma * gamma * gamma) +
                         e.dot(Vector((in_gamma.array() - mean).square()));
  }
  /// C r.
  [[nodiscard]] Vector respond(Index i, const Vector& r) const {
    const Vector e = e_.col(i);
    return e.cwiseProduct(Vector(r.array() - e.dot(r) / e.sum()));
  }
  /// J d.
  [[nodiscard]] Vector turned(Index i, const Step& d) const {
    const double gamma = at_.gamma(i);
    const Vector p = point_.p.col(i);
    const Vector dp =
        dual_.eigen[static_cast<std::size_t>(i)].U.transpose() * dual_.y.cwiseProduct(d.a);
    return p.cwiseProduct(dp) / gamma - p.cwiseAbs2() * (d.gamma(i) / (2 * gamma * gamma));
  }
  /// right -= J'dmu.
  void subtract_pull(Index i, const Vector& dmu, Vector& right) const {
    const double gamma = at_.gamma(i);
    const Vector p = point_.p.col(i);
    const Vector turned = dual_.eigen[static_cast<std::size_t>(i)].U * p.cwiseProduct(dmu) / gamma;
    right.head(n_) -= dual_.y.cwiseProduct(turned);
    right(n_ + i) += p.cwiseAbs2().dot(dmu) / (2 * gamma * gamma);
  }

  const SpectralDual& dual_;
  const Iterate& at_;
  const Point& point_;
  Index n_, m_;
  Matrix e_;  // n x m
  Matrix A_, E_, AE_;
  Eigen::LLT<Matrix> factor_;
  Eigen::FullPivLU<Matrix> corner_;
  bool ok_ = false;
};

using engine::largest_step;

double largest_step(const Iterate& at, const Step& d) {
  return std::min({largest_step(at.a, d.a), largest_step(at.s, -d.a), largest_step(at.z, d.z),
                   largest_step(at.v, d.v), largest_step(at.mu, d.mu), largest_step(at.x, d.x)});
}

void advance(const SpectralDual& dual, Iterate& at, const Step& d, double length) {
  at.a += length * d.a;
  at.s = dual.cost - at.a;
  at.z += length * d.z;
  at.v += length * d.v;
  at.mu += length * d.mu;
  at.x += length * d.x;
  at.b += length * (d.b - at.b);
  at.gamma += length * d.gamma;
  at.gamma /= at.gamma.sum();
}

/// `difference` is that of the bounds at the iterate. Once the products are far below their share
/// of it, what is left is a residual of the equations, and smaller products would only block the
/// steps that remove it.
void predict_and_correct(const SpectralDual& dual, const KktSystem& kkt, double difference,
                         Iterate& at) {
  constexpr double kShare = 0.02;
  constexpr double kStepFraction = 0.99;
  constexpr double kGammaFraction = 0.7;  // 1 / gamma is far from its quadratic model near 0
  const Step affine = kkt.solve(0, nullptr);
  const double length = std::min(
      {1.0, largest_step(at, affine), kGammaFraction * largest_step(at.gamma, affine.gamma)});
  Iterate ahead = at;
  advance(dual, ahead, affine, length);
  const double now = at.complementarity();
  const double ratio = std::clamp(ahead.complementarity() / now, 0.0, 1.0);
  double target = ratio * ratio * ratio * now;
  if (std::isfinite(difference)) {
    const auto products = static_cast<double>(2 * at.a.size() + at.mu.size());
    target = std::max(target, std::min(now, kShare * difference / products));
  }
  const Step step = kkt.solve(target, &affine);
  advance(dual, at, step,
          std::min({1.0, kStepFraction * largest_step(at, step),
                    kGammaFraction * largest_step(at.gamma, step.gamma)}));
}

DualSolution describe(const SpectralDual& dual, const Iterate& at) {
  DualSolution now;
  Iterate feasible = at;
  for (Index i = 0; i < dual.c.size(); ++i) {
    feasible.mu.col(i) *= dual.trace / feasible.mu.col(i).sum();
  }
  const Point point = evaluate(dual, feasible);
  now.alpha = at.a;
  now.gamma = at.gamma;
  now.b = at.b;
  now.machine = at.a.sum() - 0.5 * point.ratio.dot(at.gamma);
  const Vector margins = dual.y.array() * (point.f.array() + at.b);
  const double primal =
      0.5 * point.ratio.maxCoeff() + dual.cost.dot((1 - margins.array()).cwiseMax(0.0).matrix());
  now.difference = primal - now.machine;
  for (Index i = 0; i < dual.c.size(); ++i) {
    const Vector mu = feasible.mu.col(i);
    const Vector& lambda = dual.eigen[static_cast<std::size_t>(i)].lambda;
    const Vector d = lambda + point.p.col(i).cwiseAbs2() / (4 * dual.c(i) * at.gamma(i));
    const SimplexPoint best = project_to_simplex(d, dual.trace);
    now.difference += dual.c(i) * ((mu - best.k).squaredNorm() +
                                   2 * mu.dot(Vector((best.theta - d.array()).cwiseMax(0.0))));
    now.penalty += dual.c(i) * (mu - lambda).squaredNorm();
    now.points.emplace_back();
    now.points.back().k = mu;
  }
  // The optimum of the machine is above 0: a point that is not is far from it.
  if (!(now.machine > 0)) now.difference = std::numeric_limits<double>::infinity();
  return now;
}

class Method {
 public:
  Method(const SpectralDual& dual, const DualSolution* near)
      : dual_(dual), at_(start_iterate(dual, near, point_)) {}

  [[nodiscard]] double complementarity() const { return at_.complementarity(); }
  [[nodiscard]] DualSolution describe() const { return trace::describe(dual_, at_); }

  bool advance(double difference) {
    const KktSystem kkt(dual_, at_, point_);
    if (!kkt.ok()) return false;
    Iterate next = at_;
    predict_and_correct(dual_, kkt, difference, next);
    if (!next.a.allFinite() || !next.mu.allFinite() || !next.gamma.allFinite()) return false;
    at_ = std::move(next);
    point_ = evaluate(dual_, at_);
    return true;
  }

 private:
  const SpectralDual& dual_;
  Point point_;
  Iterate at_;
};

}  // namespace

DualSolution spectral_newton(const SpectralDual& dual, double tolerance, const RunContext& ctx,
                             const DualSolution* near) {
  Method method(dual, near);
  return run_to_difference(method, tolerance, ctx);
}

}  // namespace kith::trace
