// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/context.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/robust/problem.hpp"

namespace kith::robust {

/// S = positive - negative, two positive semidefinite matrices with product 0. The distance of any
/// K from S is then |K - S|^2 = |K - positive|^2 + 2 <K, negative> + |negative|^2, whose last term
/// is constant: the first two are all >= 0 for K >= 0, and lose no digits to it.
struct SplitMatrix {
  Matrix positive;
  Matrix negative;
  double negative_squares = 0;  ///< |negative|_F^2
  double rounding = 0;  ///< of `excess`: where S is large it is more than any machine's value

  explicit SplitMatrix(const Problem& problem);
  /// |K - S|^2 - |negative|^2.
  [[nodiscard]] double excess(const MatrixRef& K) const;
};

/// The inner minimum at one alpha, [CY] (9).
struct Point {
  SymmetricEigen kernel;   ///< the positive eigenpairs of M = S + u u' / (4 rho)
  SymmetricEigen removed;  ///< the negative ones, their values with the sign turned: M_-
  Matrix K;                ///< M_+
  Vector Ku;
  double penalty = 0;  ///< rho (|K - S|^2 - |negative|^2)
  double value = 0;    ///< D(alpha) less the offset: 1'alpha - 1/2 u'Ku + penalty
};
[[nodiscard]] Point point_at(const Problem& problem, const SplitMatrix& split,
                             const VectorRef& alpha);

/// The support vector machine on a kernel, which must outlive it.
[[nodiscard]] dual::SvmDual machine_on(const Problem& problem, const MatrixRef& K);

/// The machine on the kernel of a point, solved from `alpha`: no feasible a has D(a) less the
/// offset above `upper`.
struct MachineBound {
  double b = 0;
  double upper = 0;
};
[[nodiscard]] MachineBound machine_bound(const Problem& problem, const Point& point,
                                         const VectorRef& alpha, const RunContext& ctx);

/// With |K - S|_F <= radius in place of rho |K - S|_F^2, `nearest` = |S_-|_F: costs that no
/// solution reaches, lowered. S_+ + (radius - nearest) u u' / |u|^2 is in the ball, so that the
/// worst K has (radius - nearest) |a|^2 <= u'Ku, and u'Ku <= 1'a <= sqrt(n) |a| since a may be
/// shortened.
[[nodiscard]] Vector costs_in_ball(const Vector& cost, double radius, double nearest);

/// For weight |K - S|_F in place of rho |K - S|_F^2 and K = M_+: how far a lower bound of the
/// optimum stays below 1'alpha - 1/2 uKu + weight |K - S|, uKu = u'Ku, distance = |K - S|.
[[nodiscard]] double norm_bound_loss(double sum, double uKu, double rho, double distance,
                                     double weight);

/// What certificates are made of: the machines on the kernel of `alpha` and on the positive part of
/// `witness` (empty: none), each solved anew.
struct Evidence {
  Point point;
  double b = 0;           ///< of the machine on the point's kernel
  double primal = 0;      ///< of the same
  double difference = 0;  ///< upper bound - D(alpha), of the kernel that proves more
  double rounding = 0;    ///< of `difference`
  double kkt_residual = 0;
  double feasibility = 0;
};
[[nodiscard]] Evidence evidence_at(const Problem& problem, const SplitMatrix& split,
                                   const VectorRef& alpha, const Matrix& witness,
                                   const RunContext& ctx);
/// difference / max(|value|, |value + difference|), 0 where it is negative by rounding alone.
[[nodiscard]] double proved_gap(double value, double difference, double rounding);

/// The answer of a solver that ended at `alpha`, with its evidence. `info` is filled but for
/// status and iterations.
[[nodiscard]] Solution finish(const Problem& problem, const SplitMatrix& split,
                              const VectorRef& alpha, Matrix witness, const RunContext& ctx);

/// kSolved where the gap of `info` says so and its KKT residual does not contradict it, whatever
/// the solver's own rule made of its rounded bounds; `status`, or what is left of it, where not.
[[nodiscard]] SolveStatus proved_status(const SolveInfo& info, double tolerance,
                                        SolveStatus status);

}  // namespace kith::robust
