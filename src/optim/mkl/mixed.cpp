// SPDX-License-Identifier: Apache-2.0
// A primal-dual interior point for [KTBB] (10). Notation: K_i = X_i X_i', u = Y a, w_i the part of
// the machine in the space of kernel i, nu = 1/2 max |w_i|^2 the multiplier of sum gamma = 1,
// zeta_i that of gamma_i >= 0. The conditions
//
//   Y sum_i X_i w_i + b y - 1 - z_low + z_high = 0       gamma_i w_i = X_i'u
//   1/2 |w_i|^2 + zeta_i = nu       sum_i gamma_i = 1       y'a = 0
//   gamma_i zeta_i = a z_low = (cost - a) z_high = mu -> 0
//
// are linearised as they stand, with w_i as unknowns of their own: at the optimum gamma_i may be 0,
// and w_i = X_i'u / gamma_i would then be rounding divided by rounding. With h_i = Y X_i w_i and
// d_i = |w_i|^2 + zeta_i the kernels whose gamma is not small ("tight") are eliminated,
//
//   N = D + sum_i (Q_i - h_i h_i' / d_i) / gamma_i + h h' / G,   Q_i = Y K_i Y,   h = sum_i h_i /
//   d_i,
//
// positive definite for any iterate, and the others ("slack") stand in a border [y, Y X_i, ...]
// next to it, like the features without a penalty that they then are. G = sum gamma_i / d_i over
// tight plus gamma_i / zeta_i over slack kernels. With x_i = h_i / gamma_i and p_i = gamma_i / d_i
// the rank m terms are subtracted as sum p_i (x_i - xbar)(x_i - xbar)', which does not cancel.
//
// Cost per iteration: two passes over the m n^2 numbers of the kernels and their factors and
// n^3 / 3 flops, with slack kernels of rank r n^2 r more.
#include "kith/optim/mkl/mixed.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kith/numerics/pivoted_cholesky.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"

namespace kith::mkl {
namespace {

using Eigen::ArrayXd;

/// The problem with the factors of its kernels.
struct Factored {
  const MixedProblem& problem;
  std::vector<PivotedFactor> factors;

  explicit Factored(const MixedProblem& given) : problem(given) {
    for (const Matrix& K : given.kernels) {
      factors.push_back(pivoted_cholesky(K));
      // A kernel of zeros has one feature that is 0: BLAS wants matrices with columns.
      if (factors.back().X.cols() == 0) factors.back().X = Matrix::Zero(K.rows(), 1);
    }
  }
  [[nodiscard]] Index count() const { return std::ssize(factors); }
  [[nodiscard]] const Matrix& K(Index i) const {
    return problem.kernels[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const Matrix& X(Index i) const { return factors[static_cast<std::size_t>(i)].X; }
};

using Parts = std::vector<Vector>;  // w, or a change of it: one vector per kernel

/// Beside the box the weights gamma with their multipliers zeta. A point, or a step.
template <class Box>
struct Variables : Box {
  double b = 0;
  Parts w;
  double nu = 0;
  [[nodiscard]] const Vector& gamma() const { return this->own.x; }
  [[nodiscard]] const Vector& zeta() const { return this->own.z; }
};
using Iterate = Variables<engine::BoxAndPartners<Vector>>;
using Step = Variables<engine::BoxAndPartnersStep<Vector>>;

Vector squared_norms(const Parts& w) {
  Vector norms(std::ssize(w));
  for (Index i = 0; i < norms.size(); ++i) norms[i] = w[static_cast<std::size_t>(i)].squaredNorm();
  return norms;
}

/// X_i'u for every kernel.
Parts projections(const Factored& all, const Vector& u) {
  Parts parts;
  for (Index i = 0; i < all.count(); ++i) parts.emplace_back(all.X(i).transpose() * u);
  return parts;
}

double lower_bound(const Vector& alpha, const Parts& projected) {
  const double norm = squared_norms(projected).cwiseSqrt().sum();
  return alpha.sum() - 0.5 * norm * norm;
}

struct Bounds {
  double lower = 0;
  double upper = 0;
  [[nodiscard]] double gap() const { return dual::relative_gap(lower, upper); }
};

Bounds bounds(const Factored& all, const Iterate& x) {
  const MixedProblem& problem = all.problem;
  Vector f = Vector::Constant(problem.y.size(), x.b);
  for (Index i = 0; i < all.count(); ++i) f += all.X(i) * x.w[static_cast<std::size_t>(i)];
  const Vector margins = problem.y.cwiseProduct(f);
  return {lower_bound(x.box.a, projections(all, problem.y.cwiseProduct(x.box.a))),
          engine::best_primal(problem.cost, squared_norms(x.w).maxCoeff(), margins)};
}

/// Balanced over the classes, inside the box, no further out than where the dual has its maximum
/// along that direction; gamma near its best and away from 0.
Iterate start(const Factored& all) {
  const MixedProblem& problem = all.problem;
  const auto m = static_cast<double>(all.count());
  const Vector weight = engine::balanced(problem.y, problem.cost);
  Parts projected = projections(all, problem.y.cwiseProduct(weight));
  Vector norms = squared_norms(projected).cwiseSqrt();
  const double curvature = norms.sum() * norms.sum();
  constexpr double kInside = 0.5;
  const double step = curvature > 0 ? std::min(kInside, weight.sum() / curvature) : kInside;

  Iterate x;
  norms *= step;
  const double value = step * weight.sum();
  constexpr double kShare = 0.1;
  x.own.x = norms.array() + kShare * std::max(norms.sum(), std::sqrt(value)) / m;
  x.own.x /= x.gamma().sum();
  for (std::size_t i = 0; i < projected.size(); ++i) {
    x.w.push_back(projected[i] * (step / x.gamma()[static_cast<Index>(i)]));
  }
  const Vector squares = squared_norms(x.w);
  x.nu = std::max(squares.maxCoeff(), 0.5 * value);
  x.own.z = x.nu - 0.5 * squares.array();
  const double mu = x.zeta().dot(x.gamma()) / m;
  x.box = engine::BoxPoint(problem.cost, step * weight, mu);
  return x;
}

/// Coefficients over the samples for the parts of the machine: u / gamma_i, unless that has lost
/// the digits that count or has not met w_i yet.
Matrix coefficients(const Factored& all, const Iterate& x, double tolerance) {
  const Vector u = all.problem.y.cwiseProduct(x.box.a);
  Matrix c(u.size(), all.count());
  for (Index i = 0; i < all.count(); ++i) {
    const Vector& w = x.w[static_cast<std::size_t>(i)];
    const double missing = (all.X(i).transpose() * u - x.gamma()[i] * w).norm();
    if (missing <= 0.1 * tolerance * x.gamma()[i] * w.norm()) {
      c.col(i) = u / x.gamma()[i];
    } else {
      c.col(i) = over_pivots(all.factors[static_cast<std::size_t>(i)], w);
    }
  }
  return c;
}

Bounds bounds(const Factored& all, const VectorRef& alpha, double b, const MatrixRef& c) {
  const MixedProblem& problem = all.problem;
  Vector f = Vector::Constant(alpha.size(), b);
  double squares = 0;
  for (Index i = 0; i < all.count(); ++i) {
    const Vector part = all.K(i) * c.col(i);
    squares = std::max(squares, c.col(i).dot(part));
    f += part;
  }
  return {lower_bound(alpha, projections(all, problem.y.cwiseProduct(alpha))),
          engine::best_primal(problem.cost, squares, problem.y.cwiseProduct(f))};
}

void finish(MixedSolution& solution, const Factored& all, Iterate x, double tolerance) {
  const MixedProblem& problem = all.problem;
  Vector& alpha = x.box.a;
  Vector inside = std::exchange(alpha, engine::at_bounds(problem.y, problem.cost, alpha));
  solution.b = x.b;
  solution.gamma = x.gamma() / x.gamma().sum();
  solution.c = coefficients(all, x, tolerance);
  Bounds found = bounds(all, alpha, x.b, solution.c);
  if (!(found.gap() <= tolerance)) {
    alpha = std::move(inside);
    solution.c = coefficients(all, x, tolerance);
    found = bounds(all, alpha, x.b, solution.c);
  }
  solution.alpha = alpha;
  solution.lower = found.lower;
  solution.upper = found.upper;
  solution.info.objective = found.lower;
  solution.info.gap = found.gap();
  solution.info.status = measured_status(solution.info.status, found.gap() <= tolerance);
}

class Interior : public engine::PointProblem<Iterate, Step> {
 public:
  explicit Interior(const Factored& all)
      : PointProblem(start(all)), all_(all), problem_(all.problem), box_(x_.box) {}

  double merit() { return bounds(all_, x_).gap(); }
  void keep() { best_ = x_; }
  [[nodiscard]] const Iterate& best() const { return best_; }

  bool factor() {
    const Vector u = problem_.y.cwiseProduct(x_.box.a);
    const Index m = all_.count();
    squares_ = squared_norms(x_.w);
    d_ = squares_ + x_.zeta();
    H_.resize(u.size(), m);
    rho_.clear();
    slack_.clear();
    tight_.clear();
    for (Index i = 0; i < m; ++i) {
      const Vector& w = x_.w[static_cast<std::size_t>(i)];
      H_.col(i) = problem_.y.cwiseProduct(all_.X(i) * w);
      rho_.emplace_back(all_.X(i).transpose() * u - x_.gamma()[i] * w);
      (is_slack(i) ? slack_ : tight_).push_back(i);
    }
    r_alpha_ = H_.rowwise().sum() + x_.b * problem_.y;
    r_alpha_.array() -= 1;
    return factor_tight() && factor_border();
  }

  [[nodiscard]] Step direction(double target, const Step* before) const {
    const Right right = right_side(target, before);
    Step d;
    const Vector v = back_solve(factor_, right.alpha);
    const Vector beyond =
        back_solve(border_, Vector(B_.transpose() * v - right.border));  // db, dw of slack
    d.box.a = v - NB_ * beyond;
    d.b = beyond[0];
    d.nu = (h_.dot(d.box.a) + k_.dot(beyond) - right.nu) / G_;
    const Vector du = problem_.y.cwiseProduct(d.box.a);
    d.own.x.resize(all_.count());
    d.w.resize(static_cast<std::size_t>(all_.count()));
    Index at = 1;
    for (const Index i : slack_) {
      const auto s = static_cast<std::size_t>(i);
      d.w[s] = beyond.segment(at, x_.w[s].size());
      at += x_.w[s].size();
      d.own.x[i] = x_.gamma()[i] / x_.zeta()[i] * (x_.w[s].dot(d.w[s]) - d.nu + right.sphere[i]);
    }
    for (const Index i : tight_) {
      const auto s = static_cast<std::size_t>(i);
      d.own.x[i] = (H_.col(i).dot(d.box.a) - x_.gamma()[i] * d.nu + right.e[i]) / d_[i];
      d.w[s] = (all_.X(i).transpose() * du + right.rho[s] - d.gamma()[i] * x_.w[s]) / x_.gamma()[i];
    }
    d.own.z = (right.zeta.array() - x_.zeta().array() * d.gamma().array()) / x_.gamma().array();
    box_.complete(right.box, d.box);
    return d;
  }

  bool advance(const Step& d, double length) {
    x_.advance(d, length);
    x_.b += length * d.b;
    for (std::size_t i = 0; i < x_.w.size(); ++i) x_.w[i] += length * d.w[i];
    x_.nu += length * d.nu;
    return x_.box.a.allFinite() && x_.gamma().allFinite() && std::isfinite(x_.nu);
  }

 private:
  struct Right {
    Vector alpha;
    Vector border;
    double nu = 0;
    Parts rho;
    Vector e;
    Vector sphere;
    Vector zeta;
    engine::BoxEquations::Right box;
  };

  /// Below this share of its kernel a gamma is on its way to 0, unless its multiplier is: that of a
  /// tiny kernel is small and stays above 0.
  [[nodiscard]] bool is_slack(Index i) const {
    constexpr double kSlack = 1e-4;
    const double share = x_.gamma()[i] * static_cast<double>(all_.count());
    return share < kSlack && share * x_.nu < x_.zeta()[i] && all_.X(i).cols() < problem_.y.size();
  }

  bool factor_tight() {
    const Index n = x_.box.a.size();
    const auto tight = std::ssize(tight_);
    Matrix N = Matrix::Zero(n, n);
    Matrix centred(n, tight);
    Vector p(tight);
    for (Index t = 0; t < tight; ++t) {
      const Index i = tight_[static_cast<std::size_t>(t)];
      N += all_.K(i) / x_.gamma()[i];
      centred.col(t) = H_.col(i) / x_.gamma()[i];
      p[t] = x_.gamma()[i] / d_[i];
    }
    N.array().colwise() *= problem_.y.array();
    N.array().rowwise() *= problem_.y.transpose().array();
    const double G_tight = p.sum();
    G_ = G_tight;
    for (const Index i : slack_) G_ += x_.gamma()[i] / x_.zeta()[i];
    h_ = centred * p;
    centred.colwise() -= h_ / G_tight;
    const Matrix scaled = centred * p.cwiseSqrt().asDiagonal();
    N.selfadjointView<Eigen::Lower>().rankUpdate(scaled, -1);
    N.selfadjointView<Eigen::Lower>().rankUpdate(h_, 1 / G_ - 1 / G_tight);
    N.diagonal() += box_.diagonal();
    factor_ = std::move(N);
    return cholesky_with_ridge(factor_, Ridge::kOfEach);
  }

  /// y and the features of the slack kernels, which the elimination of nu has coupled to h.
  bool factor_border() {
    Index width = 1;
    for (const Index i : slack_) width += all_.X(i).cols();
    B_.resize(x_.box.a.size(), width);
    k_ = Vector::Zero(width);
    Matrix E = Matrix::Zero(width, width);
    B_.col(0) = problem_.y;
    Index at = 1;
    for (const Index i : slack_) {
      const Vector& w = x_.w[static_cast<std::size_t>(i)];
      const Index r = w.size();
      const double ratio = x_.gamma()[i] / x_.zeta()[i];
      B_.middleCols(at, r) = problem_.y.asDiagonal() * all_.X(i);
      k_.segment(at, r) = ratio * w;
      E.block(at, at, r, r) = ratio * w * w.transpose();
      E.block(at, at, r, r).diagonal().array() += x_.gamma()[i];
      at += r;
    }
    B_ += h_ * (k_ / G_).transpose();
    NB_ = back_solve(factor_, B_);
    Matrix M = E - k_ * (k_ / G_).transpose();
    M.noalias() += B_.transpose() * NB_;
    border_ = std::move(M);
    return cholesky_with_ridge(border_, Ridge::kOfEach);
  }

  [[nodiscard]] Right right_side(double target, const Step* before) const {
    const Index m = all_.count();
    ArrayXd tau = ArrayXd::Constant(m, target);
    Right right;
    right.box = box_.right_side(target, before != nullptr ? &before->box : nullptr);
    right.rho = rho_;
    Vector r_sphere = 0.5 * squares_.array() + x_.zeta().array() - x_.nu;
    if (before != nullptr) {
      tau -= before->gamma().array() * before->zeta().array();
      r_sphere += 0.5 * squared_norms(before->w);
      for (std::size_t i = 0; i < rho_.size(); ++i) {
        right.rho[i] -= before->gamma()[static_cast<Index>(i)] * before->w[i];
      }
    }
    right.zeta = tau - x_.zeta().array() * x_.gamma().array();
    right.sphere = r_sphere.array() + right.zeta.array() / x_.gamma().array();
    right.alpha = right.box.pull() - r_alpha_;
    right.e = Vector::Zero(m);
    right.nu = 1 - x_.gamma().sum();
    for (const Index i : tight_) {
      const auto s = static_cast<std::size_t>(i);
      right.e[i] = x_.gamma()[i] * right.sphere[i] + x_.w[s].dot(right.rho[s]);
      right.alpha -= problem_.y.cwiseProduct(all_.X(i) * right.rho[s]) / x_.gamma()[i];
      right.alpha += H_.col(i) * (right.e[i] / (x_.gamma()[i] * d_[i]));
      right.nu -= right.e[i] / d_[i];
    }
    right.border.resize(k_.size());
    right.border[0] = -problem_.y.dot(x_.box.a);
    Index at = 1;
    for (const Index i : slack_) {
      const auto s = static_cast<std::size_t>(i);
      const double ratio = x_.gamma()[i] / x_.zeta()[i];
      right.border.segment(at, x_.w[s].size()) = ratio * right.sphere[i] * x_.w[s] - right.rho[s];
      right.nu -= ratio * right.sphere[i];
      at += x_.w[s].size();
    }
    right.alpha += h_ * (right.nu / G_);
    right.border += k_ * (right.nu / G_);
    return right;
  }

  const Factored& all_;
  const MixedProblem& problem_;
  engine::BoxEquations box_;
  Iterate best_;
  // Of the Newton system, in the notation above.
  std::vector<Index> tight_;
  std::vector<Index> slack_;
  Vector squares_;
  Vector d_;
  Matrix H_;  // columns h_i
  Parts rho_;
  Vector r_alpha_;
  Vector h_;
  double G_ = 0;
  Matrix factor_;
  Matrix B_;
  Matrix NB_;
  Vector k_;
  Matrix border_;
};

}  // namespace

MixedBounds mixed_bounds(const MixedProblem& problem, const VectorRef& alpha, double b,
                         const MatrixRef& c) {
  engine::check_machine(problem.kernels, problem.y, problem.cost);
  const Bounds found = bounds(Factored(problem), alpha, b, c);
  return {found.lower, found.upper, engine::infeasibility(problem.y, problem.cost, alpha)};
}

MixedSolution solve_mixed(const MixedProblem& problem, const MixedSettings& settings,
                          const RunContext& ctx) {
  engine::check_machine(problem.kernels, problem.y, problem.cost);
  constexpr double kStepFraction = 0.99;
  constexpr double kHeadroom = 0.3;  // for what the coefficients lose
  constexpr long kPatience = 60;     // large costs can hold the bounds back for long
  const Factored all(problem);
  Interior interior(all);
  const engine::BestSoFar end = engine::run_interior(interior,
                                                     {.tolerance = kHeadroom * settings.tolerance,
                                                      .iterations = settings.max_iterations,
                                                      .patience = kPatience},
                                                     kStepFraction, ctx);
  MixedSolution solution;
  end.report(solution.info);
  finish(solution, all, interior.best(), settings.tolerance);
  return solution;
}

}  // namespace kith::mkl
