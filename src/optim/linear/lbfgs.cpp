// SPDX-License-Identifier: Apache-2.0
// Nocedal and Wright, Numerical Optimization, algorithms 7.4 (two loops) and 7.5.
#include "kith/optim/linear/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "optim/engine/line_search.hpp"
#include "optim/engine/progress.hpp"

namespace kith::linear {
namespace {

constexpr int kMostTrials = 50;
constexpr double kSmallestCurvature = 1e-12;  // of |s| |y|: less is rounding

struct Pair {
  Vector s, y;
  double rho = 0;
};

/// -H g for the inverse Hessian H that the pairs stand for.
Vector direction(const std::deque<Pair>& pairs, Vector g) {
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = pairs[i].rho * pairs[i].s.dot(g);
    g -= alpha[i] * pairs[i].y;
  }
  if (!pairs.empty()) g *= pairs.back().s.dot(pairs.back().y) / pairs.back().y.squaredNorm();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double beta = pairs[i].rho * pairs[i].y.dot(g);
    g += (alpha[i] - beta) * pairs[i].s;
  }
  return -g;
}

}  // namespace

LbfgsSolution lbfgs(const SmoothFunction& f, Vector start, const LbfgsSettings& settings,
                    const RunContext& ctx) {
  LbfgsSolution solution{.x = std::move(start), .info = {}};
  Vector gradient(solution.x.size());
  double value = f(solution.x, gradient);
  std::deque<Pair> pairs;
  engine::BestSoFar progress({.iterations = settings.max_iterations}, ctx);
  while (progress.goes_on()) {
    const double scale = std::max(1.0, std::abs(value));
    const double steepest = gradient.size() > 0 ? gradient.cwiseAbs().maxCoeff() : 0;
    if (steepest <= settings.gradient_tolerance * scale) {
      progress.end(SolveStatus::kStationary);
      break;
    }
    Vector step = direction(pairs, gradient);
    if (!(step.dot(gradient) < 0)) {
      pairs.clear();
      step = -gradient;
    }
    const double longest = pairs.empty() ? std::min(1.0, 1 / gradient.norm()) : 1;
    const double slope = step.dot(gradient);
    Vector next, next_gradient(gradient.size());
    double next_value = value;
    const double length = engine::backtrack(longest, kMostTrials, [&](double trial) {
      next = solution.x + trial * step;
      next_value = f(next, next_gradient);
      return engine::passes_armijo(value, next_value, -trial * slope);
    });
    if (!(length > 0) && pairs.empty()) {
      progress.end(SolveStatus::kReducedAccuracy);
      break;
    }
    progress.stepped();
    if (!(length > 0)) {
      pairs.clear();  // once more along the gradient itself
      continue;
    }
    Pair pair{.s = next - solution.x, .y = next_gradient - gradient};
    const double curvature = pair.s.dot(pair.y);
    if (curvature > kSmallestCurvature * pair.s.norm() * pair.y.norm()) {
      pair.rho = 1 / curvature;
      pairs.push_back(std::move(pair));
      if (std::ssize(pairs) > settings.memory) pairs.pop_front();
    }
    const double decrease = value - next_value;
    solution.x = std::move(next);
    gradient = std::move(next_gradient);
    value = next_value;
    if (decrease <= settings.decrease_tolerance * scale) {
      progress.end(SolveStatus::kStationary);
    }
  }
  progress.report(solution.info);
  solution.info.objective = value;
  solution.info.kkt_residual = gradient.size() > 0 ? gradient.cwiseAbs().maxCoeff() : 0;
  return solution;
}

}  // namespace kith::linear
