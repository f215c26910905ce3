// SPDX-License-Identifier: Apache-2.0
// Rows of tables of vectors, dense or sparse, and sums over the coordinates of two of them.
#pragma once

#include <cstdint>
#include <span>

#include "kith/core/types.hpp"
#include "kith/data/block.hpp"
#include "measure/lane_sum.hpp"

namespace kith::detail {

using DenseRows = Eigen::Ref<const RowMatrix>;

struct DenseRow {
  const double* values;
  Index size;
};

/// Columns ascend; what is left out is 0.
struct SparseRow {
  std::span<const std::int32_t> columns;
  std::span<const double> values;
};

[[nodiscard]] inline DenseRow table_row(const DenseRows& table, Index i) {
  return {table.data() + i * table.outerStride(), table.cols()};
}

[[nodiscard]] inline SparseRow table_row(const SparseBlock& table, Index i) {
  const auto begin = static_cast<std::size_t>(table.starts[static_cast<std::size_t>(i)]);
  const auto size = static_cast<std::size_t>(table.starts[static_cast<std::size_t>(i) + 1]) - begin;
  return {std::span(table.columns).subspan(begin, size),
          std::span(table.values).subspan(begin, size)};
}

/// The sum of term(x_k, z_k). term(0, 0) must be 0.
template <class Term>
[[nodiscard]] double row_sum(const DenseRow& x, const DenseRow& z, const Term& term) {
  return lane_sum(x.values, z.values, x.size, term);
}

template <class Term>
[[nodiscard]] double row_sum(const SparseRow& x, const SparseRow& z, const Term& term) {
  double sum = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.columns.size() && j < z.columns.size()) {
    if (x.columns[i] == z.columns[j]) {
      sum += term(x.values[i++], z.values[j++]);
    } else if (x.columns[i] < z.columns[j]) {
      sum += term(x.values[i++], 0.0);
    } else {
      sum += term(0.0, z.values[j++]);
    }
  }
  for (; i < x.columns.size(); ++i) sum += term(x.values[i], 0.0);
  for (; j < z.columns.size(); ++j) sum += term(0.0, z.values[j]);
  return sum;
}

}  // namespace kith::detail
