// SPDX-License-Identifier: Apache-2.0
// Linear maps under which samples of a class are near each other: what nca-knn and lmnn-knn learn.
// Samples are the rows of X, in coordinates of their span.
#pragma once

#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::metric {

struct LearnedMap {
  Matrix L;  ///< d x features
  SolveInfo info;
};

/// Neighbourhood components analysis (Goldberger, Roweis, Hinton, Salakhutdinov 2004): minus the
/// expected share of samples that a stochastic neighbour of their own class is drawn for,
///
///   f(A) = -1/n sum_i sum_{j of i's class} p_ij,   p_ij ~ exp(-|A x_i - A x_j|^2), j != i.
///
/// Where samples have `groups` (else none), no neighbour is drawn from the sample's own: the share
/// is that of samples whose whole group is left out. Fills the gradient in A.
/// O(n^2 (d + 1) + n d r).
[[nodiscard]] double nca_objective(const MatrixRef& X, std::span<const int> classes,
                                   const MatrixRef& A, Matrix& gradient,
                                   std::span<const int> groups = {});
/// What a first map is multiplied by. Where the features are so many or so large that
/// exp(-|Ax_i - Ax_j|^2) leaves all of the chance to the nearest neighbour (but 1e-6 of it, in the
/// median over samples), the objective is flat and has nothing to descend by: A is then halved
/// until half of the chance is left to others. Elsewhere it is 1.
[[nodiscard]] double nca_scale(const MatrixRef& X, const MatrixRef& A,
                               std::span<const int> groups = {});
/// L-BFGS from nca_scale times the start, towards a stationary point of it. kkt_residual is
/// |gradient| |A|, the slope by relative changes of A; kStationary: within 1e-3; kStopped: more,
/// and a step gained less than 1e-7, or there were as many as asked for.
[[nodiscard]] LearnedMap learn_nca(const MatrixRef& X, std::span<const int> classes,
                                   std::span<const int> groups, Matrix start, long iterations,
                                   const RunContext& ctx);

/// The program of large-margin nearest neighbours (Weinberger, Saul 2005) over positive
/// semidefinite M, with d(i, j) = (x_i - x_j)'M(x_i - x_j) and the `targets` nearest samples T_i of
/// i's class:
///
///   min  (1 - push) sum_{i, j in T_i} d(i, j)
///        + push sum_{i, j in T_i, l of another class} max(0, 1 + d(i, j) - d(i, l)).
struct LmnnProblem {
  Matrix X;
  std::vector<int> classes;
  std::vector<std::vector<Index>> targets;  ///< of each sample, nearest first
  double push = 0.5;
};
[[nodiscard]] LmnnProblem make_lmnn(const MatrixRef& X, std::span<const int> classes, Index targets,
                                    double push);
/// Its value at M = L'L; fills a subgradient in M.
[[nodiscard]] double lmnn_objective(const LmnnProblem& problem, const MatrixRef& L,
                                    Matrix& gradient);
/// Projected subgradient steps from the identity; none raises the objective. They may end far from
/// the optimum.
[[nodiscard]] LearnedMap learn_lmnn(const LmnnProblem& problem, long iterations,
                                    const RunContext& ctx);

/// Ends where the relative gap is at most `tolerance`, or after `max_steps`.
struct LmnnTolerances {
  double tolerance = 1e-3;
  long max_steps = 20000;
};
struct LmnnSolution {
  Matrix L;
  double bound = 0;  ///< no M has a smaller value
  /// gap is the distance of the value to the bound, relative to the value, or to 1 if that is
  /// larger: the margin of one triple.
  SolveInfo info;
};
/// The optimum with a bound that proves it, by accelerated steps from L, each some two of those of
/// `learn_lmnn`.
[[nodiscard]] LmnnSolution solve_lmnn(const LmnnProblem& problem, const MatrixRef& start,
                                      const LmnnTolerances& settings, const RunContext& ctx);

}  // namespace kith::metric
