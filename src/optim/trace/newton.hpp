// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "optim/trace/block.hpp"

namespace kith::trace {

/// max over a and gamma of D(a, gamma) = 1'a + sum_i phi_i(u / sqrt(gamma_i)), the dual of
///
///   min over K of Omega(K) + sum_i c_i |K_i - V_i|^2         (optim/trace/block, trace_kernel)
///
/// over 0 <= a <= cost, y'a = 0 and the simplex of gamma; with one block gamma = 1.
struct Dual {
  std::span<const Block> blocks;
  Vector c;  ///< > 0, one per block
  const Vector& y;
  const Vector& cost;
};

struct DualSolution {
  Vector alpha;
  Vector gamma;
  double b = 0;
  std::vector<BlockPoint> points;
  double machine = 0;     ///< 1'a - 1/2 sum_i u'K_i u / gamma_i at the kernels of the points
  double difference = 0;  ///< upper less lower bound of the optimum, from this point alone
  double penalty = 0;     ///< sum_i c_i |K_i - V_i|^2: D = machine + penalty
  long iterations = 0;
  SolveStatus status = SolveStatus::kSolved;
};

/// Until difference <= tolerance * machine: the constant part of D, which can be most of it, proves
/// nothing. `near` (null: none) is the solution of a similar problem.
[[nodiscard]] DualSolution newton(const Dual& dual, double tolerance, const RunContext& ctx,
                                  const DualSolution* near = nullptr);

/// As newton, for the problems that defeat it: with the kernels as variables of their own, at
/// several times the cost per iteration. Of the points k and M.W are filled.
[[nodiscard]] DualSolution barrier(const Dual& dual, double tolerance, const RunContext& ctx);

/// min over mu_i >= 0, sum mu_i = trace, of the machine on K_i = U_i diag(mu_i) U_i' and
/// sum_i c_i |mu_i - lambda_i|^2.
struct SpectralDual {
  std::span<const SymmetricEigen> eigen;  ///< lambda_i, U_i
  Vector c;                               ///< > 0, one per matrix
  double trace = 1;
  const Vector& y;
  const Vector& cost;
};

/// As newton; of the points only k = mu_i is filled.
[[nodiscard]] DualSolution spectral_newton(const SpectralDual& dual, double tolerance,
                                           const RunContext& ctx,
                                           const DualSolution* near = nullptr);

}  // namespace kith::trace
