// SPDX-License-Identifier: Apache-2.0
// Arrays of NumPy and SciPy as blocks of the library, and back.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "kith/data/block.hpp"
#include "kith/data/labels.hpp"
#include "kith/data/similarity_set.hpp"

namespace kith::python {

/// A matrix of NumPy where it lies, of float64 or float32 in any order. Made with the GIL; needs
/// none after that.
class ArrayView {
 public:
  /// Numbers of another type are copied as doubles. Throws Error unless it is a matrix.
  explicit ArrayView(const pybind11::object& array);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  /// Some rows, looked at where they lie if they are doubles in C order; copied otherwise.
  [[nodiscard]] DenseBlock part(Index first, Index count) const;
  [[nodiscard]] DenseBlock whole() const { return part(0, rows_); }
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  const char* data_ = nullptr;
  Index rows_ = 0;
  Index cols_ = 0;
  Index row_step_ = 0;  ///< in bytes, as the next
  Index column_step_ = 0;
  bool single_ = false;
  std::shared_ptr<const void> owner_;
};

/// Arrays of the caller that are looked at where they lie, for as long as somebody does.
using Borrowed = std::vector<std::weak_ptr<const void>>;

/// C-contiguous doubles are looked at where they lie; everything else is copied once. A SciPy
/// sparse matrix becomes a sparse block, in which an absent pair is missing, not 0.
[[nodiscard]] Block block_of(const pybind11::object& array, Borrowed* borrowed = nullptr);
[[nodiscard]] bool is_single(const pybind11::object& array);
[[nodiscard]] bool is_sparse(const pybind11::object& array);
/// Of a SciPy matrix.
[[nodiscard]] SparseBlock sparse_block(const pybind11::object& matrix, Absent absent);

/// Without a copy of dense numbers. Those of a mapped file cannot be written to.
enum class Access { kWritable, kReadOnly };
[[nodiscard]] pybind11::object array_of(const Block& block, Access access = Access::kWritable);
[[nodiscard]] pybind11::array_t<double> array_of(const Matrix& values);
[[nodiscard]] pybind11::object array_or_none(const Matrix& values);

/// An array for results, of float64 or, where `single`, of float32. Made with the GIL, filled
/// without.
class ResultArray {
 public:
  ResultArray(Index rows, Index cols, bool single);
  /// Writes rows from `first` on.
  void put(Index first, const Eigen::Ref<const RowMatrix>& values) const;
  /// With the GIL.
  [[nodiscard]] pybind11::object array() const;

 private:
  std::shared_ptr<const void> owner_;  ///< the array
  void* data_ = nullptr;
  Index cols_ = 0;
  bool single_ = false;
};

/// One matrix as Python hands it over: (name, array, whether its numbers are distances, the score
/// column of a BLAST table or none).
using GivenMatrix = std::tuple<std::string, pybind11::object, bool, std::string>;
[[nodiscard]] MatchedSets matched_sets(const std::vector<GivenMatrix>& given,
                                       const std::vector<std::string>& ids,
                                       Borrowed* borrowed = nullptr);

/// Throws Error unless there is one label per sample.
[[nodiscard]] Labels labels_of(const std::vector<std::string>& labels, Index samples);
/// (labels, groups or none), one of each per sample.
using GivenLabels = std::pair<std::vector<std::string>, std::vector<std::string>>;
[[nodiscard]] Labels labels_of(const GivenLabels& given, Index samples);

}  // namespace kith::python
