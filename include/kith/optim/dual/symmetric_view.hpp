// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "kith/core/types.hpp"

namespace kith::dual {

using FloatMatrix = Eigen::MatrixXf;

/// Writes column `j` of a symmetric matrix (all of its entries) to `out`.
using ColumnFunction = std::function<void(Index j, std::span<double> out)>;

/// The block of some samples in a larger symmetric matrix, column by column at first use: a
/// solution reads few of them.
class LazyBlock {
 public:
  LazyBlock(const MatrixRef& K, std::vector<Index> members);
  ~LazyBlock();
  LazyBlock(const LazyBlock&) = delete;
  LazyBlock& operator=(const LazyBlock&) = delete;
  [[nodiscard]] const double* column(Index j);
  [[nodiscard]] Index size() const { return std::ssize(members_); }

 private:
  const double* data_;
  Index stride_;
  std::vector<Index> members_;
  std::vector<Index> slot_;  // of a fetched column, in order of fetching; else -1
  Index used_ = 0;
  std::unique_ptr<double[]> columns_;  // not initialised: memory is touched as columns come
};

/// A symmetric matrix as the dual solvers read it: by columns, with an optional constant added to
/// the diagonal. Owns no numbers, save the columns of a block that were read: what it was made from
/// must outlive it.
class SymmetricView {
 public:
  /// K is square and symmetric; both triangles are read. Give it a Matrix (or a block of one): an
  /// expression would be evaluated into a temporary that dies at the end of the statement.
  [[nodiscard]] static SymmetricView dense(const MatrixRef& K, double shift = 0);
  [[nodiscard]] static SymmetricView dense(const Eigen::Ref<const FloatMatrix>& K,
                                           double shift = 0);
  /// The block of the samples `members`, whose columns are copied as they are needed. Copies of the
  /// view share them; one thread at a time may use them.
  [[nodiscard]] static SymmetricView block(const MatrixRef& K, std::vector<Index> members,
                                           double shift = 0);
  /// A matrix that is never formed. `diagonal` excludes `shift`.
  [[nodiscard]] static SymmetricView columns(Vector diagonal, ColumnFunction column,
                                             double shift = 0);

  [[nodiscard]] Index size() const { return size_; }
  /// The diagonal, shift included.
  [[nodiscard]] const Vector& diagonal() const { return diagonal_; }

  /// out[k] = K(rows[k], column).
  void gather(Index column, std::span<const Index> rows, double* out) const;
  void gather(Index column, std::span<const Index> rows, float* out) const;
  /// The whole column as float.
  void copy_column(Index column, float* out) const;
  /// The stored column itself where it needs no work (float64, no shift, no factor), else null.
  [[nodiscard]] const double* direct(Index column) const;
  /// g += K(:, columns) weights.
  void add_columns(std::span<const Index> columns, std::span<const double> weights,
                   Vector& g) const;
  /// K u, over the nonzeros of u.
  [[nodiscard]] Vector times(const VectorRef& u) const;
  /// Largest |K(i, j)|; reads everything.
  [[nodiscard]] double largest_entry() const;
  /// The same matrix times `factor`.
  [[nodiscard]] SymmetricView scaled(double factor) const;

 private:
  template <class Scalar>
  struct Dense {
    const Scalar* data;
    Index stride;
  };
  using Storage =
      std::variant<Dense<double>, Dense<float>, ColumnFunction, std::shared_ptr<LazyBlock>>;

  SymmetricView(Storage storage, Vector diagonal, double shift);
  /// The stored column in double, where it is stored so; else null.
  [[nodiscard]] const double* stored(Index column) const;
  template <class Scalar>
  void gather_as(Index column, std::span<const Index> rows, Scalar* out) const;

  Storage storage_;
  Index size_;
  double shift_;       // already times factor_
  double factor_ = 1;  // applies to what storage_ holds
  Vector diagonal_;    // factor and shift included
};

}  // namespace kith::dual
