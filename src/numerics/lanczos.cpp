// SPDX-License-Identifier: Apache-2.0
// Lanczos with full reorthogonalisation:
//   A Q_j = Q_j T_j + beta_j q_{j+1} e_j',  T_j tridiagonal (alpha, beta),
//   T_j s = theta s  gives the Ritz pair (theta, Q_j s) with residual norm beta_j |s_j|.
// Cost of j steps: j products with A and 4 n j^2 flops. There is no restart: the basis is a small
// part of the n^2 doubles of a dense A, and a restart only ever slows convergence down. The loop
// stands alone: it ends by residuals that only a decomposition of T_j tells, now and then, or with
// the space.
#include "numerics/lanczos.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kith/core/error.hpp"
#include "numerics/lapack.hpp"

namespace kith::detail {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

struct TridiagonalPairs {
  Vector theta;
  Matrix s;
};

/// The `count` smallest pairs of the tridiagonal matrix, by bisection and inverse iteration.
TridiagonalPairs smallest_of(const std::vector<double>& alpha, const std::vector<double>& beta,
                             Index count) {
  const int n = static_cast<int>(alpha.size());
  Vector d = Eigen::Map<const Vector>(alpha.data(), n);
  Vector e = Vector::Zero(n);
  if (n > 1) e.head(n - 1) = Eigen::Map<const Vector>(beta.data(), n - 1);
  const char vectors = 'V';
  const char by_index = 'I';
  const int first = 1;
  const int last = static_cast<int>(std::min<Index>(count, n));
  const double unused = 0;
  const double tolerance = 0;  // LAPACK's best
  int found = 0;
  Vector w(n);
  TridiagonalPairs pairs{Vector(), Matrix(n, last)};
  std::vector<int> support(2 * static_cast<std::size_t>(n));
  const int lwork = 20 * n;
  const int liwork = 10 * n;
  std::vector<double> work(static_cast<std::size_t>(lwork));
  std::vector<int> iwork(static_cast<std::size_t>(liwork));
  int info = 0;
  dstevr_(&vectors, &by_index, &n, d.data(), e.data(), &unused, &unused, &first, &last, &tolerance,
          &found, w.data(), pairs.s.data(), &n, support.data(), work.data(), &lwork, iwork.data(),
          &liwork, &info);
  if (info != 0 || found != last) {
    throw Error(ErrorCode::kInternal, "LAPACK dstevr failed on a tridiagonal matrix");
  }
  pairs.theta = w.head(last);
  return pairs;
}

/// w -= B (B' w), twice: once loses orthogonality where w nearly lies in the span of B.
void orthogonalise(Eigen::Ref<Vector> w, const MatrixRef& B, Vector& coefficients) {
  if (B.cols() == 0) return;
  for (int pass = 0; pass < 2; ++pass) {
    coefficients.noalias() = B.transpose() * w;
    w.noalias() -= B * coefficients;
  }
}

/// Whether the smallest pairs meet the goal; `pairs` may hold one more than wanted, for the gap.
bool good_enough(const TridiagonalPairs& pairs, double beta, Index steps, const LanczosGoal& goal) {
  const Index wanted = std::min(goal.count, pairs.theta.size());
  const Index last = steps - 1;
  if (wanted < goal.count) return false;
  for (Index i = 0; i < wanted; ++i) {
    const double r = beta * std::abs(pairs.s(last, i));
    const double gap = wanted < pairs.theta.size() ? pairs.theta[wanted] - pairs.theta[i] : 0;
    const double error = gap > r ? r * r / gap : r;
    if (r > goal.residual) return false;
    if (error > goal.relative * std::abs(pairs.theta[i]) + goal.absolute) return false;
  }
  return true;
}

}  // namespace

LanczosResult lanczos(const SymmetricOperator& A, const Vector& start, const MatrixRef& locked,
                      const LanczosGoal& goal, const RunContext& ctx) {
  const Index n = start.size();
  const Index max_steps = std::min(goal.max_basis, n - locked.cols());
  std::vector<double> alpha;
  std::vector<double> beta;
  Matrix Q(n, std::min<Index>(max_steps, 64));
  Vector coefficients;
  Vector w = start;
  orthogonalise(w, locked, coefficients);
  LanczosResult result;
  if (max_steps == 0 || w.norm() == 0) return result;
  w /= w.norm();
  TridiagonalPairs pairs;
  Index next_check = std::min<Index>(max_steps, 2 * goal.count + 6);
  double scale = goal.norm;
  for (Index j = 0;; ++j) {
    ctx.check_stop();
    if (j == Q.cols()) Q.conservativeResize(Eigen::NoChange, std::min(max_steps, 2 * j));
    Q.col(j) = w;
    A(Q.col(j), w);
    alpha.push_back(Q.col(j).dot(w));
    orthogonalise(w, locked, coefficients);
    orthogonalise(w, Q.leftCols(j + 1), coefficients);
    beta.push_back(w.norm());
    scale = std::max({scale, std::abs(alpha.back()), beta.back()});
    const Index steps = j + 1;
    const bool invariant = beta.back() <= static_cast<double>(n) * kEps * scale;
    if (!invariant && steps < next_check && steps < max_steps) {
      w /= beta.back();
      continue;
    }
    pairs = smallest_of(alpha, beta, goal.count + 1);
    result.converged = invariant || good_enough(pairs, beta.back(), steps, goal);
    if (result.converged || steps == max_steps) {
      const Index kept = std::min(goal.count, pairs.theta.size());
      result.theta = pairs.theta.head(kept);
      result.vectors.noalias() = Q.leftCols(steps) * pairs.s.leftCols(kept);
      result.residual = beta.back() * pairs.s.row(steps - 1).head(kept).cwiseAbs().transpose();
      return result;
    }
    next_check = steps + std::max<Index>(4, steps / 16);
    w /= beta.back();
  }
}

}  // namespace kith::detail
