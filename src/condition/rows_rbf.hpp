// SPDX-License-Identifier: Apache-2.0
// [TR]'s RBF-sim: rows of similarities are compared as vectors, K(i, j) = exp(-||s_i - s_j||^2).
#pragma once

#include <utility>

#include "kith/condition/pipeline.hpp"
#include "numerics/distances.hpp"

namespace kith::detail {

/// Keeps the rows of `values` in the rule and returns their kernel, symmetric with ones on the
/// diagonal. One product of n^3 multiplications.
[[nodiscard]] inline RowMatrix fit_rows_rbf(RowMatrix values, InputRule& rule, int threads) {
  RowMatrix kernel = (-squared_distances(values, threads).array()).exp();
  rule.rows = DenseBlock(std::move(values));
  return kernel;
}

/// The kernel between the rows of `queries` and the rows of the rule.
[[nodiscard]] inline RowMatrix rows_rbf(const InputRule& rule, const RowMatrix& queries,
                                        int threads) {
  return (-squared_distances(queries, rule.rows.values(), threads).array()).exp();
}

}  // namespace kith::detail
