// SPDX-License-Identifier: Apache-2.0
#include "optim/robust_point.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "kith/numerics/psd.hpp"
#include "kith/optim/smo.hpp"

namespace kith::detail {
namespace {

/// The eigenpairs above the size at which an eigenvalue counts as zero.
SymmetricEigen positive_pairs(const SymmetricEigen& eigen) {
  const double zero = zero_threshold(eigen.lambda);
  const Index count = (eigen.lambda.array() > zero).count();
  return {eigen.lambda.tail(count), eigen.U.rightCols(count)};
}

SymmetricEigen negative_pairs(const SymmetricEigen& eigen) {
  const double zero = zero_threshold(eigen.lambda);
  const Index count = (eigen.lambda.array() < -zero).count();
  return {-eigen.lambda.head(count), eigen.U.leftCols(count)};
}

}  // namespace

SplitMatrix::SplitMatrix(const RobustProblem& problem) {
  SymmetricEigen own;
  if (problem.eigen == nullptr) own = symmetric_eigen(problem.S);
  const SymmetricEigen& eigen = problem.eigen == nullptr ? own : *problem.eigen;
  const SymmetricEigen above = positive_pairs(eigen);
  const SymmetricEigen below = negative_pairs(eigen);
  positive = reconstruct(above.U, above.lambda);
  negative = reconstruct(below.U, below.lambda);
  negative_squares = below.lambda.squaredNorm();
}

double SplitMatrix::excess(const MatrixRef& K) const {
  return (K - positive).squaredNorm() + 2 * K.cwiseProduct(negative).sum();
}

RobustPoint robust_point(const RobustProblem& problem, const SplitMatrix& split,
                         const VectorRef& alpha) {
  const Vector u = problem.y.cwiseProduct(alpha);
  Matrix M = problem.S;
  M.noalias() += u * (u / (4 * problem.rho)).transpose();
  RobustPoint point;
  point.kernel = positive_pairs(symmetric_eigen(std::move(M)));
  point.K = reconstruct(point.kernel.U, point.kernel.lambda);
  point.Ku = point.K * u;
  point.penalty = problem.rho * split.excess(point.K);
  point.value = alpha.sum() - 0.5 * u.dot(point.Ku) + point.penalty;
  return point;
}

SvmDual machine_on(const RobustProblem& problem, const Matrix& K) {
  return {SymmetricView::dense(K), problem.y, problem.cost, {}};
}

double least_loss_intercept(const VectorRef& f, const VectorRef& y, const VectorRef& cost) {
  // The loss is piecewise linear in b. Its slope is -sum of the costs of class +1 at the far left
  // and grows by cost_i at b = y_i - f_i, for either class.
  std::vector<Index> order(static_cast<std::size_t>(f.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto turn = [&](Index i) { return y[i] - f[i]; };
  std::sort(order.begin(), order.end(),
            [&](Index i, Index j) { return turn(i) < turn(j) || (turn(i) == turn(j) && i < j); });
  double slope = 0;
  double total = 0;
  for (Index i = 0; i < f.size(); ++i) {
    if (y[i] > 0) slope -= cost[i];
    total += cost[i];
  }
  const double flat = 1e-14 * total;
  for (std::size_t k = 0; k < order.size(); ++k) {
    slope += cost[order[k]];
    if (slope < -flat) continue;
    const bool interval = slope <= flat && k + 1 < order.size();
    return interval ? 0.5 * (turn(order[k]) + turn(order[k + 1])) : turn(order[k]);
  }
  return order.empty() ? 0.0 : turn(order.back());
}

MachineBound machine_bound(const RobustProblem& problem, const RobustPoint& point,
                           const VectorRef& alpha, const RunContext& ctx) {
  const SvmDual machine = machine_on(problem, point.K);
  const SmoSolution best =
      smo(machine, {.tolerance = 1e-9, .gap_tolerance = 1e-10}, ctx, Vector(alpha));
  return {best.b, certify(machine, best.alpha, best.b).primal + point.penalty};
}

RobustSolution finish_robust(const RobustProblem& problem, const SplitMatrix& split,
                             const VectorRef& alpha, double upper, const RunContext& ctx) {
  RobustPoint point = robust_point(problem, split, alpha);
  const MachineBound bound = machine_bound(problem, point, alpha, ctx);
  upper = std::min(upper, bound.upper);

  RobustSolution solution;
  solution.alpha = alpha;
  solution.b = bound.b;
  solution.rho = problem.rho;
  solution.distance = (point.K - problem.S).norm();
  solution.offset = problem.rho * split.negative_squares;
  solution.info.objective = point.value + solution.offset;
  const double size = std::max(std::abs(point.value), std::abs(upper));
  solution.info.gap = size > 0 ? std::max(0.0, upper - point.value) / size : 0.0;
  solution.info.kkt_residual =
      certify(machine_on(problem, point.K), alpha, solution.b).kkt_residual;
  solution.kernel = std::move(point.kernel);
  return solution;
}

}  // namespace kith::detail
