// SPDX-License-Identifier: Apache-2.0
#include "condition/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

/// A listed NaN says the same as an absent pair where absent means missing.
SparseBlock without_nan(const SparseBlock& block) {
  SparseBlock clean = block.without_rows();
  clean.starts.reserve(block.starts.size());
  for (Index i = 0; i < block.rows(); ++i) {
    const SparseRow row = block.row(i);
    for (std::size_t e = 0; e < row.size(); ++e) {
      if (!std::isnan(row.values[e])) clean.add(row.columns[e], row.values[e]);
    }
    clean.end_row();
  }
  return clean;
}

ValueRange wider(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// Low above high: nothing known. NaN takes no part.
ValueRange range_of(std::span<const double> values) {
  ValueRange range{std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity()};
  for (const double value : values) {
    range.low = value < range.low ? value : range.low;
    range.high = value > range.high ? value : range.high;
  }
  return range;
}

SparseBlock with_diagonal(
    const SparseBlock& block,
    const std::function<std::optional<double>(Index, std::optional<double>)>& value) {
  SparseBlock changed = block.without_rows();
  changed.starts.reserve(block.starts.size());
  changed.columns.reserve(block.columns.size() + static_cast<std::size_t>(block.rows()));
  changed.values.reserve(block.values.size() + static_cast<std::size_t>(block.rows()));
  for (Index i = 0; i < block.rows(); ++i) {
    const SparseRow row = block.row(i);
    const double own = block(i, i);
    const std::optional<double> after =
        value(i, std::isnan(own) ? std::nullopt : std::optional(own));
    std::size_t e = 0;
    for (; e < row.size() && row.columns[e] < i; ++e) changed.add(row.columns[e], row.values[e]);
    const bool listed = e < row.size() && row.columns[e] == i;
    if (after || listed) changed.add(i, after ? *after : row.values[e]);
    for (e += listed ? 1 : 0; e < row.size(); ++e) changed.add(row.columns[e], row.values[e]);
    changed.end_row();
  }
  return changed;
}

}  // namespace

std::size_t row_grain(Index cols) {
  constexpr Index kValuesPerChunk = 1 << 16;
  return static_cast<std::size_t>(std::max<Index>(1, kValuesPerChunk / std::max<Index>(1, cols)));
}

double ordered_sum(std::span<const double> values) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= values.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += values[i + k];
  }
  for (std::size_t k = 0; i + k < values.size(); ++k) sums[k] += values[i + k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

bool is_complete(const Block& block) {
  return kith::missing_pairs(block) == 0 && largest_magnitude(block) <= kLargestNumber;
}

Table editable(Block block) {
  if (auto* dense = std::get_if<DenseBlock>(&block)) return std::move(*dense).take();
  auto& sparse = std::get<SparseBlock>(block);
  if (std::none_of(sparse.values.begin(), sparse.values.end(),
                   [](double value) { return std::isnan(value); })) {
    return std::move(sparse);
  }
  if (sparse.absent == Absent::kMissing) return without_nan(sparse);
  return to_dense(block).take();
}

Block finished(Table table) {
  if (auto* dense = std::get_if<RowMatrix>(&table)) return DenseBlock(std::move(*dense));
  return std::move(std::get<SparseBlock>(table));
}

Index rows(const Table& table) {
  return std::visit([](const auto& held) { return static_cast<Index>(held.rows()); }, table);
}

Index cols(const Table& table) {
  if (const auto* dense = std::get_if<RowMatrix>(&table)) return dense->cols();
  return std::get<SparseBlock>(table).cols;
}

std::int64_t absent_pairs(const Table& table) {
  const auto* sparse = std::get_if<SparseBlock>(&table);
  return sparse == nullptr ? 0 : sparse->rows() * sparse->cols - sparse->entries();
}

std::int64_t missing_pairs(const Table& table) {
  if (const auto* sparse = std::get_if<SparseBlock>(&table)) {
    return sparse->absent == Absent::kMissing ? absent_pairs(table) : 0;
  }
  const auto& dense = std::get<RowMatrix>(table);
  return std::count_if(dense.data(), dense.data() + dense.size(),
                       [](double value) { return std::isnan(value); });
}

std::optional<std::pair<Index, Index>> first_missing(const Table& table) {
  for (Index i = 0; i < rows(table); ++i) {
    const std::span<const double> values = row_values(table, i);
    if (const auto* sparse = std::get_if<SparseBlock>(&table)) {
      if (sparse->absent == Absent::kZero) return std::nullopt;
      const std::span<const std::int32_t> columns = sparse->row(i).columns;
      Index j = 0;
      while (j < std::ssize(columns) && columns[static_cast<std::size_t>(j)] == j) ++j;
      if (j < sparse->cols) return std::pair{i, j};
    } else {
      const auto found = std::find_if(values.begin(), values.end(),
                                      [](double value) { return std::isnan(value); });
      if (found != values.end()) return std::pair{i, static_cast<Index>(found - values.begin())};
    }
  }
  return std::nullopt;
}

RowMatrix& make_dense(Table& table) {
  if (auto* sparse = std::get_if<SparseBlock>(&table)) {
    table = to_dense(Block(std::move(*sparse))).take();
  }
  return std::get<RowMatrix>(table);
}

std::optional<ValueRange> known_range(const Table& table, int threads) {
  const auto count = static_cast<std::size_t>(rows(table));
  const std::size_t grain = row_grain(cols(table));
  std::vector<ValueRange> parts((count + grain - 1) / grain, range_of({}));
  parallel_chunks(count, grain, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      parts[begin / grain] =
          wider(parts[begin / grain], range_of(row_values(table, static_cast<Index>(i))));
    }
  });
  ValueRange range = range_of({});
  for (const ValueRange& part : parts) range = wider(range, part);
  const auto* sparse = std::get_if<SparseBlock>(&table);
  if (sparse != nullptr && sparse->absent == Absent::kZero && absent_pairs(table) > 0) {
    range = wider(range, {0, 0});
  }
  if (range.low > range.high) return std::nullopt;
  return range;
}

std::span<const double> row_values(const Table& table, Index i) {
  if (const auto* dense = std::get_if<RowMatrix>(&table)) {
    return {dense->data() + i * dense->cols(), static_cast<std::size_t>(dense->cols())};
  }
  return std::get<SparseBlock>(table).row(i).values;
}

std::optional<double> row_maximum(const Table& table, Index i) {
  const std::span<const double> values = row_values(table, i);
  ValueRange range = range_of(values);
  const auto* sparse = std::get_if<SparseBlock>(&table);
  if (sparse != nullptr && sparse->absent == Absent::kZero &&
      static_cast<Index>(values.size()) < sparse->cols) {
    range = wider(range, {0, 0});
  }
  if (range.low > range.high) return std::nullopt;
  return range.high;
}

std::optional<double> diagonal_value(const Table& table, Index i) {
  const double value = std::visit([&](const auto& held) -> double { return held(i, i); }, table);
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

void set_diagonal(Table& table,
                  const std::function<std::optional<double>(Index, std::optional<double>)>& value) {
  if (auto* dense = std::get_if<RowMatrix>(&table)) {
    for (Index i = 0; i < dense->rows(); ++i) {
      if (const auto after = value(i, diagonal_value(table, i))) (*dense)(i, i) = *after;
    }
    return;
  }
  table = with_diagonal(std::get<SparseBlock>(table), value);
}

namespace {

struct FoundPair {
  Index row;
  Index column;
  double value;
};

/// The first listed value that `is_bad`.
template <class Predicate>
std::optional<FoundPair> first_pair(const Table& table, const Predicate& is_bad) {
  for (Index i = 0; i < rows(table); ++i) {
    const std::span<const double> values = row_values(table, i);
    const auto bad = std::find_if(values.begin(), values.end(), is_bad);
    if (bad == values.end()) continue;
    Index j = bad - values.begin();
    if (const auto* sparse = std::get_if<SparseBlock>(&table)) {
      j = sparse->row(i).columns[static_cast<std::size_t>(j)];
    }
    return FoundPair{i, j, *bad};
  }
  return std::nullopt;
}

}  // namespace

void check_values(const Table& table, const PairNames& names) {
  const auto bad =
      first_pair(table, [](double value) { return !(std::abs(value) <= kLargestNumber); });
  if (!bad) return;
  throw invalid(
      "{}the similarity of {} is {} once the input is conditioned, and "
      "the largest that can be computed with is {}: the given values are too "
      "large; divide all by a constant",
      names.prefix(), names.direction(bad->row, bad->column), format_short(bad->value),
      format_short(kLargestNumber));
}

void check_not_negative(const Table& table, const PairNames& names) {
  const auto bad = first_pair(table, [](double value) { return value < 0; });
  if (!bad) return;
  throw invalid(
      "the distance of {} to {} is {}; distances that are squared must not be "
      "negative (are these similarities? [[from-distance=max-minus]], negative and exp "
      "take negative ones)",
      names.row(bad->row), names.column(bad->column), format_short(bad->value));
}

}  // namespace kith::detail
