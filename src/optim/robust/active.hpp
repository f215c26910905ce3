// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/optim/robust/newton.hpp"
#include "optim/robust/dual.hpp"

namespace kith::robust {

struct ActiveAnswer {
  Vector alpha;
  double b = 0;
  DualPoint point;
  double gap = 0;
  double kkt_residual = 0;
  long iterations = 0;
  bool settled = false;  ///< both tolerances are met
};

/// The function to be climbed: D with a fixed rho, or with the rho that belongs to each a.
struct ActiveFunction {
  std::function<DualPoint(const Vector& alpha)> at;
  /// Minus its Hessian on some samples, without Y on its two sides.
  std::function<Matrix(const DualPoint& point, const std::vector<Index>& rows)> curvature;
};

/// max D(a) from the best of several starts, each the alpha of a near problem (they are drawn into
/// the box and balanced first). Where a few steps do not reach the tolerance, in gap and in KKT
/// residual alike, the starts were not near enough, and the interior point method is the better
/// choice. `starts` is not empty, and `most` the number of steps.
[[nodiscard]] ActiveAnswer climb(const Problem& problem, const Dual& dual,
                                 std::span<const Vector> starts, long most,
                                 const NewtonSettings& settings, const RunContext& ctx);

/// The same for any function.
[[nodiscard]] ActiveAnswer climb(const Problem& problem, const ActiveFunction& function,
                                 std::span<const Vector> starts, long most,
                                 const NewtonSettings& settings, const RunContext& ctx);

/// What the machine on K = M_+ proves of a point.
struct MachineView {
  double b = 0;    ///< of least loss
  double gap = 0;  ///< (upper bound of D - D) / D, both less the offset
  double kkt_residual = 0;
};
[[nodiscard]] MachineView machine_view(const Problem& problem, const VectorRef& alpha,
                                       const DualPoint& point);

/// Largest violation of the machine's optimality conditions at (alpha, b), as
/// SvmCertificate::kkt_residual, in its unit or a smaller one: M_ii stands for K_ii, which is no
/// smaller.
[[nodiscard]] double machine_residual(const Problem& problem, const VectorRef& alpha, double b,
                                      const DualPoint& point);

}  // namespace kith::robust
