// SPDX-License-Identifier: Apache-2.0
// max D(a) over 0 <= a <= cost, y'a = 0 for a concave function D by Newton's method on D itself:
// with gradient g and minus the generalised Hessian H at a,
//
//   d = argmax g'd - 1/2 d'Hd   over   0 <= a + d <= cost,  y'(a + d) = 0   (one run of `smo`),
//
// then a backtracking search along d. The bounds hold exactly, so that the answer of a near problem
// is a good start, and where no bound of that one holds it is the answer: an interior point method
// can use neither. Samples with a_i = 0 that are far on their side of the margin stay there for the
// step: of H only the rows of the others are formed, which are few.
//
// A function has
//
//   at(a)                  a Place: `a`, `value` (minus infinity outside the domain of D),
//                          `gradient`, and `noise`, to which the value is known
//   measure(place)         a Measure: `b`, `gap` and `merit`, which is at most 1 at an answer
//   curvature(place, rows) minus the Hessian on some samples, without Y on its two sides
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/optim/dual/smo.hpp"
#include "optim/engine/line_search.hpp"
#include "optim/engine/progress.hpp"

namespace kith::dual {

/// Where an ascent ended.
template <class Function>
struct Ascent {
  typename Function::Place place;
  typename Function::Measure measure;
  long iterations = 0;
  bool settled = false;  ///< its merit is at most 1
};

/// The maximum of the quadratic model with curvature K at a place, over the samples of `rows`; the
/// others stay where they are, at 0.
template <class Place>
[[nodiscard]] Vector model_optimum(const Vector& y, const Vector& cost, const Place& at,
                                   const std::vector<Index>& rows, const Matrix& K, double accuracy,
                                   const RunContext& ctx) {
  constexpr long kMostSteps = 100000;
  const Vector a = at.a(rows);
  SvmDual model{.K = SymmetricView::dense(K), .y = y(rows), .cost = cost(rows), .linear = {}};
  const Vector Ha = model.y.cwiseProduct(K * model.y.cwiseProduct(a));
  model.linear = -(Vector(at.gradient(rows)) + Ha);
  Vector target = Vector::Zero(at.a.size());
  target(rows) =
      smo(model, {.tolerance = accuracy, .gap_tolerance = accuracy, .max_iterations = kMostSteps},
          ctx, a)
          .alpha;
  return target;
}

/// Moves to `target`, or as far towards it as D rises well; false where it does not.
template <class Function>
[[nodiscard]] bool search_along(const Function& function, const Vector& target,
                                typename Function::Place& place) {
  constexpr int kMostTrials = 25;
  const Vector d = target - place.a;
  const double slope = place.gradient.dot(d);
  if (!(slope > 0)) return false;
  double t = 1;
  for (int trial = 0; trial < kMostTrials; ++trial) {
    typename Function::Place next = function.at(t == 1 ? target : Vector(place.a + t * d));
    if (next.value >= place.value + engine::kArmijo * t * slope - place.noise) {
      place = std::move(next);
      return true;
    }
    // Where the slope would be 0 if it fell linearly.
    const double there = next.gradient.size() > 0 ? next.gradient.dot(d) : slope;
    const double root = there < slope ? t * slope / (slope - there) : 0.5 * t;
    t = std::clamp(root, 0.1 * t, 0.7 * t);
  }
  return false;
}

/// From the place `start`, in at most `most` steps. Where a few do not reach the tolerance the
/// start was not near enough, or a kink of the gradient is in the way.
template <class Function>
[[nodiscard]] Ascent<Function> climb(const Function& function, const Vector& y, const Vector& cost,
                                     typename Function::Place start, long most,
                                     const RunContext& ctx) {
  constexpr double kFinest = 1e-15;
  constexpr double kFar = 0.5;   // beyond the margin
  constexpr long kMostIdle = 7;  // steps in a row that raise D by its rounding at most
  Ascent<Function> at;
  at.place = std::move(start);
  engine::BestSoFar progress({.tolerance = 1, .iterations = most, .patience = kMostIdle}, ctx);
  double finer = 1;
  while (true) {
    at.measure = function.measure(at.place);
    at.settled = at.measure.merit <= 1;
    (void)progress.offer(at.measure.merit);
    if (at.settled || !progress.goes_on()) break;
    const double before = at.place.value;
    std::vector<Index> rows;
    for (Index i = 0; i < y.size(); ++i) {
      if (at.place.a(i) > 0 || at.place.gradient(i) - y(i) * at.measure.b > -kFar)
        rows.push_back(i);
    }
    // Newton's steps gain from an accuracy of the square of the gap, not from more. That is of a
    // machine with margins of 1; those of the model are much larger where it bends much.
    const double accuracy = std::clamp(1e-3 * at.measure.gap, 1e-12, 1e-4);
    const Matrix K = function.curvature(at.place, rows);
    bool moved = false;
    while (true) {
      const Vector target = model_optimum(y, cost, at.place, rows, K, finer * accuracy, ctx);
      moved = target.allFinite() && search_along(function, target, at.place);
      if (moved || finer * accuracy <= kFinest) break;
      finer *= 1e-2;
    }
    if (!moved) break;
    if (at.place.value > before + at.place.noise) progress.progress();
    progress.stepped();
  }
  at.iterations = progress.iterations();
  return at;
}

}  // namespace kith::dual
