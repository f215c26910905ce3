// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kith/data/block.hpp"

namespace kith::test {

/// The numbers of X that are not 0.
inline SparseBlock sparse_of(const MatrixRef& X) {
  SparseBlock table;
  table.cols = X.cols();
  table.absent = Absent::kZero;
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      if (X(i, j) == 0) continue;
      table.columns.push_back(static_cast<std::int32_t>(j));
      table.values.push_back(X(i, j));
    }
    table.starts.push_back(table.entries());
  }
  return table;
}

}  // namespace kith::test
