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
#include <utility>

#include "optim/trace/dual_interior.hpp"

namespace kith::trace {
namespace {

class Spectral : public DualInterior {
 public:
  struct Step : MachineStep {
    engine::Partners<Matrix> mu;
  };

  Spectral(const SpectralDual& dual, const DualSolution* near)
      : DualInterior(dual.y, dual.cost, dual.c.size(), dual.c.size(), near),
        dual_(dual),
        m_(dual.c.size()) {
    mu_.x = Matrix::Constant(n_, m_, dual.trace / static_cast<double>(n_));
    for (Index i = 0; i < m_ && near != nullptr; ++i) {
      mu_.x.col(i) = 0.9 * near->points[static_cast<std::size_t>(i)].k + 0.1 * mu_.x.col(i);
    }
    const double product = begin(near, [&](const Vector& a) { machine_ = evaluate(a, mu_.x, p_); });
    mu_.z.resize(n_, m_);
    for (Index i = 0; i < m_; ++i) {
      const Vector g = slope(i);
      mu_.z.col(i) = g.array() - g.minCoeff() + product / mu_.x.col(i).array();
    }
  }

  double merit() {
    Matrix feasible = mu_.x;
    for (Index i = 0; i < m_; ++i) feasible.col(i) *= dual_.trace / feasible.col(i).sum();
    Matrix p;
    measure(evaluate(box_.a, feasible, p));
    for (Index i = 0; i < m_; ++i) {
      const Vector mu = feasible.col(i);
      const Vector& lambda = eigen(i).lambda;
      const Vector d = lambda + p.col(i).cwiseAbs2() / (4 * dual_.c(i) * gamma_(i));
      const SimplexPoint best = project_to_simplex(d, dual_.trace);
      now_.difference += dual_.c(i) * ((mu - best.k).squaredNorm() +
                                       2 * mu.dot(Vector((best.theta - d.array()).cwiseMax(0.0))));
      now_.penalty += dual_.c(i) * (mu - lambda).squaredNorm();
      now_.points.emplace_back();
      now_.points.back().k = mu;
    }
    return merit_of_now();
  }

  [[nodiscard]] double complementarity() const {
    return (box_.products() + mu_.products()) / products();
  }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    return (box_.products(d.box, length) + mu_.products(d.mu, length)) / products();
  }
  [[nodiscard]] double least_target(double mu) const { return least_product(mu, products()); }

  bool factor() {
    Matrix A = Matrix::Zero(n_ + m_, n_ + m_);
    e_.resize(n_, m_);
    for (Index i = 0; i < m_; ++i) add_matrix(i, A);
    return factor_equations(std::move(A));
  }

  [[nodiscard]] Step direction(double target, const Step* before) const {
    RightSide right = right_side(target, before != nullptr ? &before->box : nullptr);
    Matrix own = target * mu_.x.cwiseInverse();  // of mu's products
    if (before != nullptr) own -= before->mu.x.cwiseProduct(before->mu.z).cwiseQuotient(mu_.x);
    Step step;
    step.mu.x.resize(n_, m_);  // dmu for d(a, gamma) = 0
    for (Index i = 0; i < m_; ++i) {
      step.mu.x.col(i) = respond(i, own.col(i) - slope(i));
      const double missing = dual_.trace - mu_.x.col(i).sum();
      step.mu.x.col(i) += e_.col(i) * (missing / e_.col(i).sum());
      subtract_pull(i, step.mu.x.col(i), right.all);
    }
    solve(right, step);
    for (Index i = 0; i < m_; ++i) step.mu.x.col(i) += respond(i, turned(i, step));
    step.mu.z = own - mu_.z - mu_.z.cwiseQuotient(mu_.x).cwiseProduct(step.mu.x);
    return step;
  }

  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return reach_of(d, fraction, mu_.largest_step(d.mu));
  }

  bool advance(const Step& d, double length) {
    mu_.advance(d.mu, length);
    if (!move(d, length) || !mu_.x.allFinite()) return false;
    machine_ = evaluate(box_.a, mu_.x, p_);
    return true;
  }

 private:
  [[nodiscard]] const SymmetricEigen& eigen(Index i) const {
    return dual_.eigen[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] double products() const { return box_.count() + mu_.count(); }
  /// The slope in mu_i of everything but its barrier.
  [[nodiscard]] Vector slope(Index i) const {
    return 2 * dual_.c(i) * (mu_.x.col(i) - eigen(i).lambda) -
           p_.col(i).cwiseAbs2() / (2 * gamma_(i));
  }

  /// The machine for the spectra mu; `p` becomes U_i'u.
  [[nodiscard]] Machine evaluate(const Vector& a, const Matrix& mu, Matrix& p) const {
    const Vector u = dual_.y.cwiseProduct(a);
    p.resize(n_, m_);
    Machine machine{Vector::Zero(n_), Vector(m_)};
    for (Index i = 0; i < m_; ++i) {
      const Matrix& U = eigen(i).U;
      p.col(i).noalias() = U.transpose() * u;
      const Vector weighted = mu.col(i).cwiseProduct(p.col(i)) / gamma_(i);
      machine.f.noalias() += U * weighted;
      machine.ratio(i) = weighted.dot(p.col(i)) / gamma_(i);
    }
    return machine;
  }

  /// H and J'C J of one matrix.
  void add_matrix(Index i, Matrix& A) {
    const double gamma = gamma_(i);
    const Vector p = p_.col(i);
    const Vector mu = mu_.x.col(i);
    e_.col(i) = (2 * dual_.c(i) + mu_.z.col(i).array() / mu.array()).inverse();
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
    const double gamma = gamma_(i);
    const Vector p = p_.col(i);
    const Vector dp = eigen(i).U.transpose() * dual_.y.cwiseProduct(d.box.a);
    return p.cwiseProduct(dp) / gamma - p.cwiseAbs2() * (d.gamma(i) / (2 * gamma * gamma));
  }
  /// right -= J'dmu.
  void subtract_pull(Index i, const Vector& dmu, Vector& right) const {
    const double gamma = gamma_(i);
    const Vector p = p_.col(i);
    const Vector turned = eigen(i).U * p.cwiseProduct(dmu) / gamma;
    right.head(n_) -= dual_.y.cwiseProduct(turned);
    right(n_ + i) += p.cwiseAbs2().dot(dmu) / (2 * gamma * gamma);
  }

  const SpectralDual& dual_;
  Index m_;
  engine::Partners<Matrix> mu_;  // n x m, with the multipliers x
  Matrix p_;                     // n x m
  Matrix e_;                     // n x m
};

}  // namespace

DualSolution spectral_newton(const SpectralDual& dual, double tolerance, const RunContext& ctx,
                             const DualSolution* near) {
  constexpr double kStepFraction = 0.99;
  return run_dual(Spectral(dual, near), tolerance, kStepFraction, ctx);
}

}  // namespace kith::trace
