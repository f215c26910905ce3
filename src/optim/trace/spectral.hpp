// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "optim/trace/newton.hpp"

namespace kith::trace {

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
