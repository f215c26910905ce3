// SPDX-License-Identifier: Apache-2.0
// Both gradients are sums over pairs (optim/metric/pair_scatter.hpp).
#include "kith/optim/metric/neighbour_maps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kith/numerics/symmetric_eigen.hpp"
#include "kith/optim/linear/lbfgs.hpp"
#include "numerics/distances.hpp"
#include "optim/engine/progress.hpp"
#include "optim/metric/pair_scatter.hpp"

namespace kith::metric {
namespace {

constexpr double kStepGrowth = 1.2;  // after a step that lowered the objective
constexpr double kSmallestStep = 1e-14;
constexpr double kSmallestDecrease = 1e-7;  // of the objective
constexpr double kStationary = 1e-3;        // what a map may leave of NCA's slope, as residual

/// What is never drawn is infinitely far: a sample for itself, and those of its group.
void part_from_own(Matrix& D, std::span<const int> groups) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  D.diagonal().setConstant(kFar);
  if (groups.empty()) return;
  for (Index j = 0; j < D.cols(); ++j) {
    for (Index i = 0; i < D.rows(); ++i) {
      if (groups[static_cast<std::size_t>(i)] == groups[static_cast<std::size_t>(j)]) {
        D(i, j) = kFar;
      }
    }
  }
}

/// Median over samples of the chance that another than the likeliest neighbour is drawn, under a
/// map whose squared distances are `squared` times D.
double chance_beside_the_nearest(const Matrix& D, double squared) {
  const Index n = D.rows();
  std::vector<double> chances;
  for (Index i = 0; i < n; ++i) {
    const Vector others = D.col(i);
    const double nearest = others.minCoeff();
    if (std::isinf(nearest)) {  // nobody is of another group
      chances.push_back(0);
      continue;
    }
    const double all = (squared * (nearest - others.array())).exp().sum();
    chances.push_back(1 - 1 / all);
  }
  const auto middle = chances.begin() + n / 2;
  std::nth_element(chances.begin(), middle, chances.end());
  return *middle;
}

}  // namespace

double nca_scale(const MatrixRef& X, const MatrixRef& A, std::span<const int> groups) {
  constexpr double kSaturated = 1e-6;
  constexpr double kSoft = 0.5;
  constexpr int kMostHalvings = 500;
  if (X.rows() < 3) return 1;
  Matrix D = squared_distances(X * A.transpose(), 1);
  part_from_own(D, groups);
  if (chance_beside_the_nearest(D, 1) >= kSaturated) return 1;
  double scale = 1;
  for (int m = 0; m < kMostHalvings && chance_beside_the_nearest(D, scale * scale) < kSoft; ++m) {
    scale /= 2;
  }
  return scale;
}

double nca_objective(const MatrixRef& X, std::span<const int> classes, const MatrixRef& A,
                     Matrix& gradient, std::span<const int> groups) {
  const Index n = X.rows();
  Matrix D = squared_distances(X * A.transpose(), 1);
  part_from_own(D, groups);
  Matrix W(n, n);
  double right = 0;
  for (Index i = 0; i < n; ++i) {
    const double nearest = D.row(i).minCoeff();
    Vector p = Vector::Zero(n);
    if (std::isfinite(nearest)) p = (nearest - D.row(i).transpose().array()).exp();
    const double sum = p.sum();
    if (sum > 0) p /= sum;
    double own = 0;
    for (Index j = 0; j < n; ++j) {
      if (classes[static_cast<std::size_t>(j)] == classes[static_cast<std::size_t>(i)]) own += p(j);
    }
    right += own;
    for (Index j = 0; j < n; ++j) {
      const bool same =
          classes[static_cast<std::size_t>(j)] == classes[static_cast<std::size_t>(i)];
      W(i, j) = p(j) * (own - (same ? 1 : 0));
    }
  }
  // d own_i = sum_j W_ij dD_ij, and D_ij = |A (x_i - x_j)|^2.
  const double count = static_cast<double>(std::max<Index>(1, n));
  gradient = -2 / count * A * pair_scatter(X, W);
  return -right / count;
}

LearnedMap learn_nca(const MatrixRef& X, std::span<const int> classes, std::span<const int> groups,
                     Matrix start, long iterations, const RunContext& ctx) {
  const Index rows = start.rows();
  const Index cols = start.cols();
  // The samples are scaled and not the map, whose steps begin with a length of about 1.
  const double scale = nca_scale(X, start, groups);
  const Matrix samples = scale * X;
  const linear::SmoothFunction f = [&](const Vector& x, Vector& slope) {
    Matrix gradient;
    const double value = nca_objective(
        samples, classes, Eigen::Map<const Matrix>(x.data(), rows, cols), gradient, groups);
    slope = Eigen::Map<const Vector>(gradient.data(), gradient.size());
    return value;
  };
  linear::LbfgsSolution solution =
      linear::lbfgs(f, Eigen::Map<const Vector>(start.data(), start.size()),
                    {.decrease_tolerance = 1e-7, .max_iterations = iterations}, ctx);
  Vector slope;
  (void)f(solution.x, slope);
  SolveInfo& info = solution.info;
  info.kkt_residual = slope.norm() * solution.x.norm();  // the same in every unit of the samples
  info.status = info.kkt_residual <= kStationary ? SolveStatus::kStationary : SolveStatus::kStopped;
  return {.L = scale * Eigen::Map<const Matrix>(solution.x.data(), rows, cols), .info = info};
}

LmnnProblem make_lmnn(const MatrixRef& X, std::span<const int> classes, Index targets,
                      double push) {
  LmnnProblem problem{.X = X,
                      .classes = {classes.begin(), classes.end()},
                      .targets = std::vector<std::vector<Index>>(classes.size()),
                      .push = push};
  const Matrix D = squared_distances(X, 1);
  for (Index i = 0; i < X.rows(); ++i) {
    std::vector<Index>& own = problem.targets[static_cast<std::size_t>(i)];
    for (Index j = 0; j < X.rows(); ++j) {
      if (j != i && classes[static_cast<std::size_t>(j)] == classes[static_cast<std::size_t>(i)]) {
        own.push_back(j);
      }
    }
    std::stable_sort(own.begin(), own.end(), [&](Index a, Index b) { return D(i, a) < D(i, b); });
    if (std::ssize(own) > targets) own.resize(static_cast<std::size_t>(targets));
  }
  return problem;
}

double lmnn_objective(const LmnnProblem& problem, const MatrixRef& L, Matrix& gradient) {
  const Index n = problem.X.rows();
  const Matrix D = squared_distances(problem.X * L.transpose(), 1);
  Matrix W = Matrix::Zero(n, n);
  double pulled = 0;
  double pushed = 0;
  for (Index i = 0; i < n; ++i) {
    for (const Index j : problem.targets[static_cast<std::size_t>(i)]) {
      pulled += D(i, j);
      W(i, j) += 1 - problem.push;
      for (Index l = 0; l < n; ++l) {
        const bool other = problem.classes[static_cast<std::size_t>(l)] !=
                           problem.classes[static_cast<std::size_t>(i)];
        const double violation = 1 + D(i, j) - D(i, l);
        if (!other || violation <= 0) continue;
        pushed += violation;
        W(i, j) += problem.push;
        W(i, l) -= problem.push;
      }
    }
  }
  gradient = pair_scatter(problem.X, W);
  return (1 - problem.push) * pulled + problem.push * pushed;
}

LearnedMap learn_lmnn(const LmnnProblem& problem, long iterations, const RunContext& ctx) {
  const Index r = problem.X.cols();
  /// M with a root of it.
  struct Metric {
    Matrix M, L;
  };
  const auto projected = [](const Matrix& M) {
    const SymmetricEigen eigen = symmetric_eigen(M);
    const Vector kept = eigen.lambda.cwiseMax(0.0);
    Metric metric{.M = eigen.U * kept.asDiagonal() * eigen.U.transpose(),
                  .L = kept.cwiseSqrt().asDiagonal() * eigen.U.transpose()};
    return metric;
  };
  Metric metric{.M = Matrix::Identity(r, r), .L = Matrix::Identity(r, r)};
  Matrix gradient;
  LearnedMap learned;
  double value = lmnn_objective(problem, metric.L, gradient);
  double step = gradient.norm() > 0 ? 0.1 * std::sqrt(static_cast<double>(r)) / gradient.norm() : 0;
  engine::BestSoFar progress({.iterations = iterations}, ctx);
  while (step > kSmallestStep && progress.goes_on()) {
    Metric next = projected(metric.M - step * gradient);
    Matrix next_gradient;
    const double next_value = lmnn_objective(problem, next.L, next_gradient);
    if (!(next_value < value)) {
      step /= 2;
      continue;
    }
    const double decrease = value - next_value;
    metric = std::move(next);
    gradient = std::move(next_gradient);
    value = next_value;
    progress.stepped();
    step *= kStepGrowth;
    if (decrease <= kSmallestDecrease * value) break;
  }
  progress.end(SolveStatus::kStopped);  // the number of steps is a part of the rule
  progress.report(learned.info);
  learned.L = std::move(metric.L);
  learned.info.objective = value;
  return learned;
}

}  // namespace kith::metric
