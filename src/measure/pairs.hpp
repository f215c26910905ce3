// SPDX-License-Identifier: Apache-2.0
// The loops every measure is computed in: all pairs of one set of samples (half of them, mirrored)
// or rows of queries against columns of training samples. Threads take bands of rows; inside a band
// columns come in tiles, so that a tile of samples is read from near memory by every row of the
// band. Each pair is computed by itself, hence the same numbers for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <string_view>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/types.hpp"
#include "kith/data/block.hpp"

namespace kith::detail {

/// Counts pairs from any thread and reports them, at most a thousand times in all.
class PairProgress {
 public:
  PairProgress(std::string_view stage, Index total, const RunContext& ctx)
      : stage_(stage), total_(total), step_(std::max<Index>(total / 1000, 1)), ctx_(ctx) {}
  void add(Index pairs) {
    const Index before = done_.fetch_add(pairs, std::memory_order_relaxed);
    const Index done = before + pairs;
    if (before / step_ == done / step_ && done != total_) return;
    ctx_.progress(stage_, static_cast<double>(done), static_cast<double>(total_));
  }

 private:
  std::atomic<Index> done_{0};
  std::string_view stage_;
  Index total_;
  Index step_;
  const RunContext& ctx_;
};

constexpr Index kPairRows = 8;      ///< rows of a band, the unit of work
constexpr Index kPairColumns = 64;  ///< columns of a tile

/// Copies the upper triangle of a square matrix to its lower one.
void mirror_upper(RowMatrix& values, const RunContext& ctx);

/// A row that computes several columns at once: columns begin .. end-1, at most kBatch, into `out`.
template <class Row>
concept BatchRow = requires(Row& row, Index column, double* out) {
  { Row::kBatch } -> std::convertible_to<Index>;
  row.fill(column, column, out);
};

/// Columns begin .. end-1 of row i.
template <class Row>
void fill_columns(Row& row, Index begin, Index end, double* out, const RunContext& ctx) {
  if constexpr (BatchRow<Row>) {
    for (Index j = begin; j < end; j += Row::kBatch) {
      if (ctx.stop.stop_requested()) ctx.check_stop();
      row.fill(j, std::min(j + Row::kBatch, end), out + (j - begin));
    }
  } else {
    for (Index j = begin; j < end; ++j) {
      if (ctx.stop.stop_requested()) ctx.check_stop();
      out[j - begin] = row(j);
    }
  }
}

/// The band of rows from `begin` to `end`; `first(i)` is the first column of row i.
template <class RowOf, class First>
void pair_band(Index begin, Index end, const RowOf& row_of, const First& first, RowMatrix& values,
               PairProgress& progress, const RunContext& ctx) {
  std::vector<decltype(row_of(Index{}))> rows;
  rows.reserve(static_cast<std::size_t>(end - begin));
  for (Index i = begin; i < end; ++i) rows.push_back(row_of(i));
  for (Index tile = first(begin); tile < values.cols(); tile += kPairColumns) {
    const Index stop = std::min(tile + kPairColumns, values.cols());
    Index pairs = 0;
    for (Index i = begin; i < end; ++i) {
      const Index j = std::max(tile, first(i));
      if (j >= stop) continue;
      fill_columns(rows[static_cast<std::size_t>(i - begin)], j, stop, &values(i, j), ctx);
      pairs += stop - j;
    }
    progress.add(pairs);
  }
}

/// values(i, j) = row_of(i)(j) for every row and column; where `mirrored`, rows and columns are the
/// same samples, and only i <= j is computed. `row_of(i)` holds what is made once per row (a
/// profile, work space) and is used by one thread.
template <class RowOf>
[[nodiscard]] RowMatrix all_pairs(Index rows, Index columns, bool mirrored, std::string_view stage,
                                  const RunContext& ctx, const RowOf& row_of) {
  check_dense_fits(rows, columns);
  RowMatrix values(rows, columns);
  PairProgress progress(stage, mirrored ? rows * (rows + 1) / 2 : rows * columns, ctx);
  const auto first = [mirrored](Index i) { return mirrored ? i : 0; };
  parallel_chunks(static_cast<std::size_t>(rows), kPairRows, ctx.threads,
                  [&](std::size_t begin, std::size_t end) {
                    pair_band(static_cast<Index>(begin), static_cast<Index>(end), row_of, first,
                              values, progress, ctx);
                  });
  if (mirrored) mirror_upper(values, ctx);
  return values;
}

}  // namespace kith::detail
