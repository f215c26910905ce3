// SPDX-License-Identifier: Apache-2.0
// A block while it is being conditioned: numbers that may be changed in place, and the operations
// every step is made of. A missing pair is NaN (dense) or absent with Absent::kMissing (sparse).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "kith/core/parallel.hpp"
#include "kith/data/block.hpp"

namespace kith::detail {

using Table = std::variant<RowMatrix, SparseBlock>;

/// How errors name the two ends of a pair.
struct PairNames {
  std::function<std::string(Index)> row;
  std::function<std::string(Index)> column;
  std::string source{};      ///< put first; empty: nothing
  bool from_column = false;  ///< values go from the column's sample to that of the row
  [[nodiscard]] std::string prefix() const { return source.empty() ? "" : source + ": "; }
  /// "a to b", in the direction of the value.
  [[nodiscard]] std::string direction(Index i, Index j) const {
    return from_column ? column(j) + " to " + row(i) : row(i) + " to " + column(j);
  }
};

struct ValueRange {
  double low;
  double high;
};

/// Rows that one thread takes at a time; depends on the width alone, so that chunks are the same
/// for any number of threads.
[[nodiscard]] std::size_t row_grain(Index cols);

/// The sum in an order that depends on the number of values alone, not on where they lie.
[[nodiscard]] double ordered_sum(std::span<const double> values);

/// True when every pair has a value of a size that can be computed with.
[[nodiscard]] bool is_complete(const Block& block);

[[nodiscard]] Table editable(Block block);
[[nodiscard]] Block finished(Table table);

[[nodiscard]] Index rows(const Table& table);
[[nodiscard]] Index cols(const Table& table);
/// Pairs that are not listed in a sparse table; 0 for a dense one.
[[nodiscard]] std::int64_t absent_pairs(const Table& table);
[[nodiscard]] std::int64_t missing_pairs(const Table& table);
/// The first missing pair in row order.
[[nodiscard]] std::optional<std::pair<Index, Index>> first_missing(const Table& table);

/// The table as dense numbers, converted in place where it is sparse.
RowMatrix& make_dense(Table& table);

/// Least and largest known value; nothing where none is known.
[[nodiscard]] std::optional<ValueRange> known_range(const Table& table, int threads);

/// The values of row i that are known without looking further: all of a dense row (with NaN), the
/// listed ones of a sparse row.
[[nodiscard]] std::span<const double> row_values(const Table& table, Index i);
/// The largest known value of row i, an absent zero included; nothing where none is known.
[[nodiscard]] std::optional<double> row_maximum(const Table& table, Index i);

/// The value at (i, i); nothing where it is missing.
[[nodiscard]] std::optional<double> diagonal_value(const Table& table, Index i);
/// Sets every (i, i) to value(i, before); nothing leaves it as it is.
void set_diagonal(
    Table& table,
    const std::function<std::optional<double>(Index, std::optional<double> before)>& value);

/// Throws Error naming the first pair whose value is NaN or beyond kLargestNumber.
void check_values(const Table& table, const PairNames& names);
/// Throws Error naming the first pair whose distance is below 0.
void check_not_negative(const Table& table, const PairNames& names);

/// values[e] = f(values[e]) row by row: f(i, span of row i, its columns or nullptr when dense).
template <class RowFunction>
void edit_rows(Table& table, int threads, const RowFunction& f) {
  const Index count = rows(table);
  parallel_chunks(static_cast<std::size_t>(count), row_grain(cols(table)), threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                      if (auto* dense = std::get_if<RowMatrix>(&table)) {
                        const auto width = static_cast<std::size_t>(dense->cols());
                        f(static_cast<Index>(i), std::span(dense->data() + i * width, width),
                          static_cast<const std::int32_t*>(nullptr));
                      } else {
                        auto& sparse = std::get<SparseBlock>(table);
                        const SparseRow row = sparse.row(static_cast<Index>(i));
                        const auto first = static_cast<std::size_t>(sparse.starts[i]);
                        f(static_cast<Index>(i),
                          std::span(sparse.values).subspan(first, row.size()), row.columns.data());
                      }
                    }
                  });
}

/// Every known value v becomes f(v); missing pairs stay missing. A sparse table becomes dense only
/// where absent pairs are zeros that f does not keep.
template <class Function>
void map_values(Table& table, int threads, const Function& f) {
  if (const auto* sparse = std::get_if<SparseBlock>(&table)) {
    if (sparse->absent == Absent::kZero && f(0.0) != 0.0 && absent_pairs(table) > 0) {
      make_dense(table);
    }
  }
  edit_rows(table, threads, [&](Index, std::span<double> values, const std::int32_t*) {
    for (double& value : values) value = f(value);
  });
}

}  // namespace kith::detail
