// SPDX-License-Identifier: Apache-2.0
// Learning kernels of a given trace from several similarity matrices, [KTBB] (4), (6), (7).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/enum_names.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith::trace {

/// How far a kernel is from a similarity matrix, [KTBB] section 4: sum |x_ij|, |X|_F, |X|_F^2 of
/// X = K - S, or a function of X that is given.
enum class KernelLoss { kAbsolute, kNorm, kSquared, kOwn };
constexpr auto enum_names(KernelLoss /*of*/) { return named("l1", "l2", "l3", "own"); }

/// A loss of one's own: convex, at least 0, with its gradient or any subgradient. Both get X = K -
/// S_i, in kSpectral the n x 1 matrix mu_i - lambda_i; X need not be the difference of a kernel
/// that is feasible. They may be called on several threads at a time.
struct ConvexLoss {
  std::function<double(const Matrix&)> value;
  std::function<Matrix(const Matrix&)> subgradient;  ///< symmetric where its argument is
};

/// What is learned from S_1 .. S_m.
enum class KernelShape {
  kShared,    ///< one K near all of them, (4)
  kSeparate,  ///< one K_i near each S_i, (6)
  kSpectral,  ///< K_i = U_i diag(mu_i) U_i' with the eigenvectors of S_i, (7)
};

/// min over K_1 .. K_p >= 0, tr K_i = trace   of   Omega(K) + rho sum_i L(K_i - S_i),
///
///   Omega(K) = max over a of 1'a - 1/2 (sum_i sqrt(u'K_i u))^2,   u = Y a, 0 <= a <= cost, y'a =
///   0,
///
/// which for one kernel is the dual of the support vector machine, (1), and for several (10):
/// the maximum over weights gamma of the simplex of 1'a - 1/2 sum_i u'K_i u / gamma_i. In kShared
/// p = 1 and every S_i is compared with that K; else p = m. In kSpectral the loss is one of
/// vectors, L(mu_i - lambda_i), and kAbsolute is not provided.
struct Problem {
  std::span<const Matrix> S;  ///< m >= 1, symmetric, both triangles, not owned
  Vector y;                   ///< +1 and -1, both present
  Vector cost;                ///< > 0, one per sample
  double rho = 1;             ///< > 0
  double trace = 1;           ///< > 0
  KernelLoss loss = KernelLoss::kSquared;
  KernelShape shape = KernelShape::kShared;
  const ConvexLoss* own = nullptr;  ///< of kOwn, not owned
  /// Of every S_i, in kShared of their mean alone: what a caller with many problems on the same
  /// matrices has already. Empty: made where needed. Not owned.
  std::span<const SymmetricEigen> eigen;
};

/// Throws Error(kInvalidArgument) naming the first entry that breaks a rule stated above.
void validate(const Problem& problem);

/// A point of the dual problem, which bounds the optimum from below: for any feasible a and gamma
/// and any Z_i with max|z_ij| <= rho (kAbsolute) or |Z_i|_F <= rho (kNorm),
///
///   1'a - sum_i <Z_i, S_i> + trace sum_k lambda_min(W_k),
///
/// W_k = Z_k - u u' / (2 gamma_k), or for the one shared kernel sum_i Z_i - u u' / 2. In kSpectral
/// Z_i is a vector z_i, S_i its eigenvalues, and lambda_min the least of z_ij - (v_ij'u)^2 /
/// (2 gamma_i). For kSquared the best Z_i follow from a and gamma, and none are kept. For kOwn the
/// points X_i are kept at which Z_i = rho L'(X_i): by its tangent there L is at least
/// L(X_i) + <L'(X_i), K - S_i - X_i>, so that sum_i rho L(X_i) - <Z_i, X_i> joins the bound.
struct Proof {
  Vector alpha;
  Vector gamma;           ///< p
  std::vector<Matrix> Z;  ///< m, none for kSquared, X_i for kOwn; n x 1 in kSpectral
};

struct Solution {
  Vector alpha;
  double b = 0;
  Vector gamma;  ///< p weights, sum 1: the decision is sum_i K_i u / gamma_i + b
  /// The p kernels: positive eigenvalues alone, ascending; in kSpectral mu_i in the order of the
  /// eigenvalues of S_i, zeros included.
  std::vector<SymmetricEigen> kernels;
  Proof proof;
  double machine = 0;  ///< Omega(K), the objective's part that no loss enters
  double lower = 0;    ///< proved by `proof`, or by the mirror descent's own certificate
  double offset = 0;   ///< that of the certificate
  /// objective is the value at the kernels, an upper bound of the optimum; gap is (objective -
  /// lower) / (objective - offset).
  SolveInfo info;
};

/// What a solution achieves, from the data alone.
struct Certificate {
  double upper = 0;  ///< the primal of the machine at (alpha, b) on the kernels, plus the losses
  /// Of `proof`, its Z drawn into the ball of the loss where outside, for kOwn by the value and the
  /// gradient of the loss at its points; for kSquared of its alpha and
  /// gamma alone, with the Z that are best for them.
  double lower = 0;
  /// For kSquared the least loss of kernels of the trace, else 0. Where it is nearly all of the
  /// objective it says nothing of the machine.
  double offset = 0;
  /// (upper - lower) / (upper - offset). For kSquared the three differences are computed as such,
  /// with digits that the bounds themselves do not have.
  double gap = 0;
  /// Largest violation of the constraints on alpha (both), gamma and the kernels, each relative to
  /// its size; in kSpectral the eigenvectors, which must be those of S_i, included.
  double feasibility = 0;
  /// Largest violation of complementarity by (alpha, b) on the kernels, as in SvmCertificate; for
  /// kSquared, whose bound is flat at its best alpha, also by that of the proof.
  double kkt_residual = 0;
};
[[nodiscard]] Certificate certify(const Problem& problem, const Solution& solution);

/// Sets machine, lower, offset and the objective, gap and kkt_residual of info to what the solution
/// achieves for this problem, as certify has them: at other costs than those it was found for, say.
void update_evidence(const Problem& problem, Solution& solution);

/// 1e-6, but 1e-3 for kAbsolute, whose splitting method closes slowly, and 1e-4 for kOwn and for
/// kNorm in kSpectral, whose bounds rounding keeps apart where mu is lambda.
[[nodiscard]] double default_tolerance(KernelLoss loss, KernelShape shape);

struct Settings {
  double tolerance = 0;     ///< relative gap accepted; 0: default_tolerance
  long max_iterations = 0;  ///< outer ones; 0: 100, or 1000 for kAbsolute
};

/// kSquared by an interior point method in (a, gamma), or in (a, gamma, K) where that stalls; kNorm
/// by a search for the m weights w_i = rho / (2 |K_i - S_i|) with which sum_i w_i |K_i - S_i|^2 has
/// the same solution; kAbsolute by splitting (ADMM) with that method as its step in K; kOwn by
/// accelerated proximal gradient steps with the same, which need a gradient without jumps to arrive
/// (a loss with kinks is for papers::mirror_descent, to its tolerance). iterations
/// counts the outer ones, of kSquared the interior point's. Ends with kSolved, kReducedAccuracy
/// (rounding ended the progress), kIterationLimit or kNumericalFailure. Throws
/// Error(kInvalidArgument) for a malformed problem, Error(kInterrupted) when stopped.
[[nodiscard]] Solution learn_kernel(const Problem& problem, const Settings& settings = {},
                                    const RunContext& ctx = {});

/// One of kith's own as such a function.
[[nodiscard]] ConvexLoss convex_loss(KernelLoss loss);

}  // namespace kith::trace
