// SPDX-License-Identifier: Apache-2.0
// Columns of a symmetric matrix kept as float: half the memory to read, and for problems of some
// thousand samples small enough to stay in cache while rounds of blocks come back to the same
// columns. They are copied when first asked for, or the second time where the matrix itself is
// small enough for the cache.
#pragma once

#include <span>
#include <vector>

#include "kith/core/types.hpp"
#include "kith/optim/dual/symmetric_view.hpp"
#include "optim/dual/aligned.hpp"

namespace kith::dual {

class FloatColumns {
 public:
  /// `K` must outlive this. No memory is touched before the first column. With room for fewer
  /// columns than are asked for, the rest is read from K.
  explicit FloatColumns(const SymmetricView& K);
  FloatColumns(const SymmetricView& K, Index room);

  /// out[k] = K(rows[k], j) as float; `rows` ascending.
  void gather(Index j, std::span<const Index> rows, float* out);
  /// g += K(:, columns) weights, sums in double; from the rounded columns where they are kept.
  void add(std::span<const Index> columns, std::span<const double> weights, Vector& g);

 private:
  [[nodiscard]] const float* kept(Index j) const;

  const SymmetricView& K_;
  Index stride_;
  Index room_;  // in columns
  Index used_ = 0;
  std::vector<Index> slot_;  // by column, or one of the marks in dual/float_columns.cpp
  AlignedMemory<float> memory_;
};

}  // namespace kith::dual
