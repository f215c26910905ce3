// SPDX-License-Identifier: Apache-2.0
// (D) of spectrum/program.hpp with the vectors p among the variables. With alpha = unit x,
// p_k = gamma D P_k and v = F'x, F'x = unit sqrt(kappa) .* w, kappa = |lambda| / (4 eta gamma D),
//
//   min  -1'x + sum_k tau_k'P_k   s.t.  y'x = 0,  0 <= x <= cap,
//        sum_k P_k - v^2 = rho >= 0,   (1 - |P_k|^2) / 2 = q_k >= 0.
//
// Its dual is the printed problem [CGR] (12), a the multiplier t of rho in other units. With V_k
// the multiplier of q_k the other conditions are
//
//   1 - 2 F (t v) - nu y + z_low - z_high = 0,   tau_k - t + V_k P_k = 0,
//
// and all products t rho, V q, x z_low, (cap - x) z_high go to 0. A Newton step eliminates P, whose
// block is diagonal but for one rank-one term for each ball: what is left is box + F diag(omega) F'
// + a rank as low, factored by Cholesky.
#include <cmath>
#include <limits>

#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/spectrum/program.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"
#include "optim/spectrum/solvers.hpp"
#include "optim/spectrum/terms.hpp"

namespace kith::spectrum {
namespace {

using Eigen::ArrayXd;

constexpr double kStepFraction = 0.99;  // of the way to the boundary
constexpr int kRefinements = 2;
constexpr double kAccurate = 1e-14;  // a relative residual that refinement would not improve
constexpr long kPatience = 8;        // steps without a better certificate once one was computed

/// The program's data in its own units.
struct Quadratic {
  Terms terms;
  double unit = 1;  // alpha = unit x
  Vector y, cap;    // cap = upper / unit
  Matrix F;         // samples x eigenvalues
  Matrix tau;       // objective of P, in units of `unit`
  Vector budget;    // gamma D: p = budget P
};

Quadratic quadratic(const Program& program) {
  Quadratic data;
  data.terms = terms_of(program);
  const Terms& terms = data.terms;
  data.y = program.y;
  data.budget = program.gamma * terms.weight;
  const ArrayXd kappa =
      terms.magnitude.array() / (4 * program.eta * program.gamma * terms.weight.array());
  const Matrix& U = program.eigen->U;
  Matrix YU = program.y.asDiagonal() * U(Eigen::all, terms.active);
  // The scale at which alpha = scale * upper, balanced, meets the norm: of the order of the answer.
  const ArrayXd w = (YU.transpose() * engine::balanced(program.y, program.upper)).array();
  const double norm = (kappa * w.square()).matrix().norm();
  data.unit = program.upper.mean() / std::sqrt(std::max(1.0, norm));
  data.cap = program.upper / data.unit;
  data.F = YU * (data.unit * kappa.sqrt()).matrix().asDiagonal();
  data.tau = data.budget.asDiagonal() * terms.centres / data.unit;
  return data;
}

/// A point, or a step.
template <class Box>
struct Variables {
  Box box;
  Matrix P;
  double nu = 0;                // in a step the new one
  engine::ManyPartners<2> own;  // rho with t, q with V
  [[nodiscard]] const Vector& rho() const { return own[0].x; }
  [[nodiscard]] const Vector& t() const { return own[0].z; }
  [[nodiscard]] const Vector& q() const { return own[1].x; }
  [[nodiscard]] const Vector& V() const { return own[1].z; }
};
using Iterate = Variables<engine::BoxPoint>;
using Step = Variables<engine::BoxStep>;

/// (dx, dP) and the new nu of
///
///   [ box + F (2t + 4 E v^2) F'   -F (2 E v) ...      y ]          E = t / rho,
///   [ ...                         V_k + E + P P' V/q  . ]   = g,   y'dx = r.
///   [ y'                          .                   . ]
class NewtonSystem {
 public:
  NewtonSystem() = default;

  bool factor(const Quadratic& data, const Iterate& at, const Vector& v) {
    data_ = &data;
    at_ = &at;
    E_ = at.t().cwiseQuotient(at.rho());
    B_ = -2 * E_ * v.array();
    box_ = engine::BoxEquations(at.box).diagonal();
    const double parallel = 1 / at.V().cwiseInverse().sum();
    // What eliminating P leaves of 2t + 4 E v^2, as a sum of positive numbers.
    omega_ = 2 * at.t().array() + 4 * v.array().square() * E_ * parallel / (parallel + E_);
    own_ = 2 * at.t().array() + 4 * v.array().square() * E_;
    return reduce_balls() && factor_samples();
  }

  double solve(const Vector& gx, const Matrix& gP, double r, Vector& dx, Matrix& dP) const {
    double nu = solve_once(gx, gP, r, dx, dP);
    for (int i = 0; i < kRefinements; ++i) {
      const Vector dv = data_->F.transpose() * dx;
      const ArrayXd sum = dP.rowwise().sum();
      const Vector x = gx - box_.cwiseProduct(dx) - nu * data_->y -
                       data_->F * Vector(own_ * dv.array() + B_ * sum);
      const Vector shared = E_ * sum + B_ * dv.array();
      Matrix P = gP.colwise() - shared;
      for (Index k = 0; k < P.cols(); ++k) {
        P.col(k) -= at_->V()(k) * dP.col(k) + rank_.col(k) * rank_.col(k).dot(dP.col(k));
      }
      const double off = r - data_->y.dot(dx);
      const double size = gx.norm() + gP.norm();
      if (x.norm() + P.norm() <= kAccurate * size && std::abs(off) <= kAccurate) break;
      Vector more_x;
      Matrix more_P;
      nu += solve_once(x, P, off, more_x, more_P);
      dx += more_x;
      dP += more_P;
    }
    return nu;
  }

 private:
  /// (block of P)^-1 without the rank-one terms: for two terms [V1 + E, E; E, V2 + E]^-1.
  [[nodiscard]] Matrix diagonal_solve(const Matrix& g) const {
    const Vector& V = at_->V();
    if (V.size() == 1) return (g.col(0).array() / (V(0) + E_)).matrix();
    const ArrayXd det = V(0) * V(1) + E_ * (V(0) + V(1));
    Matrix out(g.rows(), 2);
    const ArrayXd apart = E_ * (g.col(0) - g.col(1)).array();
    out.col(0) = ((V(1) * g.col(0).array() + apart) / det).matrix();
    out.col(1) = ((V(0) * g.col(1).array() - apart) / det).matrix();
    return out;
  }

  bool reduce_balls() {
    const Index m = at_->P.cols();
    const Index r = at_->P.rows();
    small_ = Matrix::Identity(m, m);
    inverted_.resize(static_cast<std::size_t>(m));
    spread_.resize(r, m);
    rank_ = at_->P * at_->V().cwiseQuotient(at_->q()).cwiseSqrt().asDiagonal();
    for (Index k = 0; k < m; ++k) {
      Matrix only = Matrix::Zero(r, m);
      only.col(k) = rank_.col(k);
      Matrix& column = inverted_[static_cast<std::size_t>(k)];
      column = diagonal_solve(only);
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
    const Matrix scaled = data_->F * omega_.sqrt().matrix().asDiagonal();
    Matrix H = box_.asDiagonal();
    H.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    const Matrix low = solve_lower(small_, (data_->F * spread_).transpose());
    H.selfadjointView<Eigen::Lower>().rankUpdate(low.transpose());
    return kkt_.factor(std::move(H), data_->y);
  }

  double solve_once(const Vector& gx, const Matrix& gP, double r, Vector& dx, Matrix& dP) const {
    const ArrayXd shared = block_solve(gP).rowwise().sum();
    engine::BorderedSystem::Answer found =
        kkt_.solve(gx - data_->F * (B_ * shared).matrix(), Vector{{r}});
    dx = std::move(found.d);
    const Vector turned = B_ * (data_->F.transpose() * dx).array();
    dP = block_solve(gP.colwise() - turned);
    return found.m(0);
  }

  const Quadratic* data_ = nullptr;
  const Iterate* at_ = nullptr;
  ArrayXd E_, B_, omega_, own_;
  Vector box_;
  Matrix rank_;                   // of each ball
  std::vector<Matrix> inverted_;  // diagonal_solve of each column of it
  Matrix spread_;                 // B .* their sum over the terms
  Matrix small_;                  // factored
  engine::BorderedSystem kkt_;
};

class Interior {
 public:
  using Step = spectrum::Step;

  Interior(const Program& program, const Settings& settings, Solution& best)
      : program_(program), settings_(settings), data_(quadratic(program)), best_(best) {
    start();
  }

  /// The gap of the certificate, once one is worth its price.
  double merit() {
    slope_ = 1 - 2 * (data_.F * at_.t().cwiseProduct(v_)).array();
    off_P_ = data_.tau + at_.P * at_.V().asDiagonal();
    off_P_.colwise() -= at_.t();
    off_rho_ = at_.P.rowwise().sum() - v_.cwiseAbs2() - at_.rho();
    off_q_ = 0.5 * (1 - at_.P.colwise().squaredNorm().transpose().array()) - at_.q().array();
    if (!nearly_done()) return std::numeric_limits<double>::infinity();
    point_ = recover();
    certificate_ = certify(program_, point_);
    return certificate_.gap;
  }
  void keep() {
    if (point_.alpha.size() == 0) return;
    best_.point = point_;
    best_.certificate = certificate_;
  }

  [[nodiscard]] double complementarity() const {
    return (at_.box.products() + at_.own.mean_product() * at_.own.count()) / count();
  }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    const double own = at_.own.mean_product(d.own, length) * at_.own.count();
    return (at_.box.products(d.box, length) + own) / count();
  }
  /// What the equations are still off by, as a complementarity: smaller products would only block
  /// the steps that mend them.
  [[nodiscard]] double least_target(double mu) const {
    constexpr double kShare = 0.01;
    const engine::BoxPoint& box = at_.box;
    const Vector off = slope_ - at_.nu * data_.y + box.z_low - box.z_high;
    const double sum =
        off.cwiseAbs().dot(box.a.cwiseMin(box.room)) + off_P_.cwiseProduct(at_.P).cwiseAbs().sum();
    return std::min(mu, kShare * sum / count());
  }
  bool factor() { return system_.factor(data_, at_, v_); }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    const bool corrects = before != nullptr;
    const engine::BoxEquations box(at_.box);
    const auto bounds = box.right_side(target, corrects ? &before->box : nullptr);
    const auto missing = at_.own.missing(target, corrects ? &before->own : nullptr);
    Vector gx = slope_ + bounds.pull();
    Matrix gP = -off_P_;
    Vector off_rho = off_rho_;
    Vector off_q = off_q_;
    if (corrects) {
      const Vector dv = data_.F.transpose() * before->box.a;
      gx -= 2 * (data_.F * dv.cwiseProduct(before->t()));
      gP -= before->P * before->V().asDiagonal();
      off_rho -= dv.cwiseAbs2();
      off_q -= 0.5 * before->P.colwise().squaredNorm().transpose();
    }
    const Vector E = at_.t().cwiseQuotient(at_.rho());
    const Vector pull = missing[0].cwiseQuotient(at_.rho()) - E.cwiseProduct(off_rho);
    gx -= 2 * (data_.F * v_.cwiseProduct(pull));
    gP.colwise() += pull;
    gP -= at_.P * (missing[1] - at_.V().cwiseProduct(off_q)).cwiseQuotient(at_.q()).asDiagonal();
    Step d;
    d.nu = system_.solve(gx, gP, -data_.y.dot(at_.box.a), d.box.a, d.P);
    box.complete(bounds, d.box);
    const Vector dv = data_.F.transpose() * d.box.a;
    d.own[0].x = d.P.rowwise().sum() - 2 * v_.cwiseProduct(dv) + off_rho;
    d.own[1].x = off_q - (at_.P.cwiseProduct(d.P)).colwise().sum().transpose();
    for (std::size_t k = 0; k < 2; ++k) {
      d.own[k].z = (missing[k] - at_.own[k].z.cwiseProduct(d.own[k].x)).cwiseQuotient(at_.own[k].x);
    }
    return d;
  }
  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return std::min(1.0,
                    fraction * std::min(at_.own.largest_step(d.own), at_.box.largest_step(d.box)));
  }
  bool advance(const Step& d, double length) {
    if (!(length > 1e-10) || !d.box.a.allFinite() || !d.P.allFinite()) return false;
    at_.box.advance(d.box, length);
    at_.own.advance(d.own, length);
    at_.P += length * d.P;
    at_.nu += length * (d.nu - at_.nu);
    v_ = data_.F.transpose() * at_.box.a;
    return true;
  }

  /// alpha and the multipliers as a, of the present point.
  [[nodiscard]] Point recover() const {
    const Vector alpha = (data_.unit * at_.box.a).cwiseMax(0.0).cwiseMin(program_.upper);
    const Vector t = (data_.unit * at_.t()).cwiseQuotient(data_.budget);
    const Vector w = rotated(program_, data_.terms, alpha);
    const Vector z = t.cwiseProduct(data_.terms.magnitude).cwiseProduct(w) / (2 * program_.eta);
    Point point = point_of(program_, data_.terms, alpha, t, z, 0);
    point.b = dual::least_loss_intercept(program_.eigen->U * point.z, program_.y, program_.upper);
    return point;
  }

 private:
  [[nodiscard]] double count() const { return at_.box.count() + at_.own.count(); }

  /// Inside all constraints, with products of one size.
  void start() {
    constexpr double kShare = 0.5;  // of the balls, by v^2 and by what P exceeds it
    constexpr double kRoom = 0.3;
    const Index r = data_.budget.size();
    const Index m = data_.tau.cols();
    const auto terms = static_cast<double>(m);
    Vector x = engine::box_centre(data_.cap, data_.y);
    v_ = data_.F.transpose() * x;
    const double size = v_.cwiseAbs2().norm() / (kShare * terms);
    if (size > 1) x /= std::sqrt(size);
    v_ = data_.F.transpose() * x;
    at_.P = (v_.cwiseAbs2() / terms).replicate(1, m);
    at_.P.array() += kRoom / std::sqrt(static_cast<double>(std::max<Index>(1, r)));
    at_.own[0].x = at_.P.rowwise().sum() - v_.cwiseAbs2();
    at_.own[1].x = 0.5 * (1 - at_.P.colwise().squaredNorm().transpose().array());
    const double product = (x.sum() + data_.tau.cwiseProduct(at_.P).cwiseAbs().sum()) /
                           static_cast<double>(2 * x.size() + r + m);
    for (engine::Partners<Vector>& one : at_.own) one.z = product * one.x.cwiseInverse();
    at_.box = engine::BoxPoint(data_.cap, std::move(x), product);
  }

  /// Whether the certificate is worth its price.
  [[nodiscard]] bool nearly_done() const {
    const double sum = at_.box.a.sum();
    const double objective = std::abs(sum - data_.tau.cwiseProduct(at_.P).sum());
    const Vector off = slope_ - at_.nu * data_.y + at_.box.z_low - at_.box.z_high;
    return complementarity() * count() <=
               10 * settings_.tolerance * std::max(sum, 1e-6 * objective) &&
           off.norm() <= 1e-3 * std::sqrt(static_cast<double>(off.size()));
  }

  const Program& program_;
  const Settings settings_;
  const Quadratic data_;
  Solution& best_;
  Iterate at_;
  Vector v_;
  Vector slope_, off_rho_, off_q_;
  Matrix off_P_;
  NewtonSystem system_;
  Point point_;
  Certificate certificate_;
};

Solution run_interior_point(const Program& program, const Settings& settings,
                            const RunContext& ctx) {
  Solution best;
  best.certificate.gap = std::numeric_limits<double>::infinity();
  Interior interior(program, settings, best);
  const engine::BestSoFar end = engine::run_interior(interior,
                                                     {.tolerance = settings.tolerance,
                                                      .iterations = settings.max_iterations,
                                                      .patience = kPatience},
                                                     kStepFraction, ctx);
  end.report(best.info);
  if (best.info.status == SolveStatus::kNumericalFailure) {
    best.info.status = SolveStatus::kReducedAccuracy;
  }
  if (best.point.alpha.size() == 0) {
    best.point = interior.recover();
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
  return solution;
}

}  // namespace kith::spectrum
