// SPDX-License-Identifier: Apache-2.0
// The two ways a rectangular table of similarities is held: dense, or sparse with absent pairs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// Dense row-major doubles: owned, or a view of memory that `owner` keeps alive (a mapped file, an
/// array of another language). Immutable and cheap to copy. A missing pair is NaN until
/// `condition/pipeline` has resolved it; nothing after that sees NaN.
class DenseBlock {
 public:
  DenseBlock() = default;
  explicit DenseBlock(RowMatrix values);
  DenseBlock(const double* data, Index rows, Index cols, std::shared_ptr<const void> owner);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] double operator()(Index i, Index j) const { return data_[i * cols_ + j]; }
  [[nodiscard]] std::span<const double> row(Index i) const {
    return {data_ + i * cols_, static_cast<std::size_t>(cols_)};
  }
  [[nodiscard]] Eigen::Map<const RowMatrix> values() const { return {data_, rows_, cols_}; }
  /// Of the same shape with the same numbers; NaN equals nothing.
  friend bool operator==(const DenseBlock& a, const DenseBlock& b) {
    return a.rows_ == b.rows_ && a.cols_ == b.cols_ && a.values() == b.values();
  }
  /// The values to change: moved out where this is the only owner, else copied.
  [[nodiscard]] RowMatrix take() &&;

 private:
  std::shared_ptr<RowMatrix> own_;     // set when the block owns its numbers
  std::shared_ptr<const void> owner_;  // set when somebody else does
  const double* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
};

/// What a pair that is not listed means.
enum class Absent { kMissing, kZero };

/// What a row of a sparse block lists; columns ascend.
struct SparseRow {
  std::span<const std::int32_t> columns;
  std::span<const double> values;

  [[nodiscard]] std::size_t size() const { return columns.size(); }
};

/// Compressed rows: the entries of row i are at starts[i] .. starts[i+1]-1, columns ascending.
struct SparseBlock {
  Index cols = 0;
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  Absent absent = Absent::kMissing;

  [[nodiscard]] Index rows() const { return static_cast<Index>(starts.size()) - 1; }
  [[nodiscard]] Index entries() const { return static_cast<Index>(values.size()); }
  [[nodiscard]] SparseRow row(Index i) const;
  /// What a pair that is not listed has: 0 or NaN.
  [[nodiscard]] double absent_value() const;
  /// One pair, by a binary search in its row.
  [[nodiscard]] double operator()(Index i, Index j) const;

  /// A block is written row by row: its entries in order of their columns, then the end of the row.
  void add(Index column, double value) {
    columns.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
  void end_row() { starts.push_back(entries()); }
  /// Columns and absent pairs as here, and no row yet.
  [[nodiscard]] SparseBlock without_rows() const;
  friend bool operator==(const SparseBlock&, const SparseBlock&) = default;
};

/// Calls visit(column, value in a, value in b) for each column that either row lists, ascending.
/// A row that does not list it has `absent` there.
template <class Visit>
void merge_rows(const SparseRow& a, const SparseRow& b, double absent, const Visit& visit) {
  std::size_t p = 0;
  std::size_t q = 0;
  while (p < a.size() || q < b.size()) {
    const bool in_a = q == b.size() || (p < a.size() && a.columns[p] <= b.columns[q]);
    const bool in_b = p == a.size() || (q < b.size() && b.columns[q] <= a.columns[p]);
    const Index column = in_a ? a.columns[p] : b.columns[q];
    const double x = in_a ? a.values[p++] : absent;
    const double z = in_b ? b.values[q++] : absent;
    visit(column, x, z);
  }
}

using Block = std::variant<DenseBlock, SparseBlock>;

[[nodiscard]] Index rows(const Block& block);
[[nodiscard]] Index cols(const Block& block);
[[nodiscard]] bool is_sparse(const Block& block);
/// Pairs without a value: NaN in a dense block, absent-and-missing in a sparse one.
[[nodiscard]] std::int64_t missing_pairs(const Block& block);

/// Numbers larger than this are refused where they come in, and tables without a number that is
/// larger than its inverse, save 0: fourth powers of all others are numbers, and nothing behind the
/// door needs to look (docs/decisions/units.md).
inline constexpr double kLargestNumber = 1e75;
/// The largest |value|; missing pairs take no part.
[[nodiscard]] double largest_magnitude(const Block& block);
/// Throws Error(kInvalidArgument) where `largest` is beyond the door. `whose` begins the message.
void check_size(double largest, std::string_view whose);

/// Throws Error(kInvalidArgument) naming the size when rows x cols doubles would not fit into
/// memory.
void check_dense_fits(Index rows, Index cols);

/// The block as dense numbers: absent pairs become 0 or, where absent means missing, NaN. Throws
/// Error(kInvalidArgument) naming the size when it would not fit into memory.
[[nodiscard]] DenseBlock to_dense(const Block& block);
/// The numbers that are not 0, where every pair is known; a sparse block as it is.
[[nodiscard]] SparseBlock to_sparse(const Block& block);

/// Rows `row_order` and columns `column_order` of the block, in that order (positions may repeat in
/// neither).
[[nodiscard]] Block select(const Block& block, std::span<const Index> row_order,
                           std::span<const Index> column_order);

/// Whole rows at `positions`, in that order.
[[nodiscard]] Block select_rows(const Block& block, std::span<const Index> positions);
[[nodiscard]] SparseBlock select_rows(const SparseBlock& block, std::span<const Index> positions);

[[nodiscard]] SparseBlock transposed(const SparseBlock& block);

}  // namespace kith
