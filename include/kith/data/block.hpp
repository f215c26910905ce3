// SPDX-License-Identifier: Apache-2.0
// The two ways a rectangular table of similarities is held: dense, or sparse with absent pairs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
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

/// Compressed rows: the entries of row i are at starts[i] .. starts[i+1]-1, columns ascending.
struct SparseBlock {
  Index cols = 0;
  std::vector<std::int64_t> starts{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  Absent absent = Absent::kMissing;

  [[nodiscard]] Index rows() const { return static_cast<Index>(starts.size()) - 1; }
  [[nodiscard]] Index entries() const { return static_cast<Index>(values.size()); }
};

using Block = std::variant<DenseBlock, SparseBlock>;

[[nodiscard]] Index rows(const Block& block);
[[nodiscard]] Index cols(const Block& block);
[[nodiscard]] bool is_sparse(const Block& block);
/// Pairs without a value: NaN in a dense block, absent-and-missing in a sparse one.
[[nodiscard]] std::int64_t missing_pairs(const Block& block);

/// Throws Error(kInvalidArgument) naming the size when rows x cols doubles would not fit into
/// memory.
void check_dense_fits(Index rows, Index cols);

/// The block as dense numbers: absent pairs become 0 or, where absent means missing, NaN. Throws
/// Error(kInvalidArgument) naming the size when it would not fit into memory.
[[nodiscard]] DenseBlock to_dense(const Block& block);

/// Rows `row_order` and columns `column_order` of the block, in that order (positions may repeat in
/// neither).
[[nodiscard]] Block select(const Block& block, std::span<const Index> row_order,
                           std::span<const Index> column_order);

/// Whole rows at `positions`, in that order.
[[nodiscard]] Block select_rows(const Block& block, std::span<const Index> positions);

[[nodiscard]] SparseBlock transposed(const SparseBlock& block);

}  // namespace kith
