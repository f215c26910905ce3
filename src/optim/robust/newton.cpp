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

#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"
#include "optim/robust/active.hpp"
#include "optim/robust/dual.hpp"
#include "optim/robust/norm.hpp"
#include "optim/robust/point.hpp"

namespace kith::robust {
namespace {

enum class Term { kSquared, kBall, kNorm };

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

double square(double x) { return x * x; }

class Interior : public engine::PointProblem<Iterate, Step> {
 public:
  /// `size` is the radius or the weight.
  Interior(const Problem& problem, const Dual& dual, Term term, double size,
           const NewtonSettings& settings, const Vector& start)
      : problem_(problem), dual_(dual), settings_(settings), term_(term), size_(size) {
    begin(start);
  }

  /// At most 1 where all tolerances are met.
  double merit() {
    measure_bounds();
    if (squared() && std::isfinite(gap_)) {
      const double difference = gap_ * objective_;
      best_.trace.push_back({objective_, objective_ + difference, difference, 0});
    }
    // At most 1 where the kernel is in the ball, up to rounding.
    constexpr double kRounding = 1e-9;
    const double outside = ball() ? (point_.distance / size_ - 1) / kRounding : 0;
    const double residual = machine_residual(problem_, x_.box.a, x_.b, point_);
    return std::max({gap_ / settings_.tolerance, residual / settings_.kkt_tolerance, outside});
  }
  void keep() {
    best_.info.objective = objective_;
    best_.info.gap = gap_;
    best_.alpha = x_.box.a;
    best_.b = x_.b;
    best_point_ = point_;
  }
  /// The best point, with its kernel.
  [[nodiscard]] Solution best() && {
    best_.rho = best_point_.rho;
    best_.distance = best_point_.distance;
    best_.kernel = dual_.kernel(best_point_);
    return std::move(best_);
  }
  /// Whether the bounds are as near as the multipliers can bring them, and what is left of the gap
  /// is rounding: steps with the bounds kept exactly do the rest.
  [[nodiscard]] bool exhausted() const {
    constexpr double kNear = 1e-4;
    return squared() && gap_ <= kNear && x_.box.products() <= settings_.tolerance * objective_;
  }
  /// What the gradient is still off by, as a complementarity. Where mu were far below it, the
  /// bounds would be settled for a kernel that is yet to change.
  [[nodiscard]] double least_target(double mu) const {
    constexpr double kShare = 0.01;
    if (!squared()) return 0;
    const engine::BoxPoint& box = x_.box;
    const Vector off = point_.gradient - x_.b * problem_.y + box.z_low - box.z_high;
    return std::min(mu, kShare * off.cwiseAbs().dot(box.a.cwiseMin(box.room)) / box.count());
  }

  bool factor() {
    DualCurvature curvature = dual_.curvature(point_);
    curvature.H.diagonal() += engine::BoxEquations(x_.box).diagonal();
    if (squared()) return kkt_.factor(std::move(curvature.H), problem_.y);
    const Vector v = ball() ? Vector(-curvature.cross / square(point_.rho)) : curvature.cross;
    // D is linear in m wherever K stays at S_+, and Newton's step would have no end.
    const double bend =
        0.5 * std::abs(rho_residual(point_)) / (ball() ? point_.rho : 1 / point_.rho);
    const double own =
        ball() ? std::min(curvature.in_rho, -bend) : std::max(curvature.in_inverse, bend);
    unit_ = v.norm() > 0 ? v.norm() / problem_.y.norm() : 1;
    Matrix E(v.size(), 2);
    E << problem_.y, -v / unit_;
    return kkt_.factor(std::move(curvature.H), std::move(E),
                       Vector{{0, own / square(unit_)}}.asDiagonal());
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    const engine::BoxEquations box(x_.box);
    const auto products = box.right_side(target, before != nullptr ? &before->box : nullptr);
    const Vector right = point_.gradient + products.pull();
    engine::BorderedSystem::Answer found =
        squared() ? kkt_.solve(right)
                  : kkt_.solve(right, Vector{{0, rho_residual(point_) / unit_}});
    Step step;
    step.b = found.m(0);
    if (!squared()) step.m = found.m(1) / unit_;
    step.box.a = std::move(found.d);
    engine::restore_balance(problem_.y, step.box.a);
    step.bend = right.dot(step.box.a);
    box.complete(products, step.box);
    return step;
  }

  /// As far along the step as the gradient turns nearly as H says: K bends too, and where the costs
  /// are large a little of that is more than all margins.
  bool advance(const Step& d, double length) {
    if (!d.box.a.allFinite() || !d.box.z_low.allFinite() || !d.box.z_high.allFinite()) return false;
    constexpr int kMostTrials = 20;
    constexpr double kRounding = 1e-9;  // of the slope
    if (squared() && d.bend > 0) {
      const Vector barrier = engine::BoxEquations(x_.box).diagonal();
      const double own = std::max(0.0, d.bend - barrier.dot(d.box.a.cwiseAbs2()));  // a'Ha
      const double slope = point_.gradient.dot(d.box.a);
      // The loop stands alone: it shortens a step by the gradient at its end.
      for (int trial = 0; trial < kMostTrials; ++trial) {
        DualPoint next = dual_.at(x_.box.a + length * d.box.a, x_.rho);
        const double more = slope - next.gradient.dot(d.box.a) - length * own;
        if (!(more > d.bend + kRounding * std::abs(slope))) {
          move(d, length);
          point_ = std::move(next);
          return true;
        }
        length *= std::clamp(std::sqrt(d.bend / more), 0.1, 0.7);
      }
    }
    move(d, length);
    point_ = dual_.at(x_.box.a, x_.rho);
    return true;
  }

 private:
  [[nodiscard]] bool squared() const { return term_ == Term::kSquared; }
  [[nodiscard]] bool ball() const { return term_ == Term::kBall; }

  /// R: zero where rho is the one the term asks for.
  [[nodiscard]] double rho_residual(const DualPoint& point) const {
    if (ball()) return square(point.distance) - square(size_);
    return squared() ? 0 : square(size_) / 4 - square(point.rho * point.distance);
  }

  /// rho to within a factor of two of what the term asks for at this a. R falls with rho.
  [[nodiscard]] double start_rho(const Vector& a, double rho) const {
    if (squared()) return rho;
    const auto too_small = [&](double at) { return rho_residual(dual_.at(a, at)) > 0; };
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

  void begin(const Vector& start) {
    Vector a = engine::box_start(problem_.cost, problem_.y, start);
    // Outside |a|^2 < 2 weight no kernel is best.
    if (term_ == Term::kNorm) a *= std::min(1.0, std::sqrt(size_ / a.squaredNorm()));
    x_.rho = problem_.rho;
    const double linear = 4 * x_.rho * problem_.S.norm();  // up to this |a|^2 M is near S
    const auto evaluate = [&](const Vector& at) {
      x_.rho = start_rho(at, x_.rho);
      point_ = dual_.at(at, x_.rho);
    };
    engine::shorten(a, evaluate, [&](const Vector& at) {
      return squared() ? at.squaredNorm() > linear : point_.gradient.dot(at) < 0;
    });
    // One product for every bound, of the size the gradient gives.
    constexpr double kFirstShare = 0.1;
    const double product = engine::start_product(a, point_.gradient);
    x_.box =
        engine::BoxPoint(problem_.cost, std::move(a), squared() ? kFirstShare * product : product);
    if (!squared()) x_.box.balance(point_.gradient);
  }

  /// The bounds of the optimum at the present point: the lower one, and the difference of both by
  /// the value that it is measured by.
  void measure_bounds() {
    const double sum = x_.box.a.sum();
    const double own = sum - 0.5 * point_.uKu;
    const Vector margins = 1 - (point_.gradient - x_.b * problem_.y).array();
    const double primal = engine::best_primal(problem_.cost, point_.uKu, margins);
    objective_ = point_.value;
    double difference = primal - own;
    double unit = point_.value;
    if (ball()) {
      const double excess = point_.distance - size_;
      const double share = excess > 0 ? excess / (point_.distance - dual_.negative_part()) : 0;
      const double upper = primal + share * (problem_.cost.sum() - primal);
      objective_ = unit = own;
      difference = upper - (own + point_.rho * (square(point_.distance) - square(size_)));
    } else if (term_ == Term::kNorm) {
      // Less the constant part, as for the squared term: it can be many times the rest.
      unit = own + size_ * std::max(0.0, point_.distance - dual_.negative_part());
      objective_ = own + size_ * point_.distance;
      difference += norm_bound_loss(sum, point_.uKu, point_.rho, point_.distance, size_);
    }
    const bool known = unit > 0 && std::isfinite(difference);
    gap_ = known ? difference / unit : std::numeric_limits<double>::infinity();
  }

  void move(const Step& d, double length) {
    constexpr double kFurthest = 2;  // rho changes by at most e^2 at a time
    x_.box.advance(d.box, length);
    x_.b += length * (d.b - x_.b);
    if (squared()) return;
    const double m = ball() ? x_.rho : 1 / x_.rho;
    const double change = std::clamp(length * d.m / m, -kFurthest, kFurthest);
    x_.rho *= std::exp(ball() ? change : -change);
  }

  const Problem& problem_;
  const Dual& dual_;
  const NewtonSettings& settings_;
  Term term_;
  double size_;
  DualPoint point_, best_point_;
  double objective_ = 0, gap_ = 0;
  engine::BorderedSystem kkt_;
  double unit_ = 1;  // of m, in the system
  Solution best_;
};

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
void measure(const Problem& problem, Solution& solution) {
  const Matrix K = reconstruct(solution.kernel.U, solution.kernel.lambda);
  // Where every multiplier is at a bound, b is free in an interval, and an iteration ends anywhere
  // in it. Every solver returns the middle.
  const Vector f = K * problem.y.cwiseProduct(solution.alpha);
  solution.b = dual::least_loss_intercept(f, problem.y, problem.cost);
  solution.info.kkt_residual =
      certify(machine_on(problem, K), solution.alpha, solution.b).kkt_residual;
}

/// Solves a valid problem and takes the time.
Solution run(const Problem& problem, Term term, double size, const NewtonSettings& settings,
             const RunContext& ctx, std::span<const Vector> starts) {
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
  Solution solution;
  if (near.settled) {
    solution = of_active(dual, std::move(near));
  } else {
    constexpr double kStepFraction = 0.995;
    Interior interior(problem, dual, term, size, settings, start);
    const engine::BestSoFar end = engine::run_interior(
        interior, {.tolerance = 1, .iterations = settings.max_iterations, .patience = 15},
        kStepFraction, ctx);
    solution = std::move(interior).best();
    end.report(solution.info);
  }
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
  measure(problem, solution);
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
  const double nearest = known.eigen->lambda.cwiseMin(0.0).norm();
  const double same = zero_threshold(known.eigen->lambda);  // the radius is known no better
  if (radius < nearest - same) {
    engine::refuse(
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
  measure(known, solution);
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
  Solution other = search_norm(known, weight, settings, ctx);
  const long iterations = found.info.iterations + other.info.iterations;
  const bool better = other.info.status == SolveStatus::kSolved || other.info.gap < found.info.gap;
  if (better) found = std::move(other);
  found.info.iterations = iterations;
  return found;
}

}  // namespace kith::robust
