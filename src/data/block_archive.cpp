// SPDX-License-Identifier: Apache-2.0
#include "data/block_archive.hpp"

#include <algorithm>

namespace kith::detail {

bool is_well_formed(const SparseBlock& table) {
  const std::vector<std::int64_t>& starts = table.starts;
  if (starts.empty() || starts.front() != 0 || !std::is_sorted(starts.begin(), starts.end()) ||
      starts.back() != table.entries() || table.columns.size() != table.values.size()) {
    return false;
  }
  for (Index i = 0; i < table.rows(); ++i) {
    std::int64_t before = -1;
    for (const std::int32_t column : table.row(i).columns) {
      if (column <= before || column >= table.cols) return false;
      before = column;
    }
  }
  return true;
}

}  // namespace kith::detail
