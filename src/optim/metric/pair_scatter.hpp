// SPDX-License-Identifier: Apache-2.0
// Sums over pairs of samples, none of which is ever formed.
#pragma once

#include "kith/core/types.hpp"

namespace kith::metric {

/// sum_ij W_ij (x_i - x_j)(x_i - x_j)', which for V = W + W' is X'(diag(V 1) - V)X.
[[nodiscard]] inline Matrix pair_scatter(const MatrixRef& X, const Matrix& W) {
  const Matrix V = W + W.transpose();
  const Vector sums = V.rowwise().sum();
  return X.transpose() * (sums.asDiagonal() * X - V * X);
}

}  // namespace kith::metric
