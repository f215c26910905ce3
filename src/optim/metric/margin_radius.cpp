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
#include <array>
#include <cmath>
#include <optional>
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
constexpr long kPatience = 6;   // steps without progress
constexpr int kRoundings = 60;  // of a long v
constexpr double kAim = 1e-2;   // of the tolerance: the last steps gain digits quickly

/// Beside v = X's coordinates c the slacks s1, s2, s3 with their multipliers. Also a step.
struct Iterate : engine::ManyPartners<3> {
  Vector c;
  double b = 0, t = 1;
  [[nodiscard]] const Vector& s(std::size_t k) const { return (*this)[k].x; }
  [[nodiscard]] const Vector& l(std::size_t k) const { return (*this)[k].z; }
};
using Step = Iterate;

/// The system of one iterate.
class NewtonSystem {
 public:
  NewtonSystem(const Matrix& U, const linear::SignedSamples& samples, const Iterate& x)
      : U_(U), y_(samples.y), x_(x), half_(0.5 * samples.cost.cwiseInverse()) {
    const Vector F = U * x.c;
    denominator_ = x.s(2) + half_.cwiseProduct(x.l(2));
    D1_ = x.l(0).cwiseQuotient(x.s(0));
    D2_ = x.l(1).cwiseQuotient(x.s(1));
    D3_ = x.l(2).cwiseQuotient(denominator_);
    rp1_ = x.t - F.array() - x.s(0).array();
    rp2_ = x.t + F.array() - x.s(1).array();
    rp3_ = y_.array() * (F.array() + x.b) - 1 + half_.array() * x.l(2).array() - x.s(2).array();
    rd1_ = x.t - x.l(0).sum() - x.l(1).sum();
    rd2_.noalias() = U.transpose() * (x.l(0) - x.l(1) - y_.cwiseProduct(x.l(2)));
    rd3_ = y_.dot(x.l(2));
    factor();
  }
  [[nodiscard]] bool good() const { return good_; }

  /// `r` is what each l s is to change by.
  [[nodiscard]] Step solve(const std::array<Vector, 3>& r) const {
    const Index k = U_.cols();
    const Vector e1 = r[0].cwiseQuotient(x_.s(0)) - D1_.cwiseProduct(rp1_);
    const Vector e2 = r[1].cwiseQuotient(x_.s(1)) - D2_.cwiseProduct(rp2_);
    const Vector e3 = (r[2] - x_.l(2).cwiseProduct(rp3_)).cwiseQuotient(denominator_);
    Vector right(k + 2);
    right.head(k) = -rd2_ - U_.transpose() * (e1 - e2 - y_.cwiseProduct(e3));
    right(k) = -rd1_ + e1.sum() + e2.sum();
    right(k + 1) = rd3_ + y_.dot(e3);
    Vector step = back_solve(factor_, right);
    step += back_solve(
        factor_, Vector(right - H_.selfadjointView<Eigen::Lower>() * step));  // one refinement
    Step d;
    d.c = step.head(k);
    d.t = step(k);
    d.b = step(k + 1);
    const Vector dF = U_ * d.c;
    const Vector df = y_.array() * (dF.array() + d.b);
    d[0].x = d.t - dF.array() + rp1_.array();
    d[1].x = d.t + dF.array() + rp2_.array();
    d[0].z = e1.array() - D1_.array() * (d.t - dF.array());
    d[1].z = e2.array() - D2_.array() * (d.t + dF.array());
    d[2].z = e3 - D3_.cwiseProduct(df);
    d[2].x = df + half_.cwiseProduct(d[2].z) + rp3_;
    return d;
  }

 private:
  void factor() {
    const Index k = U_.cols();
    H_ = Matrix::Zero(k + 2, k + 2);
    const Matrix scaled = (D1_ + D2_ + D3_).cwiseSqrt().asDiagonal() * U_;
    H_.topLeftCorner(k, k).selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    H_.row(k).head(k).noalias() = (D2_ - D1_).transpose() * U_;
    H_.row(k + 1).head(k).noalias() = D3_.transpose() * U_;
    H_(k, k) = 1 + D1_.sum() + D2_.sum();
    H_(k + 1, k + 1) = D3_.sum();
    factor_ = H_;
    good_ = H_.allFinite() && cholesky_with_ridge(factor_);
  }

  const Matrix& U_;
  const Vector& y_;
  const Iterate& x_;
  const Vector half_;
  Vector D1_, D2_, D3_, denominator_, rp1_, rp2_, rp3_, rd2_;
  double rd1_ = 0, rd3_ = 0;
  Matrix H_, factor_;
  bool good_ = false;
};

Iterate first_iterate(const linear::SignedSamples& samples, Index span) {
  Iterate x;
  x.c = Vector::Zero(span);
  // Products s l of one size, whatever the cost.
  x.fill({Vector::Ones(samples.y.size()), 4 * samples.cost});
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

class Interior : public engine::PointProblem<Iterate, Step> {
 public:
  Interior(const Matrix& U, const linear::SignedSamples& samples, double tolerance)
      : PointProblem(first_iterate(samples, U.cols())),
        U_(U),
        samples_(samples),
        aim_(kAim * tolerance),
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

  bool factor() {
    system_.emplace(U_, samples_, x_);
    return system_->good();
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    return system_->solve(x_.missing(target, before));
  }
  bool advance(const Step& d, double length) {
    if (!d.c.allFinite() || !d.l(0).allFinite() || !d.l(2).allFinite()) return false;
    x_.advance(d, length);
    x_.c += length * d.c;
    x_.b += length * d.b;
    x_.t += length * d.t;
    return true;
  }

 private:
  const Matrix& U_;
  const linear::SignedSamples& samples_;
  double aim_;
  double merit_ = 0;
  MarginRadiusSolution now_, best_;
  Vector best_c_;
  std::optional<NewtonSystem> system_;
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

namespace {

/// v with X v = U c. Where the columns nearly depend on each other v is long, and its rounding
/// alone moves X v by more than the tolerance. Each refinement rounds in another way: the best is
/// kept.
MarginRadiusCertificate settle_coefficients(const linear::SignedSamples& samples,
                                            const ColumnSpan& span, const Vector& c,
                                            double tolerance, MarginRadiusSolution& best) {
  const auto proof_of = [&](const Vector& v) {
    return certify_margin_radius(samples, v, best.b, best.a, best.m);
  };
  best.v = span.coefficients(c);
  MarginRadiusCertificate proof = proof_of(best.v);
  const Vector wanted = span.U() * c;
  Vector v = best.v;
  for (int k = 0; k < kRoundings && !proof.proves(tolerance); ++k) {
    v += span.coefficients(span.U().transpose() * (wanted - samples.X * v));
    if (!v.allFinite()) break;
    const MarginRadiusCertificate other = proof_of(v);
    if (!(std::abs(other.gap) < std::abs(proof.gap))) continue;
    proof = other;
    best.v = v;
  }
  return proof;
}

}  // namespace

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
  const MarginRadiusCertificate proof =
      settle_coefficients(samples, span, interior.best_c(), tolerance, best);
  best.info.objective = proof.primal;
  best.lower_bound = proof.feasibility <= tolerance ? proof.dual : 0;
  best.info.gap = proof.gap < 0 && proof.proves(tolerance) ? 0 : std::abs(proof.gap);  // rounding
  best.info.kkt_residual = std::max(proof.feasibility, proof.stationarity);
  end.report(best.info);
  best.info.status = measured_status(best.info.status, proof.proves(tolerance));
  return best;
}

Point rank_one_point(const linear::SignedSamples& samples, const VectorRef& v, double b) {
  const Vector F = samples.X * v;
  return rank_one_point(v, b, F.size() > 0 ? F.cwiseAbs().maxCoeff() : 0);
}

Point rank_one_point(const VectorRef& v, double b, double radius) {
  Point point{.L = v.transpose(), .w = Vector::Constant(1, radius), .b = b};
  if (radius > 0) point.L /= radius;
  return point;
}

}  // namespace kith::metric
