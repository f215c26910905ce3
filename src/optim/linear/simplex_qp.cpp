// SPDX-License-Identifier: Apache-2.0
// The loops stand alone. They are run for each sample, last microseconds, and are not interrupted:
// - the active set ends after finitely many steps, and counts nothing else;
// - block pivoting has no point that gets better: it counts the signs that are wrong, and leaves
// the
//   program to the active set where their number stops falling;
// - `pairwise`, where the program is not convex, takes exact steps with no length to search for,
//   and ends at a stationary point, which is no merit that falls;
// - `entropy_newton` is started at the answer for a larger weight, and takes a few steps from
//   there.
#include "kith/optim/linear/simplex_qp.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "numerics/cholesky.hpp"
#include "optim/engine/line_search.hpp"

namespace kith::linear {
namespace {

constexpr double kTolerance = 1e-11;  // of the residual, relative to the scale of the data

double scale_of(const MatrixRef& H, const VectorRef& s) {
  if (s.size() == 0) return 1;
  return std::max(
      {H.cwiseAbs().maxCoeff(), s.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min()});
}

double objective(const MatrixRef& H, const VectorRef& s, const VectorRef& w) {
  return 0.5 * w.dot(H * w) - s.dot(w);
}

Vector best_vertex(const MatrixRef& H, const VectorRef& s) {
  Index best = 0;
  (0.5 * H.diagonal() - s).minCoeff(&best);
  Vector w = Vector::Zero(s.size());
  w(best) = 1;
  return w;
}

/// The minimum as if H were its diagonal, w_i = max(0, s_i - t) / H_ii with t such that they sum to
/// 1: near the answer where a ridge rules, and then with as many positive weights as that has,
/// which a vertex would collect one factorisation at a time. The best vertex where the diagonal is
/// not positive.
Vector start_of(const MatrixRef& H, const VectorRef& s) {
  const Index n = s.size();
  if (n == 0 || !(H.diagonal().minCoeff() > 0)) return best_vertex(H, s);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return s(i) > s(j); });
  // Relative to the largest s, lest a large constant in s or a large H drown the differences.
  const double top = s(order.front());
  const double unit = H.diagonal().minCoeff();
  double inverse = 0;
  double weighted = 0;
  double t = 0;
  for (const Index i : order) {
    if (inverse > 0 && s(i) - top <= t) break;
    inverse += unit / H(i, i);
    weighted += (s(i) - top) * (unit / H(i, i));
    t = (weighted - unit) / inverse;
  }
  Vector w = ((s.array() - top - t).max(0.0) / H.diagonal().array()).matrix();
  const double sum = w.sum();
  if (!(sum > 0) || !std::isfinite(sum)) return best_vertex(H, s);
  return w / sum;
}

std::vector<Index> positive(const Vector& w) {
  std::vector<Index> free;
  for (Index i = 0; i < w.size(); ++i) {
    if (w(i) > 0) free.push_back(i);
  }
  return free;
}

/// The minimum over the free variables with sum 1 and no bounds; nothing where H is not positive
/// definite on them.
std::optional<Vector> equality_minimum(const MatrixRef& H, const VectorRef& s,
                                       const std::vector<Index>& free) {
  Matrix L = H(free, free);
  if (!cholesky(L)) return std::nullopt;
  const Vector u = back_solve(L, Vector(s(free)));
  const Vector v = back_solve(L, Vector(Vector::Ones(static_cast<Index>(free.size()))));
  const double sum = v.sum();
  if (!(sum > 0) || !std::isfinite(sum)) return std::nullopt;
  return u + v * ((1 - u.sum()) / sum);
}

/// Moves the free variables towards `target` until one reaches zero; true if none stops the way.
bool step_towards(const Vector& target, const std::vector<Index>& free, Vector& w) {
  double length = 1;
  Index blocking = -1;
  for (std::size_t k = 0; k < free.size(); ++k) {
    const double now = w(free[k]);
    const double then = target(static_cast<Index>(k));
    if (then >= 0 || now - then <= 0) continue;
    const double reach = now / (now - then);
    if (reach < length) {
      length = reach;
      blocking = free[k];
    }
  }
  for (std::size_t k = 0; k < free.size(); ++k) {
    w(free[k]) += length * (target(static_cast<Index>(k)) - w(free[k]));
    w(free[k]) = std::max(w(free[k]), 0.0);
  }
  if (blocking >= 0) w(blocking) = 0;
  return blocking < 0;
}

/// The bound variable whose release lowers the objective most, or -1.
Index entering(const MatrixRef& H, const VectorRef& s, const Vector& w,
               const std::vector<Index>& free, double tolerance) {
  const Vector r = H * w - s;
  double common = 0;
  for (const Index i : free) common += w(i) * r(i);  // the weights sum to 1
  Index best = -1;
  double least = common - tolerance;
  for (Index i = 0; i < w.size(); ++i) {
    if (w(i) == 0 && r(i) < least) {
      least = r(i);
      best = i;
    }
  }
  return best;
}

enum class ActiveSetEnd { kSolved, kIterationLimit, kNotConvex };

ActiveSetEnd active_set(const MatrixRef& H, const VectorRef& s, Vector& w, long& iterations) {
  const double tolerance = kTolerance * scale_of(H, s);
  const long most = 50 + 20 * w.size();
  std::vector<Index> free = positive(w);
  for (; iterations < most; ++iterations) {
    const std::optional<Vector> target = equality_minimum(H, s, free);
    if (!target) return ActiveSetEnd::kNotConvex;
    if (!step_towards(*target, free, w)) {
      free = positive(w);
      continue;
    }
    free = positive(w);
    const Index next = entering(H, s, w, free, tolerance);
    if (next < 0) return ActiveSetEnd::kSolved;
    free.push_back(next);
  }
  return ActiveSetEnd::kIterationLimit;
}

/// Block principal pivoting (Kim and Park 2011): the minimum over a guessed support, then at once
/// out with what is negative and in with what would lower the objective. Not monotone: given up
/// when the number of changes has not fallen for a few rounds.
std::optional<Vector> block_pivoting(const MatrixRef& H, const VectorRef& s,
                                     std::vector<Index> free, long& iterations) {
  constexpr int kPatience = 3;
  const double tolerance = kTolerance * scale_of(H, s);
  auto fewest = static_cast<std::size_t>(s.size()) + 1;
  for (int waiting = 0; waiting < kPatience && !free.empty(); ++iterations) {
    const std::optional<Vector> target = equality_minimum(H, s, free);
    if (!target) return std::nullopt;
    Vector w = Vector::Zero(s.size());
    w(free) = *target;
    const Vector r = H(Eigen::all, free) * *target - s;
    const double common = target->dot(r(free));  // the weights sum to 1
    std::vector<Index> next;
    std::size_t changes = 0;
    for (Index i = 0, k = 0; i < s.size(); ++i) {
      const bool is_free =
          k < static_cast<Index>(free.size()) && free[static_cast<std::size_t>(k)] == i;
      const bool stays = is_free ? (*target)(k) >= 0 : r(i) < common - tolerance;
      if (is_free) ++k;
      if (stays) next.push_back(i);
      if (stays != is_free) ++changes;
    }
    if (changes == 0) return w;
    waiting = changes < fewest ? 0 : waiting + 1;
    fewest = std::min(fewest, changes);
    free = std::move(next);
  }
  return std::nullopt;
}

/// Exact steps along the most violating pair: the objective never rises, whatever the curvature.
SolveStatus pairwise(const MatrixRef& H, const VectorRef& s, Vector& w, long& iterations) {
  const double tolerance = kTolerance * scale_of(H, s);
  Vector r = H * w - s;
  const long most = 1000 * (w.size() + 1);
  for (long step = 0; step < most; ++step, ++iterations) {
    Index low = 0;
    r.minCoeff(&low);
    Index high = -1;
    for (Index i = 0; i < w.size(); ++i) {
      if (w(i) > 0 && (high < 0 || r(i) > r(high))) high = i;
    }
    if (r(high) - r(low) <= tolerance) return SolveStatus::kStationary;
    const double curvature = H(low, low) + H(high, high) - 2 * H(low, high);
    double length = w(high);
    if (curvature > 0) length = std::min(length, (r(high) - r(low)) / curvature);
    w(low) += length;
    w(high) = length == w(high) ? 0 : w(high) - length;
    r += length * (H.col(low) - H.col(high));
  }
  return SolveStatus::kIterationLimit;
}

double entropy_value(const MatrixRef& H, const VectorRef& s, double weight, const Vector& w) {
  double entropy = 0;
  for (const double x : w) entropy += x > 0 ? x * std::log(x) : 0;
  return objective(H, s, w) + weight * entropy;
}

/// Up to a constant, which the constraint absorbs.
Vector entropy_gradient(const MatrixRef& H, const VectorRef& s, double weight, const Vector& w) {
  return H * w - s + weight * w.array().log().matrix();
}

/// max_i w_i |g_i - w'g|: zero at the minimum, and blind to weights that are rounding.
double entropy_residual(const MatrixRef& H, const VectorRef& s, double weight, const Vector& w) {
  const Vector g = entropy_gradient(H, s, weight, w);
  return (w.array() * (g.array() - w.dot(g))).abs().maxCoeff();
}

/// Newton along the simplex in the variables log w, in which no step can leave the interior and
/// tiny weights move as fast as large ones.
SolveStatus entropy_newton(const MatrixRef& H, const VectorRef& s, double weight, Vector& w,
                           long& iterations) {
  constexpr double kSmallest = 1e-280;  // below this a weight is zero for every purpose
  constexpr int kMostHalvings = 40;     // shorter steps move nothing
  const double tolerance = kTolerance * std::max(scale_of(H, s), weight);
  double value = entropy_value(H, s, weight, w);
  for (int step = 0; step < 200; ++step, ++iterations) {
    if (entropy_residual(H, s, weight, w) <= tolerance) return SolveStatus::kSolved;
    // With W = diag(w) and d = dw / w: (W H W + weight W) d = -W g - nu w, w'd = 0.
    const Vector g = entropy_gradient(H, s, weight, w);
    Matrix system = w.asDiagonal() * Matrix(H) * w.asDiagonal();
    system.diagonal() += weight * w;
    const Vector scaling = system.diagonal().cwiseSqrt().cwiseInverse();
    Matrix L = scaling.asDiagonal() * system * scaling.asDiagonal();
    if (!cholesky_with_ridge(L)) break;
    const auto solve = [&](const Vector& right) -> Vector {
      return scaling.cwiseProduct(back_solve(L, Vector(scaling.cwiseProduct(right))));
    };
    const Vector u = solve(-w.cwiseProduct(g));
    const Vector v = solve(w);
    // A weight on its way to zero may fall by any factor; it must not hold back the others.
    const Vector d = (u - v * (w.dot(u) / w.dot(v))).cwiseMax(-50.0).cwiseMin(50.0);
    const double slope = w.cwiseProduct(g).dot(d);
    const auto accept = [&](double length) {
      Vector trial = (w.array() * (length * d).array().exp()).max(kSmallest);
      trial /= trial.sum();
      const double there = entropy_value(H, s, weight, trial);
      if (!engine::passes_armijo(value, there, -length * slope)) return false;
      w = std::move(trial);
      value = there;
      return true;
    };
    if (!(engine::backtrack(1, kMostHalvings, accept) > 0)) break;
  }
  return entropy_residual(H, s, weight, w) <= 1e3 * tolerance ? SolveStatus::kReducedAccuracy
                                                              : SolveStatus::kIterationLimit;
}

}  // namespace

double simplex_residual(const MatrixRef& H, const VectorRef& s, const VectorRef& w) {
  const Vector r = H * w - s;
  double highest_used = -std::numeric_limits<double>::infinity();
  for (Index i = 0; i < w.size(); ++i) {
    if (w(i) > 0) highest_used = std::max(highest_used, r(i));
  }
  const double infeasible = std::max(std::abs(w.sum() - 1), std::max(0.0, -w.minCoeff()));
  const double violation = std::max(0.0, highest_used - r.minCoeff());
  return std::max(violation / std::max(1.0, scale_of(H, s)), infeasible);
}

SimplexQpSolution simplex_qp(const MatrixRef& H, const VectorRef& s, const Vector& start) {
  SimplexQpSolution solution;
  solution.w = start.size() == s.size() && s.size() > 0 ? start : start_of(H, s);
  switch (active_set(H, s, solution.w, solution.info.iterations)) {
    case ActiveSetEnd::kSolved:
      solution.info.status = SolveStatus::kSolved;
      break;
    case ActiveSetEnd::kIterationLimit:
      solution.info.status = SolveStatus::kIterationLimit;
      break;
    case ActiveSetEnd::kNotConvex:
      solution.info.status = pairwise(H, s, solution.w, solution.info.iterations);
      break;
  }
  solution.info.objective = objective(H, s, solution.w);
  solution.info.kkt_residual = simplex_residual(H, s, solution.w);
  return solution;
}

SimplexQpSolution convex_simplex_qp(const MatrixRef& H, const VectorRef& s, const Vector& near) {
  SimplexQpSolution solution;
  const Vector first = near.size() == s.size() && s.size() > 0 ? near : start_of(H, s);
  std::optional<Vector> w = block_pivoting(H, s, positive(first), solution.info.iterations);
  if (!w) return simplex_qp(H, s);
  solution.w = std::move(*w);
  solution.info.status = SolveStatus::kSolved;
  solution.info.objective = objective(H, s, solution.w);
  solution.info.kkt_residual = simplex_residual(H, s, solution.w);
  return solution;
}

SimplexQpSolution simplex_entropy(const MatrixRef& H, const VectorRef& s, double weight) {
  const Index n = s.size();
  SimplexQpSolution solution;
  solution.w = Vector::Constant(n, 1.0 / static_cast<double>(n));
  // From a weight at which the minimum is nearly uniform down to the one that is asked for: each
  // minimum is a good start for the next.
  double current = std::max(weight, scale_of(H, s));
  while (true) {
    solution.info.status = entropy_newton(H, s, current, solution.w, solution.info.iterations);
    if (current == weight) break;
    current = std::max(weight, 0.2 * current);
  }
  solution.info.objective = entropy_value(H, s, weight, solution.w);
  solution.info.kkt_residual =
      entropy_residual(H, s, weight, solution.w) / std::max(1.0, scale_of(H, s));
  return solution;
}

}  // namespace kith::linear
