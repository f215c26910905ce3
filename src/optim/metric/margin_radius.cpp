// SPDX-License-Identifier: Apache-2.0
// With an orthonormal basis U of the span of the columns of X (F = U c are the values v'x_i):
//
//   min 1/2 t^2 + sum cost xi^2   s.t.  s1 = t - F, s2 = t + F, s3 = y (F + b) - 1 + xi,  s >= 0,
//
// with multipliers l1, l2, l3 >= 0. xi = l3 / (2 cost) holds throughout, and the rest of the
// optimality conditions is
//
//   t = 1'(l1 + l2),   U'(l1 - l2 - y l3) = 0,   y'l3 = 0,   s l = mu.
//
// With D1 = l1/s1, D2 = l2/s2, D3 = l3 / (s3 + l3 / (2 cost)) a Newton step solves the symmetric
// system in (dc, dt, db)
//
//   [ U'(D1+D2+D3)U   U'(D2-D1)      U'D3   ]
//   [ .               1 + sum(D1+D2)  0     ]
//   [ .               .              sum D3 ].
//
// The dual point of the certificate is a = l3 and m = l1 - l2, both moved to where the equations
// hold.
#include "kith/optim/metric/margin_radius.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/optim/dual/certificate.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"
#include "optim/metric/column_span.hpp"

namespace kith::metric {
namespace {

constexpr double kStepFraction = 0.995;
constexpr int kMostSteps = 100;
constexpr long kPatience = 6;  // steps without progress
constexpr double kAim = 1e-2;  // of the tolerance: the last steps gain digits quickly

/// s and l of the three kinds of constraints, in their order; also a step.
struct Iterate {
  Vector c;
  double b = 0, t = 1;
  engine::ManyPartners<3> own;
  [[nodiscard]] const Vector& s(std::size_t k) const { return own[k].x; }
  [[nodiscard]] const Vector& l(std::size_t k) const { return own[k].z; }
};
using Step = Iterate;
using Three = std::array<Vector, 3>;

Iterate first_iterate(const linear::SignedSamples& samples, Index span) {
  const Index n = samples.y.size();
  Iterate x;
  x.c = Vector::Zero(span);
  // Products s l of one size, whatever the cost.
  for (engine::Partners<Vector>& one : x.own) one = {Vector::Ones(n), 4 * samples.cost};
  return x;
}

/// 1'a - sum_i a_i^2 / (4 cost_i) - 1/2 |m|_1^2 in its parts: linear and quadratic in (a, m).
struct DualParts {
  double linear = 0, quadratic = 0;
};
DualParts dual_parts(const linear::SignedSamples& samples, const VectorRef& a, const VectorRef& m) {
  const double length = m.cwiseAbs().sum();
  const double squares = a.dot(a.cwiseQuotient(samples.cost));
  return {.linear = a.sum(), .quadratic = 0.25 * squares + 0.5 * length * length};
}

double dual_value(const linear::SignedSamples& samples, const VectorRef& a, const VectorRef& m) {
  const DualParts parts = dual_parts(samples, a, m);
  return parts.linear - parts.quadratic;
}

/// a with y'a = 0 and m with U'm = U'Ya, next to what the iterate has, and as long as is best along
/// that direction: the value is never negative.
void dual_point(const Matrix& U, const linear::SignedSamples& samples, const Iterate& x,
                MarginRadiusSolution& solution) {
  solution.a = engine::balanced(samples.y, x.l(2));
  solution.m = x.l(0) - x.l(1);
  for (int again = 0; again < 2; ++again) {
    const Vector off = U.transpose() * (solution.m - samples.y.cwiseProduct(solution.a));
    solution.m -= U * off;
  }
  const DualParts parts = dual_parts(samples, solution.a, solution.m);
  const double best = parts.quadratic > 0 ? 0.5 * parts.linear / parts.quadratic : 0;
  solution.a *= best;
  solution.m *= best;
}

double primal_value(const linear::SignedSamples& samples, const Vector& F, double b) {
  const double t = F.size() > 0 ? F.cwiseAbs().maxCoeff() : 0;
  return 0.5 * t * t + linear::squared_hinge_loss(samples, Vector(F.array() + b));
}

double stationarity_of(const linear::SignedSamples& samples, const Vector& f, const VectorRef& a) {
  if (a.size() == 0) return 0;
  const Vector implied = 2 * samples.cost.array() * (1 - samples.y.array() * f.array()).max(0);
  const double scale = std::max(implied.cwiseAbs().maxCoeff(), a.cwiseAbs().maxCoeff());
  return scale > 0 ? (implied - a).cwiseAbs().maxCoeff() / scale : 0;
}

/// What is known without a step: v = 0 and b = 0 above, 0 below.
MarginRadiusSolution trivial_solution(const linear::SignedSamples& samples) {
  const Index n = samples.y.size();
  MarginRadiusSolution solution;
  solution.a = solution.m = Vector::Zero(n);
  solution.info.objective = primal_value(samples, Vector::Zero(n), 0);
  solution.info.gap = dual::relative_gap(0, solution.info.objective);
  return solution;
}

class Interior {
 public:
  using Step = metric::Step;

  Interior(const Matrix& U, const linear::SignedSamples& samples, double tolerance)
      : U_(U),
        samples_(samples),
        aim_(kAim * tolerance),
        x_(first_iterate(samples, U.cols())),
        best_(trivial_solution(samples)),
        best_c_(Vector::Zero(U.cols())) {}

  /// At most 1 where both the gap and the stationarity are as small as they should be.
  double merit() {
    now_ = {};
    dual_point(U_, samples_, x_, now_);
    now_.b = x_.b;
    now_.lower_bound = dual_value(samples_, now_.a, now_.m);
    now_.info.objective = primal_value(samples_, U_ * x_.c, x_.b);
    now_.info.gap = dual::relative_gap(now_.lower_bound, now_.info.objective);
    const Vector f = (U_ * x_.c).array() + x_.b;
    const double stationarity = stationarity_of(samples_, f, now_.a);
    merit_ = std::max(now_.info.gap / aim_,
                      stationarity / (linear::kStationarityShare * std::sqrt(aim_)));
    return merit_;
  }
  void keep() {
    if (!(merit_ <= 1 || now_.info.gap < best_.info.gap)) return;
    best_ = std::move(now_);
    best_c_ = x_.c;
  }
  [[nodiscard]] MarginRadiusSolution& best() { return best_; }
  [[nodiscard]] const Vector& best_c() const { return best_c_; }

  [[nodiscard]] double complementarity() const { return x_.own.mean_product(); }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    return x_.own.mean_product(d.own, {length, length});
  }
  bool factor() {
    const Vector& y = samples_.y;
    const Vector half = 0.5 * samples_.cost.cwiseInverse();
    off_ = constraints(U_ * x_.c, x_.b, x_.t);
    off_[2].array() += half.array() * x_.l(2).array() - 1;
    for (std::size_t i = 0; i < 3; ++i) {
      denominator_[i] = x_.s(i);
      if (i == 2) denominator_[i] += half.cwiseProduct(x_.l(i));
      D_[i] = x_.l(i).cwiseQuotient(denominator_[i]);
      off_[i] -= x_.s(i);
    }
    const Index k = U_.cols();
    rest_.resize(k + 2);
    rest_.head(k).noalias() = -U_.transpose() * (x_.l(0) - x_.l(1) - y.cwiseProduct(x_.l(2)));
    rest_(k) = x_.l(0).sum() + x_.l(1).sum() - x_.t;
    rest_(k + 1) = y.dot(x_.l(2));
    H_ = Matrix::Zero(k + 2, k + 2);
    const Matrix scaled = (D_[0] + D_[1] + D_[2]).cwiseSqrt().asDiagonal() * U_;
    H_.topLeftCorner(k, k).selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    H_.row(k).head(k).noalias() = (D_[1] - D_[0]).transpose() * U_;
    H_.row(k + 1).head(k).noalias() = D_[2].transpose() * U_;
    H_(k, k) = 1 + D_[0].sum() + D_[1].sum();
    H_(k + 1, k + 1) = D_[2].sum();
    factor_ = H_;
    return H_.allFinite() && cholesky_with_ridge(factor_);
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    const Vector& y = samples_.y;
    const Index k = U_.cols();
    const Three r = x_.own.missing(target, before != nullptr ? &before->own : nullptr);
    Three e;
    for (std::size_t i = 0; i < 3; ++i) {
      e[i] = (r[i] - x_.l(i).cwiseProduct(off_[i])).cwiseQuotient(denominator_[i]);
    }
    Vector right = rest_;
    right.head(k) -= U_.transpose() * (e[0] - e[1] - y.cwiseProduct(e[2]));
    right(k) += e[0].sum() + e[1].sum();
    right(k + 1) += y.dot(e[2]);
    Vector step = back_solve(factor_, right);
    step += back_solve(
        factor_, Vector(right - H_.selfadjointView<Eigen::Lower>() * step));  // one refinement
    Step d;
    d.c = step.head(k);
    d.t = step(k);
    d.b = step(k + 1);
    const Three moved = constraints(U_ * d.c, d.b, d.t);
    for (std::size_t i = 0; i < 3; ++i) {
      d.own[i].z = e[i] - D_[i].cwiseProduct(moved[i]);
      d.own[i].x = moved[i] + off_[i];
    }
    d.own[2].x += 0.5 * d.l(2).cwiseQuotient(samples_.cost);
    return d;
  }
  [[nodiscard]] double reach(const Step& d, double fraction) const {
    const engine::Lengths longest = x_.own.largest_steps(d.own);
    return std::min(1.0, fraction * std::min(longest.x, longest.z));
  }
  bool advance(const Step& d, double length) {
    if (!d.c.allFinite() || !d.l(0).allFinite() || !d.l(2).allFinite()) return false;
    x_.c += length * d.c;
    x_.b += length * d.b;
    x_.t += length * d.t;
    x_.own.advance(d.own, {length, length});
    return true;
  }

 private:
  /// t - F, t + F and y (F + b).
  [[nodiscard]] Three constraints(const Vector& F, double b, double t) const {
    return {t - F.array(), t + F.array(), samples_.y.array() * (F.array() + b)};
  }

  const Matrix& U_;
  const linear::SignedSamples& samples_;
  double aim_;
  Iterate x_;
  double merit_ = 0;
  MarginRadiusSolution now_, best_;
  Vector best_c_;
  // Of the Newton system: D, what the constraints and the other conditions miss, its matrix.
  Three D_, denominator_, off_;
  Vector rest_;
  Matrix H_, factor_;
};

}  // namespace

MarginRadiusCertificate certify_margin_radius(const linear::SignedSamples& samples,
                                              const VectorRef& v, double b, const VectorRef& a,
                                              const VectorRef& m) {
  MarginRadiusCertificate found;
  found.primal = primal_value(samples, samples.X * v, b);
  found.dual = dual_value(samples, a, m);
  found.gap = dual::relative_gap(found.dual, found.primal);
  const double total = a.cwiseAbs().sum();
  if (total > 0) {
    found.feasibility = std::max(std::max(0.0, -a.minCoeff()), std::abs(samples.y.dot(a))) / total;
  }
  const double scale = a.norm() + m.norm();
  const Vector off = samples.X.transpose() * (m - samples.y.cwiseProduct(a));
  for (Index j = 0; j < off.size(); ++j) {
    const double unit = scale * samples.X.col(j).norm();
    if (unit > 0) found.feasibility = std::max(found.feasibility, std::abs(off(j)) / unit);
  }
  const Vector f = (samples.X * v).array() + b;
  found.stationarity = stationarity_of(samples, f, a);
  return found;
}

MarginRadiusSolution margin_radius(const linear::SignedSamples& samples, const RunContext& ctx,
                                   double tolerance) {
  validate(samples);
  const ColumnSpan span(samples.X);
  const Matrix& U = span.U();
  Interior interior(U, samples, tolerance);
  const engine::BestSoFar end = engine::run_interior(
      interior, {.tolerance = 1, .iterations = kMostSteps, .patience = kPatience}, kStepFraction,
      ctx);
  MarginRadiusSolution best = std::move(interior.best());
  best.v = span.coefficients(interior.best_c());
  const MarginRadiusCertificate proof =
      certify_margin_radius(samples, best.v, best.b, best.a, best.m);
  best.info.objective = proof.primal;
  best.lower_bound = proof.feasibility <= tolerance ? proof.dual : 0;
  best.info.gap = proof.gap < 0 && proof.proves(tolerance) ? 0 : std::abs(proof.gap);  // rounding
  best.info.kkt_residual = std::max(proof.feasibility, proof.stationarity);
  end.report(best.info);
  if (proof.proves(tolerance)) {
    best.info.status = SolveStatus::kSolved;
  } else if (best.info.status != SolveStatus::kIterationLimit) {
    best.info.status = SolveStatus::kReducedAccuracy;
  }
  return best;
}

Point rank_one_point(const linear::SignedSamples& samples, const VectorRef& v, double b) {
  const Vector F = samples.X * v;
  const double R = F.size() > 0 ? F.cwiseAbs().maxCoeff() : 0;
  Point point{.L = v.transpose(), .w = Vector::Constant(1, R), .b = b};
  if (R > 0) point.L /= R;
  return point;
}

}  // namespace kith::metric
