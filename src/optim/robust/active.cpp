// SPDX-License-Identifier: Apache-2.0
// max D(a) over 0 <= a <= c, y'a = 0 (optim/robust/dual) by Newton's method on D itself: with
// gradient g and minus the generalised Hessian H at a,
//
//   d = argmax g'd - 1/2 d'Hd   over   0 <= a + d <= c,  y'(a + d) = 0   (one run of `smo`),
//
// then a backtracking search along d. The bounds hold exactly, so that the answer of a near problem
// is a good start, and where no bound of that one holds it is the answer: an interior point method
// can use neither. Samples with a_i = 0 that are far on their side of the margin stay there for the
// step: of H only the rows of the others are formed, which are few.
//
// Cost of a step: O(n^2) for the secular equation and 4 n^2 m flops for m samples in play.
#include "optim/robust/active.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kith/optim/dual/smo.hpp"
#include "optim/robust/point.hpp"

namespace kith::robust {
namespace {

/// Into the box, and the heavier class made lighter until y'a = 0.
Vector feasible(const Problem& problem, const Vector& start) {
  Vector a = start.cwiseMax(0.0).cwiseMin(problem.cost);
  double positive = 0;
  double negative = 0;
  for (Index i = 0; i < a.size(); ++i) (problem.y(i) > 0 ? positive : negative) += a(i);
  const double least = std::min(positive, negative);
  for (Index i = 0; i < a.size(); ++i) {
    const double own = problem.y(i) > 0 ? positive : negative;
    if (own > least) a(i) *= least / own;
  }
  return a;
}

struct Place {
  Vector a;
  DualPoint point;
};

Place best_start(const Problem& problem, const ActiveFunction& function,
                 std::span<const Vector> starts) {
  Place best;
  for (const Vector& start : starts) {
    Place one;
    one.a = feasible(problem, start);
    one.point = function.at(one.a);
    if (best.a.size() == 0 || one.point.value > best.point.value) best = std::move(one);
  }
  return best;
}

/// Samples that a step may move: support vectors, and those not far beyond the margin.
std::vector<Index> in_play(const Problem& problem, const Place& at, double b) {
  constexpr double kFar = 0.5;
  std::vector<Index> rows;
  for (Index i = 0; i < at.a.size(); ++i) {
    if (at.a(i) > 0 || at.point.gradient(i) - problem.y(i) * b > -kFar) rows.push_back(i);
  }
  return rows;
}

/// The quadratic model at a place: a machine over the samples in play.
class NewtonModel {
 public:
  NewtonModel(const Problem& problem, const ActiveFunction& function, const Place& at,
              std::vector<Index> rows)
      : rows_(std::move(rows)),
        K_(function.curvature(at.point, rows_)),
        a_(at.a(rows_)),
        samples_(at.a.size()),
        model_{.K = dual::SymmetricView::dense(K_),
               .y = problem.y(rows_),
               .cost = problem.cost(rows_),
               .linear = {}} {
    const Vector Ha = model_.y.cwiseProduct(K_ * model_.y.cwiseProduct(a_));
    model_.linear = -(Vector(at.point.gradient(rows_)) + Ha);
  }

  /// Its maximum, over all samples.
  [[nodiscard]] Vector target(double accuracy, const RunContext& ctx) const {
    constexpr long kMostSteps = 100000;
    const dual::SmoSolution step = dual::smo(
        model_, {.tolerance = accuracy, .gap_tolerance = accuracy, .max_iterations = kMostSteps},
        ctx, a_);
    Vector target = Vector::Zero(samples_);
    target(rows_) = step.alpha;
    return target;
  }

 private:
  std::vector<Index> rows_;
  Matrix K_;
  Vector a_;
  Index samples_;
  dual::SvmDual model_;
};

/// D is known no better.
double noise_of(const DualPoint& point) {
  return std::max(1e-14 * std::abs(point.value), point.rounding);
}

/// Moves along d as far as D rises well; false where it does not.
bool search(const ActiveFunction& function, const Vector& target, Place& place) {
  constexpr int kMostTrials = 25;
  const Vector d = target - place.a;
  const double slope = place.point.gradient.dot(d);
  if (!(slope > 0)) return false;
  const double noise = noise_of(place.point);
  double t = 1;
  for (int trial = 0; trial < kMostTrials; ++trial) {
    Place next;
    next.a = t == 1 ? target : Vector(place.a + t * d);
    next.point = function.at(next.a);
    if (next.point.value >= place.point.value + 1e-4 * t * slope - noise) {
      place = std::move(next);
      return true;
    }
    // Where the slope would be 0 if it fell linearly.
    const double there = next.point.gradient.dot(d);
    const double root = there < slope ? t * slope / (slope - there) : 0.5 * t;
    t = std::clamp(root, 0.1 * t, 0.7 * t);
  }
  return false;
}

}  // namespace

double machine_residual(const Problem& problem, const VectorRef& alpha, double b,
                        const DualPoint& point) {
  const Vector slack = point.gradient - b * problem.y;
  const Vector diagonal = problem.S.diagonal() + alpha.cwiseAbs2() / (4 * point.rho);
  const double unit = std::clamp(problem.cost.cwiseProduct(diagonal).maxCoeff(), 1e-6, 1.0);
  const double largest = alpha.maxCoeff();
  double worst = 0;
  for (Index i = 0; i < slack.size(); ++i) {
    const double room = slack(i) > 0 ? problem.cost(i) - alpha(i) : alpha(i);
    if (!(room > 0)) continue;
    const double distance = largest > 0 ? room / largest : 1.0;
    worst = std::max(worst, std::min(std::abs(slack(i)) / unit, distance));
  }
  return worst;
}

MachineView machine_view(const Problem& problem, const VectorRef& alpha, const DualPoint& point) {
  MachineView view;
  view.b = least_loss_intercept(point.Ku, problem.y, problem.cost);
  const Vector slack = point.gradient - view.b * problem.y;
  // Margins missed by rounding alone cost much where c is huge: a hair longer, the machine meets
  // them (optim/dual/certificate does the same) for twice that of the objective.
  constexpr double kHair = 4e-9;
  double longer = 0;
  for (Index i = 0; i < slack.size(); ++i) {
    if (slack(i) > 0 && slack(i) <= kHair) longer = std::max(longer, slack(i) / (1 - slack(i)));
  }
  const auto primal = [&](double delta) {
    const Vector left = (1 - (1 + delta) * (1 - slack.array())).cwiseMax(0.0);
    return 0.5 * (1 + delta) * (1 + delta) * point.uKu + problem.cost.dot(left);
  };
  double upper = primal(0);
  if (longer > 0) upper = std::min(upper, primal(longer + 1e-15));
  const double difference = upper - (alpha.sum() - 0.5 * point.uKu) + point.unused;
  const bool known = point.value > 0 && std::isfinite(difference);
  view.gap = known ? difference / point.value : std::numeric_limits<double>::infinity();
  view.kkt_residual = machine_residual(problem, alpha, view.b, point);
  return view;
}

ActiveAnswer climb(const Problem& problem, const ActiveFunction& function,
                   std::span<const Vector> starts, long most, const NewtonSettings& settings,
                   const RunContext& ctx) {
  constexpr double kFinest = 1e-15;
  constexpr int kMostIdle = 8;  // steps in a row that raise D by its rounding at most
  Place place = best_start(problem, function, starts);
  ActiveAnswer answer;
  double finer = 1;
  int idle = 0;
  while (true) {
    ctx.check_stop();
    const MachineView now = machine_view(problem, place.a, place.point);
    answer.b = now.b;
    answer.gap = now.gap;
    answer.kkt_residual = now.kkt_residual;
    answer.settled = now.gap <= settings.tolerance && now.kkt_residual <= settings.kkt_tolerance;
    if (answer.settled || answer.iterations == most || idle == kMostIdle) break;
    const double before = place.point.value;
    // Newton's steps gain from an accuracy of the square of the gap, not from more. That is of a
    // machine with margins of 1; those of the model are much larger where it bends much.
    const double accuracy = std::clamp(1e-3 * now.gap, 1e-12, 1e-4);
    const NewtonModel model(problem, function, place, in_play(problem, place, now.b));
    bool moved = false;
    while (true) {
      const Vector target = model.target(finer * accuracy, ctx);
      moved = target.allFinite() && search(function, target, place);
      if (moved || finer * accuracy <= kFinest) break;
      finer *= 1e-2;
    }
    if (!moved) break;
    idle = place.point.value > before + noise_of(place.point) ? 0 : idle + 1;
    ++answer.iterations;
  }
  answer.alpha = std::move(place.a);
  answer.point = std::move(place.point);
  return answer;
}

ActiveAnswer climb(const Problem& problem, const Dual& dual, std::span<const Vector> starts,
                   long most, const NewtonSettings& settings, const RunContext& ctx) {
  const ActiveFunction function{
      .at = [&](const Vector& alpha) { return dual.at(alpha, problem.rho); },
      .curvature =
          [&](const DualPoint& point, const std::vector<Index>& rows) {
            return dual.curvature_kernel(point, rows);
          }};
  return climb(problem, function, starts, most, settings, ctx);
}

}  // namespace kith::robust
