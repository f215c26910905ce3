// SPDX-License-Identifier: Apache-2.0
// max D(a, rho) over 0 <= a <= c, y'a = 0 (optim/robust/dual) by Mehrotra's predictor and
// corrector. Notation: s = c - a the upper slack, z and w the multipliers of the two bounds, b that
// of y'a = 0, mu their mean complementarity, m the variable that settles rho:
//
//   squared   none: rho is given
//   ball      m = rho,     D - radius^2 rho      is largest:   R = |K - S|^2 - radius^2 = 0
//   norm      m = 1/rho,   D + weight^2 / (4 rho) is least:    R = weight^2/4 - rho^2 |K - S|^2 = 0
//
// (weight |X| = min over rho of rho |X|^2 + weight^2 / (4 rho).) Each iteration solves
//
//   [ H + z/a + w/s   y   -v   ] [ da ]   [ D' + (tau - q1)/a - (tau - q2)/s ]
//   [ y'              0    0   ] [ b+ ] = [ 0 ]
//   [ v'              0   D_mm ] [ dm ]   [ -R ]
//
// with H the generalised Hessian of -D in a, v = D_am. Settling rho inside the iteration, and not
// by a search around it, makes both relatives as cheap as the problem itself.
//
// Every iterate carries its certificate. For K = M_+ and P = u'Ku/2 + sum_i c_i max(0, D'_i - y_i
// b), the primal value of the machine on K:
//   squared   D <= t* <= P + rho |K - S|^2
//   ball      D - rho radius^2 <= t* <= P, for K drawn into the ball towards S_+ where it is
//   outside
//   norm      t 1'a + r (2 rho |K - S|^2 - u'Ku/2) <= t* <= P + weight |K - S|, for each t <= 1 and
//             r >= t^2 with r 2 rho |K - S| <= weight: Z = 2 r rho (K - S) is then dual feasible
// Cost: three products of n x n matrices and a Cholesky factor per iteration; no eigenproblem but
// that of S.
#include "kith/optim/robust/newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"
#include "optim/robust/active.hpp"
#include "optim/robust/ball.hpp"
#include "optim/robust/dual.hpp"
#include "optim/robust/kernel.hpp"
#include "optim/robust/point.hpp"
#include "optim/robust/search.hpp"

namespace kith::robust {
namespace {

enum class Term { kSquared, kBall, kNorm };

struct Model {
  const Problem& problem;
  const Dual& dual;
  Term term;
  double size = 0;  // the radius or the weight
};

struct Step {
  engine::BoxStep box;
  double b = 0;  // the new b, not a difference
  double m = 0;
  double bend = 0;  // a'(H + z/a + w/s) a
};

struct Iterate {
  engine::BoxPoint box;
  double b = 0;
  double rho = 1;
  [[nodiscard]] double mean_product() const { return box.mean_product(); }
  [[nodiscard]] double mean_product(const Step& d, double length) const {
    return box.mean_product(d.box, length);
  }
  [[nodiscard]] double largest_step(const Step& d) const { return box.largest_step(d.box); }
};

/// Lower and upper bound of the optimum, and the value their difference is measured by.
struct Bounds {
  double objective, gap;
};

double square(double x) { return x * x; }

/// R: zero where rho is the one the term asks for.
double rho_residual(const Model& model, const DualPoint& point) {
  if (model.term == Term::kBall) return square(point.distance) - square(model.size);
  if (model.term == Term::kNorm) {
    return square(model.size) / 4 - square(point.rho * point.distance);
  }
  return 0;
}

Bounds bounds(const Model& model, const Iterate& x, const DualPoint& point) {
  const Problem& problem = model.problem;
  const double sum = x.box.a.sum();
  const double own = sum - 0.5 * point.uKu;
  const Vector margins = 1 - (point.gradient - x.b * problem.y).array();
  const double primal = engine::best_primal(problem.cost, point.uKu, margins);
  double objective = point.value;
  double difference = primal - own;
  double unit = point.value;
  if (model.term == Term::kBall) {
    const double excess = point.distance - model.size;
    const double share = excess > 0 ? excess / (point.distance - model.dual.negative_part()) : 0;
    const double upper = primal + share * (problem.cost.sum() - primal);
    objective = unit = own;
    difference = upper - (own + point.rho * (square(point.distance) - square(model.size)));
  } else if (model.term == Term::kNorm) {
    const double lost = norm_bound_loss(sum, point.uKu, point.rho, point.distance, model.size);
    // Less the constant part, as for the squared term: it can be many times the rest.
    unit = own + model.size * std::max(0.0, point.distance - model.dual.negative_part());
    objective = own + model.size * point.distance;
    difference = primal - own + lost;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return {objective, unit > 0 && std::isfinite(difference) ? difference / unit : infinity};
}

/// At most 1 where the kernel is in the ball, up to rounding.
double outside(const Model& model, const DualPoint& point) {
  constexpr double kRounding = 1e-9;
  return model.term == Term::kBall ? (point.distance / model.size - 1) / kRounding : 0;
}

/// rho to within a factor of two of what the term asks for at this a. R falls with rho.
double start_rho(const Model& model, const Vector& a, double rho) {
  if (model.term == Term::kSquared) return rho;
  const auto too_small = [&](double at) { return rho_residual(model, model.dual.at(a, at)) > 0; };
  constexpr int kMostFactors = 30;
  const bool grow = too_small(rho);
  const double factor = grow ? 4 : 0.25;
  double near = rho;
  for (int i = 0; i < kMostFactors; ++i) {
    const double far = near * factor;
    if (too_small(far) != grow) return std::sqrt(near * far);
    near = far;
  }
  return rho;
}

Iterate start_iterate(const Model& model, const Vector& start, DualPoint& point) {
  const Problem& problem = model.problem;
  Iterate x;
  Vector a = engine::box_start(problem.cost, problem.y, start);
  // Outside |a|^2 < 2 weight no kernel is best.
  if (model.term == Term::kNorm) a *= std::min(1.0, std::sqrt(model.size / a.squaredNorm()));
  x.rho = start_rho(model, a, problem.rho);
  point = model.dual.at(a, x.rho);
  // Where the box is much larger than the answer, its middle is far outside.
  const bool squared = model.term == Term::kSquared;
  const double linear = 4 * x.rho * problem.S.norm();  // up to this |a|^2 M is near S
  while (squared ? a.squaredNorm() > linear : point.gradient.dot(a) < 0) {
    a *= 0.3;
    x.rho = start_rho(model, a, x.rho);
    point = model.dual.at(a, x.rho);
  }
  // One product for every bound, of the size the gradient gives.
  constexpr double kFirstShare = 0.1;
  const double product = engine::start_product(a, point.gradient);
  x.box = engine::BoxPoint(problem.cost, std::move(a), squared ? kFirstShare * product : product);
  if (!squared) x.box.balance(point.gradient);
  return x;
}

class KktSystem {
 public:
  KktSystem(const Model& model, const Iterate& at, const DualPoint& point)
      : y_(model.problem.y), term_(model.term), residual_(rho_residual(model, point)) {
    DualCurvature curvature = model.dual.curvature(point);
    L_ = std::move(curvature.H);
    L_.diagonal() += engine::BoxEquations(at.box).diagonal();
    ok_ = cholesky(L_);
    if (!ok_) return;
    Ay_ = back_solve(L_, y_);
    yAy_ = y_.dot(Ay_);
    if (term_ == Term::kSquared) return;
    const bool ball = term_ == Term::kBall;
    v_ = ball ? Vector(-curvature.cross / square(point.rho)) : curvature.cross;
    Av_ = back_solve(L_, v_);
    // D is linear in m wherever K stays at S_+, and Newton's step would have no end.
    const double bend = 0.5 * std::abs(residual_) / (ball ? point.rho : 1 / point.rho);
    corner_ = v_.dot(Av_);
    corner_ += ball ? std::min(curvature.in_rho, -bend) : std::max(curvature.in_inverse, bend);
  }
  [[nodiscard]] bool ok() const { return ok_; }

  [[nodiscard]] Step solve(const Iterate& at, const Vector& gradient, double target,
                           const Step* before) const {
    const engine::BoxEquations box(at.box);
    const auto products = box.right_side(target, before != nullptr ? &before->box : nullptr);
    const Vector right = gradient + products.pull();
    const Vector Ar = back_solve(L_, right);
    Step step;
    if (term_ == Term::kSquared) {
      step.b = y_.dot(Ar) / yAy_;
      step.box.a = Ar - step.b * Ay_;
    } else {
      const double yAv = y_.dot(Av_);
      const double right1 = y_.dot(Ar);
      const double right2 = v_.dot(Ar) + residual_;
      const double determinant = yAv * yAv - yAy_ * corner_;
      step.b = (right2 * yAv - right1 * corner_) / determinant;
      step.m = (yAy_ * right2 - yAv * right1) / determinant;
      step.box.a = Ar - step.b * Ay_ + step.m * Av_;
    }
    engine::restore_balance(y_, step.box.a);
    step.bend = right.dot(step.box.a);
    box.complete(products, step.box);
    return step;
  }

 private:
  const Vector& y_;
  Term term_;
  double residual_;
  Matrix L_;
  bool ok_ = false;
  Vector Ay_, v_, Av_;
  double yAy_ = 0;
  double corner_ = 0;
};

void advance(const Model& model, Iterate& x, const Step& step, double length) {
  constexpr double kFurthest = 2;  // rho changes by at most e^2 at a time
  x.box.advance(step.box, length);
  x.b += length * (step.b - x.b);
  if (model.term == Term::kSquared) return;
  const double m = model.term == Term::kBall ? x.rho : 1 / x.rho;
  const double change = std::clamp(length * step.m / m, -kFurthest, kFurthest);
  x.rho *= std::exp(model.term == Term::kBall ? change : -change);
}

/// What the gradient is still off by, as a complementarity. Where mu were far below it, the bounds
/// would be settled for a kernel that is yet to change.
double unsettled(const Model& model, const Iterate& x, const DualPoint& point) {
  constexpr double kShare = 0.01;
  if (model.term != Term::kSquared) return 0;
  const engine::BoxPoint& box = x.box;
  const Vector off = point.gradient - x.b * model.problem.y + box.z_low - box.z_high;
  return kShare * off.cwiseAbs().dot(box.a.cwiseMin(box.room)) / box.count();
}

/// As far along the step as the gradient turns nearly as H says: K bends too, and where the costs
/// are large a little of that is more than all margins.
void walk(const Model& model, Iterate& x, const Step& step, double length, DualPoint& point) {
  constexpr int kMostTrials = 20;
  constexpr double kRounding = 1e-9;  // of the slope
  if (model.term == Term::kSquared && step.bend > 0) {
    const Vector barrier = engine::BoxEquations(x.box).diagonal();
    const double own = std::max(0.0, step.bend - barrier.dot(step.box.a.cwiseAbs2()));  // a'Ha
    const double slope = point.gradient.dot(step.box.a);
    for (int trial = 0; trial < kMostTrials; ++trial) {
      DualPoint next = model.dual.at(x.box.a + length * step.box.a, x.rho);
      const double more = slope - next.gradient.dot(step.box.a) - length * own;
      if (!(more > step.bend + kRounding * std::abs(slope))) {
        advance(model, x, step, length);
        point = std::move(next);
        return;
      }
      length *= std::clamp(std::sqrt(step.bend / more), 0.1, 0.7);
    }
  }
  advance(model, x, step, length);
  point = model.dual.at(x.box.a, x.rho);
}

/// Whether the bounds are as near as the multipliers can bring them, and what is left of the gap is
/// rounding: steps with the bounds kept exactly do the rest.
bool all_but_rounding(const Model& model, const Iterate& x, const Bounds& now, double tolerance) {
  constexpr double kNear = 1e-4;
  const double open = x.box.products();
  return model.term == Term::kSquared && now.gap <= kNear && open <= tolerance * now.objective;
}

class Interior : public engine::PointProblem<Iterate, Step> {
 public:
  Interior(const Model& model, const NewtonSettings& settings, const Vector& start)
      : model_(model), settings_(settings) {
    x_ = start_iterate(model, start, point_);
  }

  /// At most 1 where all tolerances are met.
  double merit() {
    now_ = bounds(model_, x_, point_);
    if (model_.term == Term::kSquared && std::isfinite(now_.gap)) {
      const double difference = now_.gap * now_.objective;
      best_.trace.push_back({now_.objective, now_.objective + difference, difference, 0});
    }
    const double residual = machine_residual(model_.problem, x_.box.a, x_.b, point_);
    return std::max({now_.gap / settings_.tolerance, residual / settings_.kkt_tolerance,
                     outside(model_, point_)});
  }
  void keep() {
    best_.info.objective = now_.objective;
    best_.info.gap = now_.gap;
    best_.alpha = x_.box.a;
    best_.b = x_.b;
    best_point_ = point_;
  }
  /// The best point, with its kernel.
  [[nodiscard]] Solution best() && {
    best_.rho = best_point_.rho;
    best_.distance = best_point_.distance;
    best_.kernel = model_.dual.kernel(best_point_);
    return std::move(best_);
  }
  [[nodiscard]] bool exhausted() const {
    return all_but_rounding(model_, x_, now_, settings_.tolerance);
  }

  [[nodiscard]] double least_target(double mu) const {
    return std::min(mu, unsettled(model_, x_, point_));
  }
  bool factor() {
    kkt_.emplace(model_, x_, point_);
    return kkt_->ok();
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    return kkt_->solve(x_, point_.gradient, target, before);
  }
  bool advance(const Step& d, double length) {
    if (!d.box.a.allFinite() || !d.box.z_low.allFinite() || !d.box.z_high.allFinite()) return false;
    walk(model_, x_, d, length, point_);
    return true;
  }

 private:
  const Model& model_;
  const NewtonSettings& settings_;
  DualPoint point_, best_point_;
  Bounds now_{};
  std::optional<KktSystem> kkt_;
  Solution best_;
};

Solution solve(const Model& model, const NewtonSettings& settings, const RunContext& ctx,
               const Vector& start) {
  constexpr double kStepFraction = 0.995;
  Interior interior(model, settings, start);
  const engine::BestSoFar end = engine::run_interior(
      interior, {.tolerance = 1, .iterations = settings.max_iterations, .patience = 15},
      kStepFraction, ctx);
  Solution best = std::move(interior).best();
  end.report(best.info);
  return best;
}

Solution of_active(const Dual& dual, ActiveAnswer answer) {
  Solution solution;
  solution.info.iterations = answer.iterations;
  solution.info.objective = answer.place.value;
  solution.info.gap = answer.measure.gap;
  solution.b = answer.measure.b;
  solution.rho = answer.place.rho;
  solution.distance = answer.place.distance;
  solution.kernel = dual.kernel(answer.place);
  solution.alpha = std::move(answer.place.a);
  return solution;
}

/// Intercept, residual and time of an answer, from what is returned, by another route than the
/// iteration's.
void measure(const Problem& problem, Solution& solution, const Stopwatch& clock) {
  const Matrix K = reconstruct(solution.kernel.U, solution.kernel.lambda);
  // Where every multiplier is at a bound, b is free in an interval, and an iteration ends anywhere
  // in it. Every solver returns the middle.
  const Vector f = K * problem.y.cwiseProduct(solution.alpha);
  solution.b = dual::least_loss_intercept(f, problem.y, problem.cost);
  const dual::SvmDual machine{
      .K = dual::SymmetricView::dense(K), .y = problem.y, .cost = problem.cost, .linear = {}};
  solution.info.kkt_residual = certify(machine, solution.alpha, solution.b).kkt_residual;
  solution.info.seconds = clock.seconds();
}

/// Solves a valid problem and takes the time.
Solution run(const Problem& problem, Term term, double size, const NewtonSettings& settings,
             const RunContext& ctx, std::span<const Vector> starts) {
  const Stopwatch clock;
  validate(problem);
  const Dual dual(problem);
  const bool squared = term == Term::kSquared;
  ActiveAnswer near;
  if (squared && !starts.empty()) {
    const long few = std::min<long>(25, settings.max_iterations);
    near = climb(fixed_rho(problem, dual, settings), starts, few, ctx);
  }
  // A start that was of no use to that is none for a method that must stay away from the bounds.
  const Vector start = squared || starts.empty() ? Vector() : starts.front();
  std::vector<Vector> places;  // from which to go on
  if (near.place.a.size() > 0) places.push_back(near.place.a);
  Solution solution = near.settled ? of_active(dual, std::move(near))
                                   : solve({problem, dual, term, size}, settings, ctx, start);
  // Where an eigenvalue of M is 0 at the answer the gradient has a kink: steps that are not
  // searched along may go back and forth over it.
  const long left = settings.max_iterations - solution.info.iterations;
  const bool stuck = !met_tolerance(solution.info.status) && left > 0;
  if (squared && stuck) {
    places.push_back(solution.alpha);
    near = climb(fixed_rho(problem, dual, settings), places, left, ctx);
    near.iterations += solution.info.iterations;
    const SolveStatus status = measured_status(solution.info.status, near.settled);
    if (near.settled || near.measure.gap < solution.info.gap) {
      solution = of_active(dual, std::move(near));
    }
    solution.info.status = status;
  }
  if (squared) {
    solution.offset = problem.rho * square(dual.negative_part());
    solution.info.objective += solution.offset;
  }
  measure(problem, solution, clock);
  return solution;
}

std::span<const Vector> one_or_none(const Vector& start) {
  return std::span<const Vector>(&start, start.size() > 0 ? 1 : 0);
}

/// With the decomposition of S, kept in `own` where the caller has none.
Problem decomposed(const Problem& problem, std::optional<SymmetricEigen>& own) {
  validate(problem);
  Problem known = problem;
  if (problem.eigen == nullptr) known.eigen = &own.emplace(symmetric_eigen(problem.S));
  return known;
}

/// Of an iteration that settles rho with a; it takes a third of them or does not settle.
constexpr long kMostJoint = 60;

bool better(const Solution& one, const Solution& other) {
  return one.info.status == SolveStatus::kSolved || one.info.gap < other.info.gap;
}

}  // namespace

Solution newton(const Problem& problem, const NewtonSettings& settings, const RunContext& ctx,
                const Vector& start) {
  return run(problem, Term::kSquared, 0, settings, ctx, one_or_none(start));
}

Solution newton(const Problem& problem, const NewtonSettings& settings, const RunContext& ctx,
                std::span<const Vector> starts) {
  return run(problem, Term::kSquared, 0, settings, ctx, starts);
}

Solution ball(const Problem& problem, double radius, const NewtonSettings& settings,
              const RunContext& ctx, const Vector& start) {
  std::optional<SymmetricEigen> own;
  Problem known = decomposed(problem, own);
  const Stopwatch clock;
  const double nearest = known.eigen->lambda.cwiseMin(0.0).norm();
  const double same = zero_threshold(known.eigen->lambda);  // the radius is known no better
  if (radius < nearest - same) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("robust machine: radius is {}, but the nearest positive semidefinite "
                            "kernel is {} away; it must be at least that",
                            radius, nearest));
  }
  if (radius <= nearest + same) return nearest_kernel(known, settings, ctx);
  known.cost = costs_in_ball(known.cost, radius, nearest);
  NewtonSettings joint = settings;
  joint.max_iterations = std::min(settings.max_iterations, kMostJoint);
  const Solution found = run(known, Term::kBall, radius, joint, ctx, one_or_none(start));
  // From here on K is in the ball exactly. Where the iteration met its tolerance this is a look at
  // its answer and no step.
  const Dual dual(known);
  const long left = std::max(0L, settings.max_iterations - found.info.iterations);
  const BallFunction inside(dual, radius);
  ActiveAnswer answer = climb(in_ball(known, inside, settings), {&found.alpha, 1}, left, ctx);
  answer.iterations += found.info.iterations;
  const bool limit = answer.iterations >= settings.max_iterations;
  const SolveStatus status = measured_status(
      limit ? SolveStatus::kIterationLimit : SolveStatus::kReducedAccuracy, answer.settled);
  Solution solution = of_active(dual, std::move(answer));
  solution.info.status = status;
  measure(known, solution, clock);
  return solution;
}

Solution norm(const Problem& problem, double weight, const NewtonSettings& settings,
              const RunContext& ctx, const Vector& start) {
  std::optional<SymmetricEigen> own;
  const Problem known = decomposed(problem, own);
  if (known.eigen->lambda.minCoeff() >= -zero_threshold(known.eigen->lambda)) {
    return norm_of_kernel(known, weight, settings, ctx);
  }
  Solution found = run(known, Term::kNorm, weight, settings, ctx, one_or_none(start));
  if (found.info.status == SolveStatus::kSolved) return found;
  long before = found.info.iterations;
  const auto take = [&](Solution other) {
    other.info.iterations = before += other.info.iterations;  // those of all runs
    if (better(other, found)) found = std::move(other);
    found.info.iterations = before;
  };
  take(search_norm(known, weight, settings, ctx));
  if (found.info.status == SolveStatus::kSolved) return found;
  take(norm_near_kernel(known, weight, settings, ctx));
  return found;
}

}  // namespace kith::robust
