// SPDX-License-Identifier: Apache-2.0
// What the three interior points of the trace kernels share: start, bounds and the way they end.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optim/engine/interior.hpp"
#include "optim/trace/newton.hpp"

namespace kith::trace {

/// Of the way to gamma = 0: near it 1 / gamma is far from its quadratic model.
inline constexpr double kGammaFraction = 0.7;

/// The columns that y'a = 0 and sum gamma = 1 (`weights` gammas, 0: none) stand in.
[[nodiscard]] inline Matrix border(const Vector& y, Index weights) {
  Matrix E = Matrix::Zero(y.size() + weights, weights > 0 ? 2 : 1);
  E.col(0).head(y.size()) = y;
  if (weights > 0) E.col(1).tail(weights).setOnes();
  return E;
}

/// Where the box is much larger than the answer its middle is far outside: a becomes shorter until
/// its own decision values f() no longer exceed it.
template <class Values, class Evaluate>
void shrink_start(const Vector& y, Vector& a, const Values& f, const Evaluate& evaluate) {
  while (a.sum() < y.cwiseProduct(a).dot(f())) {
    a *= 0.3;
    evaluate();
  }
}

/// 1/2 max ratio_i + the losses of f + b.
[[nodiscard]] inline double machine_primal(const Vector& y, const Vector& cost, const Vector& ratio,
                                           const Vector& f, double b) {
  const Vector margins = y.array() * (f.array() + b);
  return 0.5 * ratio.maxCoeff() + cost.dot((1 - margins.array()).cwiseMax(0.0).matrix());
}

/// The difference of the bounds, relative to the machine. The optimum of the machine is above 0: a
/// point that is not is far from it.
[[nodiscard]] inline double merit_of(DualSolution& now) {
  if (!(now.machine > 0)) now.difference = std::numeric_limits<double>::infinity();
  return now.machine > 0 ? now.difference / now.machine : now.difference;
}

/// Products far below their share of the difference of the bounds leave a residual of the
/// equations, and smaller ones would only block the steps that remove it.
[[nodiscard]] inline double least_product(double difference, double mu, double products) {
  constexpr double kShare = 0.02;
  return std::isfinite(difference) ? std::min(mu, kShare * difference / products) : 0;
}

template <class Problem>
DualSolution run_dual(Problem& problem, double tolerance, double fraction, const RunContext& ctx) {
  const engine::BestSoFar end = engine::run_interior(
      problem, {.tolerance = tolerance, .iterations = 200, .patience = 15}, fraction, ctx);
  DualSolution best = std::move(problem.best());
  best.iterations = end.iterations();
  best.status = end.status();
  return best;
}

}  // namespace kith::trace
