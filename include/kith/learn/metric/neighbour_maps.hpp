// SPDX-License-Identifier: Apache-2.0
// Linear maps under which samples of a class are near each other: what nca-knn and lmnn-knn learn.
// Samples are the rows of X, in coordinates of their span.
#pragma once

#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith {

struct LearnedMap {
  Matrix L;  ///< d x features
  SolveInfo info;
};

/// Neighbourhood components analysis (Goldberger, Roweis, Hinton, Salakhutdinov 2004): minus the
/// expected share of samples that a stochastic neighbour of their own class is drawn for,
///
///   f(A) = -1/n sum_i sum_{j of i's class} p_ij,   p_ij ~ exp(-|A x_i - A x_j|^2), j != i.
///
/// Fills the gradient in A. O(n^2 (d + 1) + n d r).
[[nodiscard]] double nca_objective(const MatrixRef& X, std::span<const int> classes,
                                   const MatrixRef& A, Matrix& gradient);
/// A stationary point of it by L-BFGS.
[[nodiscard]] LearnedMap learn_nca(const MatrixRef& X, std::span<const int> classes, Matrix start,
                                   long iterations, const RunContext& ctx);

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
/// Projected subgradient steps from the identity; none raises the objective. How near it came says
/// the certificate.
[[nodiscard]] LearnedMap learn_lmnn(const LmnnProblem& problem, long iterations,
                                    const RunContext& ctx);

/// How far M = L'L is from the optimum of the program, from the data alone: a lower bound by its
/// dual, and where a proximal step from M leads, which is M itself where M is optimal.
struct LmnnCertificate {
  double primal = 0;
  double bound = 0;         ///< no M has a smaller value
  double gap = 0;           ///< their difference, relative to the value, or to 1 if that is larger
  double kkt_residual = 0;  ///< |M - moved|, relative to the larger of both
  Matrix moved;

  [[nodiscard]] bool within(double tolerance) const {
    return gap <= tolerance && kkt_residual <= tolerance;
  }
};
/// What a solution is called solved by; the certificate looks no further.
inline constexpr double kLmnnTolerance = 1e-7;
/// At most `steps` on the dual, each as expensive as one of `learn_lmnn`. Beyond 20 million triples
/// gap and residual are NaN.
[[nodiscard]] LmnnCertificate certify_lmnn(const LmnnProblem& problem, const MatrixRef& L,
                                           long steps, const RunContext& ctx);

}  // namespace kith
