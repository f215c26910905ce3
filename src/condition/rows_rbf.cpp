// SPDX-License-Identifier: Apache-2.0
#include "condition/rows_rbf.hpp"

#include <utility>

#include "numerics/distances.hpp"

namespace kith::detail {

RowMatrix fit_rows_rbf(RowMatrix values, InputRule& rule, int threads) {
  RowMatrix kernel = (-squared_distances(values, threads).array()).exp();
  rule.rows = DenseBlock(std::move(values));
  return kernel;
}

RowMatrix rows_rbf(const InputRule& rule, const RowMatrix& queries, int threads) {
  return (-squared_distances(queries, rule.rows.values(), threads).array()).exp();
}

}  // namespace kith::detail
