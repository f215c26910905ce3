// SPDX-License-Identifier: Apache-2.0
// The support vector machine that learns how the spectrum of its similarities is modified, [CGR]
// (10) and (12). With S = U diag(lambda) U', K_a = U diag(a .* lambda) U' and box bounds u:
//
//   (P)  min_{c,b,xi,a}  u'xi + eta c'K_a c + gamma h(a)
//        s.t.  y_i ((K_a c)_i + b) >= 1 - xi_i,  xi >= 0,  lambda_i a_i >= 0.
//
// Notation: s = sgn(lambda), t = s .* a >= 0, w = U'Y alpha, G_i = |lambda_i| w_i^2 / (4 eta). For
// a fixed t the machine's dual is 1'alpha - t'G, and each h below is a sum of norms
// |D (t - t_k)|, so that with one vector p_k for each of them
//
//   (D)  max_{alpha,p}  1'alpha - sum_k t_k'p_k
//        s.t.  0 <= alpha <= u,  y'alpha = 0,  sum_k p_k >= G(alpha),  |D^-1 p_k| <= gamma,
//
// where t is the multiplier of sum_k p_k >= G:
//
//   centre       h(a)                            t_k                      D
//   clip         |a - a_clip|                    1[lambda > 0]            I
//   flip         |a - a_flip|                    1                        I
//   both         |a - a_clip| + |a - a_flip|     1[lambda > 0] and 1      I
//   similarity   |Lambda (a - 1)|                sgn(lambda)              |Lambda|
//
// For clip and flip p = G is optimal: the machine on K_{a_0} with the one extra constraint
// |G(alpha)| <= gamma, and the sign constraint on a never binds. It does bind for `similarity`.
// Eigenvalues that count as zero have a = 0 and no part in h.
#pragma once

#include <array>

#include "kith/core/context.hpp"
#include "kith/core/enum_names.hpp"
#include "kith/core/status.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith::spectrum {

/// What the learned multipliers are drawn towards.
enum class Centre { kClip, kFlip, kBoth, kSimilarity };
constexpr auto enum_names(Centre /*of*/) { return named("clip", "flip", "both", "similarity"); }

struct Program {
  const SymmetricEigen* eigen = nullptr;
  Vector y;      ///< +1 or -1, both present
  Vector upper;  ///< u > 0; 1/n for every sample in [CGR]
  double eta = 1;
  double gamma = 1;
  Centre centre = Centre::kClip;
};

/// A point of (D), p being the best for its alpha, and one of (P).
struct Point {
  Vector alpha;
  Vector a;  ///< one multiplier per eigenvalue
  Vector z;  ///< diag(a .* lambda) U'c: the decision values are U z + b, and c = U (a lambda)^+ z
  double b = 0;
};

/// What a point achieves, recomputed from the data alone. Values are without the constant
/// `offset` = gamma min_a h(a), which is in the printed objective but can be 10^6 times the rest.
struct Certificate {
  double primal = 0;   ///< of (P) at (a, stretch z, stretch b), a moved to the right signs
  double stretch = 1;  ///< meets margins that were missed by rounding; at most 1 + 1e-9
  double dual = 0;  ///< of (D) after alpha has been shrunk into its constraints, p the best for it
  double offset = 0;
  double gap = 0;           ///< (primal - dual) / max(|primal|, |dual|)
  double kkt_residual = 0;  ///< largest |x - clamp(x - (y f - 1), 0, 1)|, x = alpha / upper

  [[nodiscard]] double objective() const { return dual + offset; }
};
/// O(n^2).
[[nodiscard]] Certificate certify(const Program& program, const Point& point);

struct Settings {
  double tolerance = 1e-8;  ///< relative gap of the certificate
  long max_iterations = 100;
};

struct Solution {
  Point point;
  Certificate certificate;
  SolveInfo info;  ///< objective is that of [CGR] (12), offset included
};

/// For clip and flip a primal-dual interior point in alpha alone, from `start` (empty: none), an
/// alpha inside the box with y'alpha = 0 such as the plain machine's. Where that ends above the
/// tolerance, and for the other centres, one on (D) in alpha and p. Both take Mehrotra's corrector
/// and factor one n x n matrix in each step.
/// Where a large gamma swallows the last digits (`both`, `similarity`), Newton steps on (D) in
/// alpha alone follow. Throws Error(kInterrupted) when stopped; else a status: kSolved,
/// kReducedAccuracy, kIterationLimit, kNumericalFailure.
[[nodiscard]] Solution solve(const Program& program, const Settings& settings = {},
                             const RunContext& ctx = {}, const Vector& start = {});

/// The multipliers whose plain machine solves the program for every large gamma: those of flip for
/// `both`, since more kernel is never worse and h is least all the way between clip and flip; those
/// of clip else.
[[nodiscard]] Vector plain_multipliers(Centre centre, const VectorRef& lambda);

/// The least gamma from which on the plain machine, whose dual solution is alpha (in the units of
/// the program), solves the program exactly. Infinite for `similarity` of an indefinite matrix,
/// which comes near to clip but does not reach it.
[[nodiscard]] double plain_threshold(const Program& program, const VectorRef& alpha);

/// The plain solution as a point of the program, for gamma at or above its threshold.
[[nodiscard]] Point plain_point(const Program& program, const VectorRef& alpha, double b);

}  // namespace kith::spectrum
