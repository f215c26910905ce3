// SPDX-License-Identifier: Apache-2.0
// Sparse tables as parts of a model.
#pragma once

#include <string>
#include <vector>

#include "core/errors.hpp"
#include "kith/core/archive.hpp"
#include "kith/core/text.hpp"
#include "kith/data/block.hpp"

namespace kith::detail {

/// Whether the numbers of a table that was read are where they can be.
[[nodiscard]] bool is_well_formed(const SparseBlock& table);

/// The number of columns as the part `width`, the entries as starts, columns and values after
/// `prefix`. Throws Error(kBadInput) where what is loaded is no such table.
template <class A>
void archive_sparse(Archived<A, SparseBlock>& table, const std::string& width,
                    const std::string& prefix, A& archiver) {
  std::vector<Index> starts(table.starts.begin(), table.starts.end());
  std::vector<int> columns(table.columns.begin(), table.columns.end());
  Vector values = Eigen::Map<const Vector>(table.values.data(), table.entries());
  archiver(width, table.cols);
  archiver(prefix + "starts", starts);
  archiver(prefix + "columns", columns);
  archiver(prefix + "values", values);
  if constexpr (A::kLoading) {
    table.starts.assign(starts.begin(), starts.end());
    table.columns.assign(columns.begin(), columns.end());
    table.values.assign(values.begin(), values.end());
    if (!is_well_formed(table)) {
      throw broken("part {} is no table of sparse rows", in_quotes(prefix + "columns"));
    }
  }
}

}  // namespace kith::detail
