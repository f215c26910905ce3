// SPDX-License-Identifier: Apache-2.0
// A matrix of which each column keeps its nonzero entries alone: the coefficients of machines, each
// of which knows the few samples of its own task.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kith/core/archive.hpp"
#include "kith/core/types.hpp"

namespace kith {

struct SparseColumns {
  Index rows = 0;
  std::vector<Index> starts = {0};  ///< column j has entries starts[j] ... starts[j + 1] - 1
  std::vector<int> at;              ///< row of each entry, ascending within a column
  Vector values;

  SparseColumns() = default;
  explicit SparseColumns(Index row_count) : rows(row_count) {}
  /// The nonzero entries of a matrix.
  explicit SparseColumns(const MatrixRef& dense);

  [[nodiscard]] Index cols() const { return std::ssize(starts) - 1; }
  [[nodiscard]] Matrix dense() const;
  /// One column as a vector.
  [[nodiscard]] Vector column(Index j) const;
  /// Rows with an entry in some column, ascending.
  [[nodiscard]] std::vector<Index> used_rows() const;
  /// The rows `kept`, ascending, which hold every entry.
  [[nodiscard]] SparseColumns with_rows(std::span<const Index> kept) const;

  friend bool operator==(const SparseColumns&, const SparseColumns&) = default;
};

/// Puts columns side by side.
class SparseColumnsBuilder {
 public:
  explicit SparseColumnsBuilder(Index rows) : made_(rows) {}
  /// The next column: values[k] at row rows[k], ascending.
  void add(std::span<const Index> rows, const VectorRef& values);
  [[nodiscard]] SparseColumns done();

 private:
  SparseColumns made_;
  std::vector<double> values_;
};

/// rows * columns.
[[nodiscard]] Matrix product(const Eigen::Ref<const RowMatrix>& rows, const SparseColumns& columns);

/// Its parts are called `name` with an ending. Throws Error(kBadInput) where they do not fit each
/// other.
template <class A>
void archive(Archived<A, SparseColumns>& columns, std::string_view name, A& archiver);

}  // namespace kith
