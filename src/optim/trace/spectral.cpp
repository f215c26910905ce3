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

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optim/engine/box.hpp"
#include "optim/trace/dual_interior.hpp"

namespace kith::trace {
namespace {

class Spectral {
 public:
  struct Step {
    engine::BoxStep box;
    Vector gamma;
    Matrix mu, x;
    double b = 0;  // the new b, not a difference
  };

  Spectral(const SpectralDual& dual, const DualSolution* near)
      : dual_(dual), n_(dual.y.size()), m_(dual.c.size()) {
    at_.gamma = Vector::Constant(m_, 1.0 / static_cast<double>(m_));
    at_.mu = Matrix::Constant(n_, m_, dual.trace / static_cast<double>(n_));
    if (near != nullptr) {
      at_.gamma = near->gamma;
      for (Index i = 0; i < m_; ++i) {
        at_.mu.col(i) = 0.9 * near->points[static_cast<std::size_t>(i)].k + 0.1 * at_.mu.col(i);
      }
    }
    Vector a = engine::box_start(dual.cost, dual.y, near != nullptr ? near->alpha : Vector());
    const auto evaluate_start = [&] { point_ = evaluate(a, at_.gamma, at_.mu); };
    evaluate_start();
    shrink_start(
        dual.y, a, [&] { return point_.f; }, evaluate_start);
    const double product = engine::start_product(a, gradient());
    at_.box = engine::BoxPoint(dual.cost, a, product);
    at_.box.balance(gradient());
    at_.x.resize(n_, m_);
    for (Index i = 0; i < m_; ++i) {
      const Vector g = slope(i);
      at_.x.col(i) = g.array() - g.minCoeff() + product / at_.mu.col(i).array();
    }
  }

  double merit() {
    now_ = {.alpha = at_.box.a, .gamma = at_.gamma, .b = at_.b};
    Matrix feasible = at_.mu;
    for (Index i = 0; i < m_; ++i) feasible.col(i) *= dual_.trace / feasible.col(i).sum();
    const Point point = evaluate(at_.box.a, at_.gamma, feasible);
    now_.machine = at_.box.a.sum() - 0.5 * point.ratio.dot(at_.gamma);
    now_.difference =
        machine_primal(dual_.y, dual_.cost, point.ratio, point.f, at_.b) - now_.machine;
    for (Index i = 0; i < m_; ++i) {
      const Vector mu = feasible.col(i);
      const Vector& lambda = eigen(i).lambda;
      const Vector d = lambda + point.p.col(i).cwiseAbs2() / (4 * dual_.c(i) * at_.gamma(i));
      const SimplexPoint best = project_to_simplex(d, dual_.trace);
      now_.difference += dual_.c(i) * ((mu - best.k).squaredNorm() +
                                       2 * mu.dot(Vector((best.theta - d.array()).cwiseMax(0.0))));
      now_.penalty += dual_.c(i) * (mu - lambda).squaredNorm();
      now_.points.emplace_back();
      now_.points.back().k = mu;
    }
    const double merit = merit_of(now_);
    difference_ = now_.difference;
    return merit;
  }
  void keep() { best_ = std::move(now_); }
  [[nodiscard]] DualSolution& best() { return best_; }

  [[nodiscard]] double complementarity() const {
    return (at_.box.products() + at_.mu.cwiseProduct(at_.x).sum()) / products();
  }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    const Matrix mu = at_.mu + length * d.mu;
    const Matrix x = at_.x + length * d.x;
    return (at_.box.products(d.box, length) + mu.cwiseProduct(x).sum()) / products();
  }
  [[nodiscard]] double least_target(double mu) const {
    return least_product(difference_, mu, products());
  }

  bool factor() {
    Matrix A = Matrix::Zero(n_ + m_, n_ + m_);
    e_.resize(n_, m_);
    for (Index i = 0; i < m_; ++i) add_matrix(i, A);
    A.diagonal().head(n_) += engine::BoxEquations(at_.box).diagonal();
    return kkt_.factor(std::move(A), border(dual_.y, m_));
  }

  [[nodiscard]] Step direction(double target, const Step* before) const {
    const engine::BoxEquations box(at_.box);
    const auto products = box.right_side(target, before != nullptr ? &before->box : nullptr);
    Matrix own = target * at_.mu.cwiseInverse();  // of mu's products
    if (before != nullptr) own -= before->mu.cwiseProduct(before->x).cwiseQuotient(at_.mu);
    Vector right(n_ + m_);
    right.head(n_) = gradient() + products.pull();
    right.tail(m_) = 0.5 * point_.ratio;
    Matrix fixed(n_, m_);  // dmu for d(a, gamma) = 0
    for (Index i = 0; i < m_; ++i) {
      fixed.col(i) = respond(i, own.col(i) - slope(i));
      const double missing = dual_.trace - at_.mu.col(i).sum();
      fixed.col(i) += e_.col(i) * (missing / e_.col(i).sum());
      subtract_pull(i, fixed.col(i), right);
    }
    const engine::BorderedSystem::Answer found = kkt_.solve(right);
    Step step;
    step.b = found.m(0);
    step.box.a = found.d.head(n_);
    engine::restore_balance(dual_.y, step.box.a);
    step.gamma = found.d.tail(m_);
    box.complete(products, step.box);
    step.mu = fixed;
    for (Index i = 0; i < m_; ++i) step.mu.col(i) += respond(i, turned(i, step));
    step.x = own - at_.x - at_.x.cwiseQuotient(at_.mu).cwiseProduct(step.mu);
    return step;
  }

  [[nodiscard]] double reach(const Step& d, double fraction) const {
    const double longest =
        std::min({at_.box.largest_step(d.box), engine::largest_step(at_.mu, d.mu),
                  engine::largest_step(at_.x, d.x)});
    return std::min(
        {1.0, fraction * longest, kGammaFraction * engine::largest_step(at_.gamma, d.gamma)});
  }

  bool advance(const Step& d, double length) {
    at_.box.advance(d.box, length);
    at_.mu += length * d.mu;
    at_.x += length * d.x;
    at_.b += length * (d.b - at_.b);
    at_.gamma += length * d.gamma;
    at_.gamma /= at_.gamma.sum();
    if (!at_.box.a.allFinite() || !at_.mu.allFinite() || !at_.gamma.allFinite()) return false;
    point_ = evaluate(at_.box.a, at_.gamma, at_.mu);
    return true;
  }

 private:
  struct Iterate {
    engine::BoxPoint box;
    Vector gamma;
    Matrix mu, x;  // n x m
    double b = 0;
  };
  struct Point {
    Matrix p;      // n x m
    Vector f;      // sum_i U_i (mu_i p_i) / gamma_i
    Vector ratio;  // sum_j mu_ij p_ij^2 / gamma_i^2
  };

  [[nodiscard]] const SymmetricEigen& eigen(Index i) const {
    return dual_.eigen[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] double products() const { return at_.box.count() + static_cast<double>(n_ * m_); }
  [[nodiscard]] Vector gradient() const { return 1 - dual_.y.cwiseProduct(point_.f).array(); }
  /// The slope in mu_i of everything but its barrier.
  [[nodiscard]] Vector slope(Index i) const {
    return 2 * dual_.c(i) * (at_.mu.col(i) - eigen(i).lambda) -
           point_.p.col(i).cwiseAbs2() / (2 * at_.gamma(i));
  }

  [[nodiscard]] Point evaluate(const Vector& a, const Vector& gamma, const Matrix& mu) const {
    const Vector u = dual_.y.cwiseProduct(a);
    Point point{Matrix(n_, m_), Vector::Zero(n_), Vector(m_)};
    for (Index i = 0; i < m_; ++i) {
      const Matrix& U = eigen(i).U;
      point.p.col(i).noalias() = U.transpose() * u;
      const Vector weighted = mu.col(i).cwiseProduct(point.p.col(i)) / gamma(i);
      point.f.noalias() += U * weighted;
      point.ratio(i) = weighted.dot(point.p.col(i)) / gamma(i);
    }
    return point;
  }

  /// H and J'C J of one matrix.
  void add_matrix(Index i, Matrix& A) {
    const double gamma = at_.gamma(i);
    const Vector p = point_.p.col(i);
    const Vector mu = at_.mu.col(i);
    e_.col(i) = (2 * dual_.c(i) + at_.x.col(i).array() / mu.array()).inverse();
    const Vector e = e_.col(i);
    const Vector in_gamma = p.cwiseAbs2() / (-2 * gamma * gamma);  // last column of J
    // In the basis of U, then turned by Y U.
    Matrix B = Vector(mu / gamma + e.cwiseProduct(p.cwiseAbs2()) / (gamma * gamma)).asDiagonal();
    const Vector ep = e.cwiseProduct(p) / gamma;
    const double sum = e.sum();
    B.noalias() -= ep * (ep / sum).transpose();
    const Matrix V = dual_.y.asDiagonal() * eigen(i).U;
    Matrix VB(n_, n_);
    VB.noalias() = V * B;
    A.topLeftCorner(n_, n_).noalias() += VB * V.transpose();
    const double mean = e.dot(in_gamma) / sum;
    const Vector side =
        ep.cwiseProduct(Vector(in_gamma.array() - mean)) - mu.cwiseProduct(p) / (gamma * gamma);
    A.row(n_ + i).head(n_) = (V * side).transpose();
    A(n_ + i, n_ + i) = mu.dot(p.cwiseAbs2()) / (gamma * gamma * gamma) +
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
    const Vector dp = eigen(i).U.transpose() * dual_.y.cwiseProduct(d.box.a);
    return p.cwiseProduct(dp) / gamma - p.cwiseAbs2() * (d.gamma(i) / (2 * gamma * gamma));
  }
  /// right -= J'dmu.
  void subtract_pull(Index i, const Vector& dmu, Vector& right) const {
    const double gamma = at_.gamma(i);
    const Vector p = point_.p.col(i);
    const Vector turned = eigen(i).U * p.cwiseProduct(dmu) / gamma;
    right.head(n_) -= dual_.y.cwiseProduct(turned);
    right(n_ + i) += p.cwiseAbs2().dot(dmu) / (2 * gamma * gamma);
  }

  const SpectralDual& dual_;
  Index n_, m_;
  Iterate at_;
  Point point_;
  Matrix e_;  // n x m
  engine::BorderedSystem kkt_;
  double difference_ = std::numeric_limits<double>::infinity();
  DualSolution now_, best_;
};

}  // namespace

DualSolution spectral_newton(const SpectralDual& dual, double tolerance, const RunContext& ctx,
                             const DualSolution* near) {
  constexpr double kStepFraction = 0.99;
  Spectral problem(dual, near);
  return run_dual(problem, tolerance, kStepFraction, ctx);
}

}  // namespace kith::trace
