// SPDX-License-Identifier: Apache-2.0
#include "kith/data/block.hpp"
#include "kith/core/positions.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/memory.hpp"

namespace kith {
namespace {

DenseBlock dense_of(const SparseBlock& block) {
  check_dense_fits(block.rows(), block.cols);
  RowMatrix values = RowMatrix::Constant(block.rows(), block.cols, block.absent_value());
  for (Index i = 0; i < block.rows(); ++i) {
    const SparseRow row = block.row(i);
    for (std::size_t e = 0; e < row.size(); ++e) values(i, row.columns[e]) = row.values[e];
  }
  return DenseBlock(std::move(values));
}

std::int64_t count_nan(std::span<const double> values) {
  return std::count_if(values.begin(), values.end(),
                       [](double value) { return std::isnan(value); });
}

bool is_everything_in_order(std::span<const Index> order, Index count) {
  if (static_cast<Index>(order.size()) != count) return false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<Index>(i)) return false;
  }
  return true;
}

DenseBlock select_dense(const DenseBlock& block, std::span<const Index> row_order,
                        std::span<const Index> column_order) {
  if (is_everything_in_order(row_order, block.rows()) &&
      is_everything_in_order(column_order, block.cols())) {
    return block;
  }
  const bool whole_rows = is_everything_in_order(column_order, block.cols());
  RowMatrix values(static_cast<Index>(row_order.size()), static_cast<Index>(column_order.size()));
  for (Index i = 0; i < values.rows(); ++i) {
    assert(row_order[static_cast<std::size_t>(i)] < block.rows() && "a position of the block");
    const std::span<const double> from = block.row(row_order[static_cast<std::size_t>(i)]);
    double* to = values.data() + i * values.cols();
    if (whole_rows) {
      std::copy(from.begin(), from.end(), to);
    } else {
      for (const Index j : column_order) *to++ = from[static_cast<std::size_t>(j)];
    }
  }
  return DenseBlock(std::move(values));
}

SparseBlock select_sparse(const SparseBlock& block, std::span<const Index> row_order,
                          std::span<const Index> column_order) {
  constexpr std::int32_t kDropped = -1;
  std::vector<std::int32_t> place(static_cast<std::size_t>(block.cols), kDropped);
  for (std::size_t j = 0; j < column_order.size(); ++j) {
    place[static_cast<std::size_t>(column_order[j])] = static_cast<std::int32_t>(j);
  }
  const bool ascending = std::is_sorted(column_order.begin(), column_order.end());

  SparseBlock chosen;
  chosen.cols = static_cast<Index>(column_order.size());
  chosen.absent = block.absent;
  chosen.starts.reserve(row_order.size() + 1);
  std::vector<std::pair<std::int32_t, double>> row;
  for (const Index i : row_order) {
    const SparseRow given = block.row(i);
    row.clear();
    for (std::size_t e = 0; e < given.size(); ++e) {
      const std::int32_t column = place[static_cast<std::size_t>(given.columns[e])];
      if (column != kDropped) row.emplace_back(column, given.values[e]);
    }
    if (!ascending) {
      std::sort(row.begin(), row.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    for (const auto& [column, value] : row) chosen.add(column, value);
    chosen.end_row();
  }
  return chosen;
}

}  // namespace

double largest_magnitude(const Block& block) {
  std::span<const double> values;
  if (const auto* sparse = std::get_if<SparseBlock>(&block)) {
    values = sparse->values;
  } else {
    const auto& dense = std::get<DenseBlock>(block);
    values = {dense.values().data(), static_cast<std::size_t>(dense.values().size())};
  }
  double largest = 0;
  for (const double value : values) largest = std::abs(value) > largest ? std::abs(value) : largest;
  return largest;
}

void check_size(double largest, std::string_view whose) {
  if (largest == 0 || (largest <= kLargestNumber && largest >= 1 / kLargestNumber)) return;
  throw invalid(
      "{} reach {:.3g} in size; what can be computed with reaches from {:.0e} "
      "to {:.0e}: {} all by a constant",
      whose, largest, 1 / kLargestNumber, kLargestNumber, largest > 1 ? "divide" : "multiply");
}

void check_dense_fits(Index rows, Index cols) {
  const double bytes = static_cast<double>(rows) * static_cast<double>(cols) * sizeof(double);
  const double available = available_memory();
  if (bytes <= available) return;
  throw invalid(
      "{0} x {1} numbers need {2:.1f} GiB as a dense matrix, and {3:.1f} "
      "GiB of memory are available",
      rows, cols, bytes / kGibibyte, available / kGibibyte);
}

DenseBlock::DenseBlock(RowMatrix values)
    : own_(std::make_shared<RowMatrix>(std::move(values))),
      data_(own_->data()),
      rows_(own_->rows()),
      cols_(own_->cols()) {}

DenseBlock::DenseBlock(const double* data, Index rows, Index cols,
                       std::shared_ptr<const void> owner)
    : owner_(std::move(owner)), data_(data), rows_(rows), cols_(cols) {}

RowMatrix DenseBlock::take() && {
  if (own_ == nullptr || own_.use_count() > 1) return values();
  RowMatrix values = std::move(*own_);
  *this = DenseBlock();
  return values;
}

SparseRow SparseBlock::row(Index i) const {
  const auto begin = static_cast<std::size_t>(starts[static_cast<std::size_t>(i)]);
  const auto size = static_cast<std::size_t>(starts[static_cast<std::size_t>(i) + 1]) - begin;
  return {std::span(columns).subspan(begin, size), std::span(values).subspan(begin, size)};
}

double SparseBlock::absent_value() const {
  return absent == Absent::kZero ? 0.0 : std::numeric_limits<double>::quiet_NaN();
}

double SparseBlock::operator()(Index i, Index j) const {
  const SparseRow listed = row(i);
  const auto at = std::lower_bound(listed.columns.begin(), listed.columns.end(), j);
  if (at == listed.columns.end() || *at != j) return absent_value();
  return listed.values[static_cast<std::size_t>(at - listed.columns.begin())];
}

SparseBlock SparseBlock::without_rows() const {
  SparseBlock empty;
  empty.cols = cols;
  empty.absent = absent;
  return empty;
}

Index rows(const Block& block) {
  return std::visit([](const auto& held) { return held.rows(); }, block);
}

Index cols(const Block& block) {
  if (const auto* dense = std::get_if<DenseBlock>(&block)) return dense->cols();
  return std::get<SparseBlock>(block).cols;
}

bool is_sparse(const Block& block) { return std::holds_alternative<SparseBlock>(block); }

std::int64_t missing_pairs(const Block& block) {
  if (const auto* dense = std::get_if<DenseBlock>(&block)) {
    std::int64_t missing = 0;
    for (Index i = 0; i < dense->rows(); ++i) missing += count_nan(dense->row(i));
    return missing;
  }
  const auto& sparse = std::get<SparseBlock>(block);
  const std::int64_t unlisted =
      sparse.absent == Absent::kMissing ? sparse.rows() * sparse.cols - sparse.entries() : 0;
  return unlisted + count_nan(sparse.values);
}

DenseBlock to_dense(const Block& block) {
  if (const auto* dense = std::get_if<DenseBlock>(&block)) return *dense;
  return dense_of(std::get<SparseBlock>(block));
}

SparseBlock to_sparse(const Block& block) {
  if (const auto* sparse = std::get_if<SparseBlock>(&block)) return *sparse;
  const auto& dense = std::get<DenseBlock>(block);
  SparseBlock table;
  table.cols = dense.cols();
  table.absent = Absent::kZero;
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j) {
      if (dense(i, j) != 0) table.add(j, dense(i, j));
    }
    table.end_row();
  }
  return table;
}

Block select(const Block& block, std::span<const Index> row_order,
             std::span<const Index> column_order) {
  if (const auto* dense = std::get_if<DenseBlock>(&block)) {
    return select_dense(*dense, row_order, column_order);
  }
  return select_sparse(std::get<SparseBlock>(block), row_order, column_order);
}

Block select_rows(const Block& block, std::span<const Index> positions) {
  if (const auto* sparse = std::get_if<SparseBlock>(&block)) return select_rows(*sparse, positions);
  const auto& dense = std::get<DenseBlock>(block);
  return select_dense(dense, positions, all_positions(dense.cols()));
}

// Nothing here may be as wide as a sparse block: its last column may be the two-billionth.
SparseBlock select_rows(const SparseBlock& block, std::span<const Index> positions) {
  SparseBlock chosen = block.without_rows();
  chosen.starts.reserve(positions.size() + 1);
  for (const Index i : positions) {
    const SparseRow row = block.row(i);
    chosen.columns.insert(chosen.columns.end(), row.columns.begin(), row.columns.end());
    chosen.values.insert(chosen.values.end(), row.values.begin(), row.values.end());
    chosen.end_row();
  }
  return chosen;
}

SparseBlock transposed(const SparseBlock& block) {
  SparseBlock turned;
  turned.cols = block.rows();
  turned.absent = block.absent;
  turned.starts.assign(static_cast<std::size_t>(block.cols) + 1, 0);
  for (const std::int32_t column : block.columns) {
    ++turned.starts[static_cast<std::size_t>(column) + 1];
  }
  for (std::size_t j = 1; j < turned.starts.size(); ++j) turned.starts[j] += turned.starts[j - 1];
  turned.columns.resize(block.columns.size());
  turned.values.resize(block.values.size());
  std::vector<std::int64_t> next(turned.starts.begin(), turned.starts.end() - 1);
  // Rows are visited in ascending order, so the columns of each turned row come out ascending.
  for (Index i = 0; i < block.rows(); ++i) {
    const SparseRow row = block.row(i);
    for (std::size_t e = 0; e < row.size(); ++e) {
      const auto slot = static_cast<std::size_t>(next[static_cast<std::size_t>(row.columns[e])]++);
      turned.columns[slot] = static_cast<std::int32_t>(i);
      turned.values[slot] = row.values[e];
    }
  }
  return turned;
}

}  // namespace kith
