// SPDX-License-Identifier: Apache-2.0
// [TR]'s RBF-sim: rows of similarities are compared as vectors, K(i, j) = exp(-||s_i - s_j||^2).
#pragma once

#include "kith/condition/pipeline.hpp"

namespace kith::detail {

/// Keeps the rows of `values` in the rule and returns their kernel, symmetric with ones on the
/// diagonal. One product of n^3 multiplications.
[[nodiscard]] RowMatrix fit_rows_rbf(RowMatrix values, InputRule& rule, int threads);

/// The kernel between the rows of `queries` and the rows of the rule.
[[nodiscard]] RowMatrix rows_rbf(const InputRule& rule, const RowMatrix& queries, int threads);

}  // namespace kith::detail
