// SPDX-License-Identifier: Apache-2.0
// (D) of spectrum/program.hpp as a cone program. With alpha = unit x and p_k = gamma D P_k,
//
//   min  -1'x + sum_k tau_k'P_k   s.t.  y'x = 0,  s = L(x, P) + h in the cone:
//     lower  x                                   upper  u / unit - x
//     ball   (1, P_k)
//     arm    (sum_k P_k + theta, sum_k P_k - theta, F'x),  F'x = 2 sqrt(theta kappa) .* w,
//
// where the arm says sum_k P_k >= kappa w^2, kappa = |lambda| / (4 eta gamma D). Its dual is the
// printed problem [CGR] (12), a the multiplier of the sum. A Newton step solves
//
//   L' W^-2 L (dx, dP) + (y, 0) dnu = g,   y'dx = r
//
// by eliminating P, whose block is diagonal but for one rank-one term for each ball: what is left
// is box + F diag(omega) F' + a rank as low, factored by Cholesky.
#include <cmath>
#include <limits>
#include <optional>

#include "kith/core/stopwatch.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/spectrum/program.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"
#include "optim/spectrum/cones.hpp"
#include "optim/spectrum/newton.hpp"
#include "optim/spectrum/norm.hpp"
#include "optim/spectrum/terms.hpp"

namespace kith::spectrum {
namespace {

using Eigen::ArrayXd;

constexpr double kStepFraction = 0.99;  // of the way to the boundary
constexpr int kRefinements = 2;
constexpr double kAccurate = 1e-14;  // a relative residual that refinement would not improve
constexpr long kPatience = 8;        // steps without a better certificate once one was computed

/// A point or direction in (x, P).
struct Variables {
  Vector x;
  Matrix P;
};

/// The cone program's data.
struct ConeProgram {
  Terms terms;
  double unit = 1;  // alpha = unit x
  Vector y, cap;    // cap = upper / unit
  Vector factor;    // 2 unit sqrt(theta kappa)
  Matrix F;         // samples x eigenvalues
  Matrix tau;       // objective of P, in units of `unit`
  Vector budget;    // gamma D: p = budget P
  double theta = 1;

  [[nodiscard]] Index samples() const { return y.size(); }
  [[nodiscard]] Index eigenvalues() const { return budget.size(); }
  [[nodiscard]] Index terms_of_h() const { return tau.cols(); }

  /// L v.
  [[nodiscard]] ConeVector apply(const Variables& v) const {
    ConeVector out = ConeVector::zero(samples(), eigenvalues(), terms_of_h());
    out.lower = v.x;
    out.upper = -v.x;
    out.ball = v.P;
    const Vector sum = v.P.rowwise().sum();
    out.arm.row(0) = sum.transpose();
    out.arm.row(1) = sum.transpose();
    out.arm.row(2) = (v.x.transpose() * F).array();
    return out;
  }
  /// L'z.
  [[nodiscard]] Variables adjoint(const ConeVector& z) const {
    Variables out{.x = z.lower - z.upper + F * z.arm.row(2).matrix().transpose(), .P = z.ball};
    const Vector shared = (z.arm.row(0) + z.arm.row(1)).transpose();
    out.P.colwise() += shared;
    return out;
  }
  [[nodiscard]] ConeVector constants() const {
    ConeVector h = ConeVector::zero(samples(), eigenvalues(), terms_of_h());
    h.upper = cap;
    h.head.setOnes();
    h.arm.row(0).setConstant(theta);
    h.arm.row(1).setConstant(-theta);
    return h;
  }
};

ConeProgram cone_program(const Program& program) {
  ConeProgram cone;
  cone.terms = terms_of(program);
  const Terms& terms = cone.terms;
  const auto r = static_cast<double>(terms.active.size());
  cone.y = program.y;
  cone.budget = program.gamma * terms.weight;
  cone.theta = 1 / std::sqrt(r);
  const ArrayXd kappa =
      terms.magnitude.array() / (4 * program.eta * program.gamma * terms.weight.array());
  const Matrix& U = program.eigen->U;
  Matrix YU = program.y.asDiagonal() * U(Eigen::all, terms.active);
  // The scale at which alpha = scale * upper, balanced, meets the norm: of the order of the answer.
  const ArrayXd w = (YU.transpose() * engine::balanced(program.y, program.upper)).array();
  const double norm = (kappa * w.square()).matrix().norm();
  cone.unit = program.upper.mean() / std::sqrt(std::max(1.0, norm));
  cone.cap = program.upper / cone.unit;
  cone.factor = (2 * cone.unit * (cone.theta * kappa).sqrt()).matrix();
  cone.F = YU * cone.factor.asDiagonal();
  cone.tau = cone.budget.asDiagonal() * terms.centres / cone.unit;
  return cone;
}

/// The Newton system at one scaling.
class NewtonSystem {
 public:
  NewtonSystem(const ConeProgram& cone, const Scaling& W) : cone_(cone), W_(W) {
    reduce_arms();
    good_ = reduce_balls() && factor_samples();
  }
  [[nodiscard]] bool good() const { return good_; }

  /// (dx, dP) and dnu for the right sides g and r.
  double solve(const Variables& g, double r, Variables& d) const {
    double nu = solve_once(g, r, d);
    for (int i = 0; i < kRefinements; ++i) {
      Variables rest = cone_.adjoint(W_.inverse(W_.inverse(cone_.apply(d))));
      rest.x = g.x - rest.x - nu * cone_.y;
      rest.P = g.P - rest.P;
      const double off = r - cone_.y.dot(d.x);
      const double size = g.x.norm() + g.P.norm();
      if (rest.x.norm() + rest.P.norm() <= kAccurate * size && std::abs(off) <= kAccurate) break;
      Variables more;
      nu += solve_once(rest, off, more);
      d.x += more.x;
      d.P += more.P;
    }
    return nu;
  }

 private:
  /// Per eigenvalue, the 2 x 2 matrix [A B; B C] of the arm in (sum P, F'x).
  void reduce_arms() {
    const ArrayXd v0 = W_.arm.row(0);
    const ArrayXd v1 = W_.arm.row(1);
    const ArrayXd v2 = W_.arm.row(2);
    const ArrayXd scale = W_.arm_beta.inverse();
    Arms e(3, v0.size());  // W^-1 (1, 1, 0)
    const ArrayXd along = 2 * (v0 - v1);
    e.row(0) = scale * (along * v0 - 1);
    e.row(1) = scale * (1 - along * v1);
    e.row(2) = -scale * along * v2;
    Arms f(3, v0.size());  // W^-1 (0, 0, 1)
    f.row(0) = -2 * scale * v2 * v0;
    f.row(1) = 2 * scale * v2 * v1;
    f.row(2) = scale * (1 + 2 * v2.square());
    A_ = e.square().colwise().sum();
    B_ = (e * f).colwise().sum();
    const Arms rest = f - e.rowwise() * (B_ / A_).transpose();
    const ArrayXd d = W_.beta.array().square().inverse();
    const double parallel = 1 / d.inverse().sum();
    // C - B^2 / (A + parallel), as a sum of positive numbers.
    omega_ =
        rest.square().colwise().sum().transpose() + B_.square() / A_ * parallel / (parallel + A_);
  }

  /// (block of P)^-1 without the rank-one terms: for two terms [d1 + A, A; A, d2 + A]^-1.
  [[nodiscard]] Matrix diagonal_solve(const Matrix& g) const {
    const ArrayXd d = W_.beta.array().square().inverse();
    if (d.size() == 1) return (g.col(0).array() / (d(0) + A_)).matrix();
    const ArrayXd det = d(0) * d(1) + A_ * (d(0) + d(1));
    Matrix out(g.rows(), 2);
    const ArrayXd apart = A_ * (g.col(0) - g.col(1)).array();
    out.col(0) = ((d(1) * g.col(0).array() + apart) / det).matrix();
    out.col(1) = ((d(0) * g.col(1).array() - apart) / det).matrix();
    return out;
  }

  bool reduce_balls() {
    const Index m = cone_.terms_of_h();
    const Index r = cone_.eigenvalues();
    small_ = Matrix::Identity(m, m);
    inverted_.resize(m);
    spread_.resize(r, m);
    rank_ = W_.ball * (W_.head.array() * std::sqrt(8.0) / W_.beta.array()).matrix().asDiagonal();
    for (Index k = 0; k < m; ++k) {
      Matrix only = Matrix::Zero(r, m);
      only.col(k) = rank_.col(k);
      inverted_[static_cast<std::size_t>(k)] = diagonal_solve(only);
      const Matrix& column = inverted_[static_cast<std::size_t>(k)];
      for (Index j = 0; j < m; ++j) small_(j, k) += rank_.col(j).dot(column.col(j));
      spread_.col(k) = (B_ * column.rowwise().sum().array()).matrix();
    }
    return cholesky_with_ridge(small_);
  }

  [[nodiscard]] Matrix block_solve(const Matrix& g) const {
    Matrix out = diagonal_solve(g);
    Vector seen(rank_.cols());
    for (Index k = 0; k < rank_.cols(); ++k) seen(k) = rank_.col(k).dot(out.col(k));
    const Vector weights = back_solve(small_, seen);
    for (Index k = 0; k < rank_.cols(); ++k) {
      out -= weights(k) * inverted_[static_cast<std::size_t>(k)];
    }
    return out;
  }

  bool factor_samples() {
    if (!omega_.allFinite() || !spread_.allFinite()) return false;
    const Matrix scaled = cone_.F * omega_.sqrt().matrix().asDiagonal();
    H_ = (W_.lower.array().square().inverse() + W_.upper.array().square().inverse())
             .matrix()
             .asDiagonal();
    H_.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    const Matrix low = solve_lower(small_, (cone_.F * spread_).transpose());
    H_.selfadjointView<Eigen::Lower>().rankUpdate(low.transpose());
    if (!cholesky_with_ridge(H_)) return false;
    y_solved_ = back_solve(H_, cone_.y);
    return true;
  }

  double solve_once(const Variables& g, double r, Variables& d) const {
    const Vector shared = block_solve(g.P).rowwise().sum();
    d.x = back_solve(H_, Vector(g.x - cone_.F * (B_ * shared.array()).matrix()));
    const double nu = (cone_.y.dot(d.x) - r) / cone_.y.dot(y_solved_);
    d.x -= nu * y_solved_;
    const Vector turned = (B_ * (cone_.F.transpose() * d.x).array()).matrix();
    d.P = block_solve(g.P.colwise() - turned);
    return nu;
  }

  const ConeProgram& cone_;
  const Scaling& W_;
  ArrayXd A_, B_, omega_;
  Matrix rank_;                   // of each ball
  std::vector<Matrix> inverted_;  // diagonal_solve of each column of it
  Matrix spread_;                 // B .* their sum over the terms
  Matrix small_;                  // factored
  Matrix H_;
  Vector y_solved_;
  bool good_ = false;
};

struct Iterate {
  Variables v;
  double nu = 0;
  ConeVector s, z;
};

struct Residuals {
  Variables x;  // c - L'z + (y, 0) nu
  double y = 0;
  ConeVector z;  // s - L v - h
};

class Interior {
 public:
  using Step = Iterate;  // the same variables, as changes

  Interior(const Program& program, const Settings& settings, Solution& best)
      : program_(program),
        settings_(settings),
        cone_(cone_program(program)),
        best_(best),
        usable_(start()) {}
  [[nodiscard]] bool usable() const { return usable_; }

  /// The gap of the certificate, once one is worth its price.
  double merit() {
    r_ = residuals();
    if (!nearly_done(r_)) return std::numeric_limits<double>::infinity();
    point_ = recover();
    certificate_ = certify(program_, point_);
    return certificate_.gap;
  }
  void keep() {
    if (point_.alpha.size() == 0) return;
    best_.point = point_;
    best_.certificate = certificate_;
  }

  [[nodiscard]] double complementarity() const { return at_.s.dot(at_.z) / at_.s.degree(); }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    ConeVector s = at_.s;
    ConeVector z = at_.z;
    s.add(length, d.s);
    z.add(length, d.z);
    return s.dot(z) / s.degree();
  }
  bool factor() {
    W_.emplace(Scaling::of(at_.s, at_.z));
    lambda_ = W_->times(at_.z);
    system_.emplace(cone_, *W_);
    return system_->good();
  }
  /// Solves with W^-1 ds + W dz = lambda \ (target - lambda o lambda - second-order terms), and all
  /// residuals to zero.
  [[nodiscard]] Step direction(double target, const Step* before) const {
    ConeVector wanted = product(lambda_, lambda_);
    wanted.add(-2, wanted);  // -lambda o lambda
    if (before != nullptr) wanted.add(-1, product(W_->inverse(before->s), W_->times(before->z)));
    wanted.add(target, ConeVector::unit(cone_.samples(), cone_.eigenvalues(), cone_.terms_of_h()));
    ConeVector q = W_->inverse(r_.z);
    q.add(1, divide(lambda_, wanted));
    Step d;
    Variables g = cone_.adjoint(W_->inverse(q));
    g.x -= r_.x.x;
    g.P -= r_.x.P;
    d.nu = system_->solve(g, -r_.y, d.v);
    d.s = cone_.apply(d.v);
    q.add(-1, W_->inverse(d.s));
    d.z = W_->inverse(q);
    d.s.add(-1, r_.z);
    return d;
  }
  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return std::min(1.0, fraction * std::min(longest_step(lambda_, W_->inverse(d.s)),
                                             longest_step(lambda_, W_->times(d.z))));
  }
  bool advance(const Step& d, double length) {
    if (!(length > 1e-10) || !d.s.all_finite() || !d.z.all_finite()) return false;
    at_.v.x += length * d.v.x;
    at_.v.P += length * d.v.P;
    at_.nu += length * d.nu;
    at_.s.add(length, d.s);
    at_.z.add(length, d.z);
    return distance_inside(at_.s) < 0 && distance_inside(at_.z) < 0;
  }

  /// (alpha, p) and the multipliers as a, of the present point.
  [[nodiscard]] Point recover() const {
    const Vector alpha = (cone_.unit * at_.v.x).cwiseMax(0.0).cwiseMin(program_.upper);
    const Vector t =
        (cone_.unit * (at_.z.arm.row(0) + at_.z.arm.row(1)).transpose() / cone_.budget.array())
            .max(0.0)
            .matrix();
    const Vector z = -cone_.factor.cwiseProduct(at_.z.arm.row(2).matrix().transpose());
    Point point = point_of(program_, cone_.terms, alpha, t, z, 0);
    point.b = dual::least_loss_intercept(program_.eigen->U * point.z, program_.y, program_.upper);
    return point;
  }

 private:
  /// The least-squares point of both problems, moved into the cone.
  bool start() {
    const Scaling identity =
        Scaling::identity(cone_.samples(), cone_.eigenvalues(), cone_.terms_of_h());
    const NewtonSystem system(cone_, identity);
    if (!system.good()) return false;
    const ConeVector h = cone_.constants();
    const ConeVector e = ConeVector::unit(cone_.samples(), cone_.eigenvalues(), cone_.terms_of_h());
    Variables g = cone_.adjoint(h);
    g.x = Vector::Ones(cone_.samples()) - g.x;
    g.P = -cone_.tau - g.P;
    at_.nu = system.solve(g, 0, at_.v);
    at_.s = cone_.apply(at_.v);
    at_.s.add(1, h);
    at_.z = ConeVector::zero(cone_.samples(), cone_.eigenvalues(), cone_.terms_of_h());
    at_.z.add(-1, at_.s);
    for (ConeVector* x : {&at_.s, &at_.z}) {
      const double missing = distance_inside(*x);
      if (missing > -1e-8 * std::max(1.0, std::sqrt(x->dot(*x)))) x->add(1 + missing, e);
    }
    return at_.s.all_finite() && at_.z.all_finite();
  }

  [[nodiscard]] Residuals residuals() const {
    Residuals r{.x = cone_.adjoint(at_.z), .y = cone_.y.dot(at_.v.x), .z = at_.s};
    r.x.x = at_.nu * cone_.y - Vector::Ones(cone_.samples()) - r.x.x;
    r.x.P = cone_.tau - r.x.P;
    r.z.add(-1, cone_.apply(at_.v));
    r.z.add(-1, cone_.constants());
    return r;
  }

  /// Whether the certificate is worth its price.
  [[nodiscard]] bool nearly_done(const Residuals& r) const {
    const double objective = std::abs(at_.v.x.sum() - cone_.tau.cwiseProduct(at_.v.P).sum());
    const double size = std::max(at_.v.x.sum(), 1e-6 * objective);
    return at_.s.dot(at_.z) <= 10 * settings_.tolerance * size &&
           r.x.x.norm() <= 1e-3 * std::sqrt(r.x.x.size());
  }

  const Program& program_;
  const Settings settings_;
  const ConeProgram cone_;
  Solution& best_;
  Iterate at_;
  Residuals r_;
  std::optional<Scaling> W_;
  ConeVector lambda_;
  std::optional<NewtonSystem> system_;
  Point point_;
  Certificate certificate_;
  bool usable_;
};

Solution run_interior_point(const Program& program, const Settings& settings,
                            const RunContext& ctx) {
  Solution best;
  best.certificate.gap = std::numeric_limits<double>::infinity();
  best.info.status = SolveStatus::kNumericalFailure;
  Interior interior(program, settings, best);
  if (interior.usable()) {
    const engine::BestSoFar end = engine::run_interior(interior,
                                                       {.tolerance = settings.tolerance,
                                                        .iterations = settings.max_iterations,
                                                        .patience = kPatience},
                                                       kStepFraction, ctx);
    end.report(best.info);
    if (best.info.status == SolveStatus::kNumericalFailure) {
      best.info.status = SolveStatus::kReducedAccuracy;
    }
  }
  if (best.point.alpha.size() == 0) {
    best.point = interior.usable() ? interior.recover()
                                   : plain_point(program, Vector::Zero(program.y.size()), 0);
    best.certificate = certify(program, best.point);
  }
  return best;
}

/// Without negative eigenvalues clip and flip are one: `both` is then flip with gamma doubled, and
/// as two terms it would not determine their vectors p.
Program merged(const Program& program) {
  Program one = program;
  const Vector& lambda = program.eigen->lambda;
  const bool definite = lambda.size() == 0 || lambda.minCoeff() >= -zero_threshold(lambda);
  if (definite && program.centre == Centre::kBoth) {
    one.centre = Centre::kFlip;
    one.gamma *= 2;
  }
  return one;
}

Solution solve_merged(const Program& program, const Settings& settings, const RunContext& ctx,
                      const Vector& start) {
  const bool one_norm = program.centre == Centre::kClip || program.centre == Centre::kFlip;
  if (!one_norm) return run_interior_point(program, settings, ctx);
  Solution quick;
  if (solve_norm(program, start, settings, ctx, quick)) return quick;
  Solution solution = run_interior_point(program, settings, ctx);
  if (quick.certificate.gap < solution.certificate.gap) {
    solution.point = quick.point;
    solution.certificate = quick.certificate;
  }
  solution.info.iterations += quick.info.iterations;
  return solution;
}

}  // namespace

Solution solve(const Program& program, const Settings& settings, const RunContext& ctx,
               const Vector& start) {
  const Stopwatch clock;
  Solution solution = solve_merged(merged(program), settings, ctx, start);
  if (!(solution.certificate.gap <= settings.tolerance)) {
    sharpen(program, settings, ctx, start, solution);
  }
  solution.point.z *= solution.certificate.stretch;
  solution.point.b *= solution.certificate.stretch;
  // A gap of 0 between bounds that overflowed proves nothing. A residual r of sample i adds
  // upper_i r^2 to the gap: so much is no contradiction where the tolerance is loose.
  constexpr double kContradiction = 0.1;
  const double allowed =
      std::sqrt(settings.tolerance * solution.certificate.primal / program.upper.minCoeff());
  const bool proved = solution.certificate.gap <= settings.tolerance &&
                      solution.certificate.kkt_residual <= std::max(kContradiction, allowed);
  solution.info.status = measured_status(solution.info.status, proved);
  solution.info.objective = solution.certificate.objective();
  solution.info.gap = solution.certificate.gap;
  solution.info.kkt_residual = solution.certificate.kkt_residual;
  solution.info.seconds = clock.seconds();
  return solution;
}

}  // namespace kith::spectrum
