// SPDX-License-Identifier: Apache-2.0
// The robust support vector machine on an indefinite similarity matrix, [LA], [CY] (6): what each
// of its solvers is given and what it returns.
#pragma once

#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith::robust {

/// The largest over a of the least over positive semidefinite K of
///
///   S(a, K) = 1'a - 1/2 a' Y K Y a + rho |K - S|_F^2,   0 <= a_i <= cost_i,  y'a = 0.
///
/// For a fixed a the best K is the positive part of M = S + u u' / (4 rho), u = Y a, and S(a, K) is
/// D(a) = 1'a + rho (|S|_F^2 - |M_+|_F^2).
struct Problem {
  MatrixRef S;  ///< symmetric, both triangles; a Matrix, Map or block that outlives the problem
  Vector y;     ///< +1 or -1
  Vector cost;  ///< > 0, one per sample
  double rho = 1;
  /// The decomposition of S where the caller has it; null: the solver makes its own.
  const SymmetricEigen* eigen = nullptr;
};

struct Solution {
  Vector alpha;
  double b = 0;
  /// The learned kernel K = U diag(lambda) U': positive eigenvalues alone, ascending, U with as
  /// many columns.
  SymmetricEigen kernel;
  double rho = 1;       ///< the problem's, or the one found with it
  double distance = 0;  ///< |K - S|_F
  double offset = 0;    ///< rho |S_-|_F^2, the part of the objective that no a changes
  /// objective is D(alpha), the offset included; gap is (upper bound - D) / (D - offset).
  SolveInfo info;
  /// Any kernel that bounds the optimum more closely than the learned one; empty: none is known.
  Matrix witness;
  /// Bounds less the offset, one step per iteration; of solvers that record them alone.
  std::vector<BoundsStep> trace;
};

/// Throws Error(kInvalidArgument) naming the first entry that breaks a rule stated above.
void validate(const Problem& problem);

/// What an a achieves, from the data alone: K = M_+(a) by a fresh decomposition, and
/// D(a) <= optimum <= max over a' of S(a', K), the right side by one run of `smo`. That holds for
/// every kernel, and so for the positive part of a `witness` too: the smaller bound counts.
struct Certificate {
  double offset = 0;       ///< rho |S_-|_F^2; its digits, often a million times the rest, enter
                           ///< none of the others
  double value = 0;        ///< D(a) - offset
  double upper = 0;        ///< no feasible a' has D(a') - offset above it
  double gap = 0;          ///< (upper - value) / max(|value|, |upper|); 0 when both are 0, or in
                           ///< the wrong order by rounding
  double feasibility = 0;  ///< largest of |y'a| and the violations of the box, by the largest cost
  /// Of a on K with the b of the machine solved anew, as in SvmCertificate: D is flat at its
  /// maximum, where an error in a shows here and not in the gap.
  double kkt_residual = 0;
};
[[nodiscard]] Certificate certify(const Problem& problem, const VectorRef& alpha,
                                  const RunContext& ctx = {}, const Matrix& witness = {});

/// The same for |K - S|_F <= radius in place of rho |K - S|_F^2; stated.rho has no part in it. K
/// is in the ball and both bounds hold for it: rounding of the distance, which matters where the
/// radius is hardly larger than |S_-|_F, is charged to the lower one. No offset.
[[nodiscard]] Certificate certify_ball(const Problem& stated, double radius, const VectorRef& alpha,
                                       const RunContext& ctx = {});

/// The same for weight |K - S|_F, where problem.rho is the one found with alpha; the offset is
/// weight |S_-|_F. The lower bound is that of a shorter alpha where rho asks for it.
[[nodiscard]] Certificate certify_norm(const Problem& problem, double weight,
                                       const VectorRef& alpha, const RunContext& ctx = {});

}  // namespace kith::robust
