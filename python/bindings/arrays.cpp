// SPDX-License-Identifier: Apache-2.0
#include "arrays.hpp"

#include <algorithm>
#include <cstring>

#include "kith/core/error.hpp"
#include "running.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// Square pieces of this many numbers a side are copied at a time, so that the order of the source
/// costs nothing.
constexpr Index kTile = 64;

template <class Number>
RowMatrix copied(const char* data, Index rows, Index cols, Index row_step, Index column_step) {
  RowMatrix values(rows, cols);
  for (Index top = 0; top < rows; top += kTile) {
    for (Index left = 0; left < cols; left += kTile) {
      for (Index i = top; i < std::min(top + kTile, rows); ++i) {
        for (Index j = left; j < std::min(left + kTile, cols); ++j) {
          Number one;  // the array may lie at any address
          std::memcpy(&one, data + i * row_step + j * column_step, sizeof one);
          values(i, j) = static_cast<double>(one);
        }
      }
    }
  }
  return values;
}

}  // namespace

ArrayView::ArrayView(const py::object& given) : single_(is_single(given)) {
  py::array array = single_ || py::isinstance<py::array_t<double>>(given) ? py::array(given)
                                                                          : Doubles::ensure(given);
  if (!array) {
    PyErr_Clear();
    throw Error(ErrorCode::kInvalidArgument, "similarities must be numbers");
  }
  if (array.ndim() != 2) {
    throw Error(ErrorCode::kInvalidArgument, "similarities must be a matrix, and have " +
                                                 std::to_string(array.ndim()) + " dimensions");
  }
  data_ = static_cast<const char*>(array.data());
  rows_ = array.shape(0);
  cols_ = array.shape(1);
  row_step_ = array.strides(0);
  column_step_ = array.strides(1);
  owner_ = keep(std::move(array));
}

DenseBlock ArrayView::part(Index first, Index count) const {
  constexpr Index kWidth = sizeof(double);
  const char* from = data_ + first * row_step_;
  const bool in_order = (column_step_ == kWidth || cols_ <= 1) &&
                        (row_step_ == cols_ * kWidth || count <= 1) &&
                        reinterpret_cast<std::uintptr_t>(from) % alignof(double) == 0;
  if (single_) return DenseBlock(copied<float>(from, count, cols_, row_step_, column_step_));
  if (!in_order) return DenseBlock(copied<double>(from, count, cols_, row_step_, column_step_));
  return {reinterpret_cast<const double*>(from), count, cols_, owner_};
}

bool is_sparse(const py::object& array) { return py::hasattr(array, "tocsr"); }

SparseBlock sparse_block(const py::object& matrix, Absent absent) {
  const py::object csr = matrix.attr("tocsr")().attr("copy")();
  csr.attr("sum_duplicates")();
  const auto starts = csr.attr("indptr").cast<py::array_t<std::int64_t, py::array::forcecast>>();
  const auto columns = csr.attr("indices").cast<py::array_t<std::int32_t, py::array::forcecast>>();
  const auto values = csr.attr("data").cast<Doubles>();
  const auto width = csr.attr("shape").cast<std::pair<Index, Index>>().second;
  for (py::ssize_t k = 0; k < columns.size(); ++k) {  // which SciPy does not check
    if (columns.data()[k] >= 0 && columns.data()[k] < width) continue;
    throw Error(ErrorCode::kInvalidArgument, "a sparse matrix of " + std::to_string(width) +
                                                 " columns has an entry in column " +
                                                 std::to_string(columns.data()[k]));
  }
  SparseBlock block;
  block.absent = absent;
  block.cols = width;
  block.starts.assign(starts.data(), starts.data() + starts.size());
  block.columns.assign(columns.data(), columns.data() + columns.size());
  block.values.assign(values.data(), values.data() + values.size());
  return block;
}

bool is_single(const py::object& array) { return py::isinstance<py::array_t<float>>(array); }

Block block_of(const py::object& array, Borrowed* borrowed) {
  if (is_sparse(array)) return sparse_block(array, Absent::kMissing);
  const ArrayView view(array);
  if (borrowed != nullptr) borrowed->push_back(view.owner());
  return view.whole();
}

ResultArray::ResultArray(Index rows, Index cols, bool single) : cols_(cols), single_(single) {
  py::array array = single ? py::array(py::array_t<float>({rows, cols}))
                           : py::array(py::array_t<double>({rows, cols}));
  data_ = array.mutable_data();
  owner_ = keep(std::move(array));
}

void ResultArray::put(Index first, const Eigen::Ref<const RowMatrix>& values) const {
  using Singles = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  if (single_) {
    Eigen::Map<Singles>(static_cast<float*>(data_) + first * cols_, values.rows(), cols_) =
        values.cast<float>();
  } else {
    Eigen::Map<RowMatrix>(static_cast<double*>(data_) + first * cols_, values.rows(), cols_) =
        values;
  }
}

py::object ResultArray::array() const {
  auto* held = static_cast<PyObject*>(const_cast<void*>(owner_.get()));
  return py::reinterpret_borrow<py::object>(held);
}

py::object array_of(const Block& block, Access access) {
  if (const auto* sparse = std::get_if<SparseBlock>(&block)) {
    const py::object csr = py::module_::import("scipy.sparse").attr("csr_matrix");
    const auto values = py::array_t<double>(sparse->entries(), sparse->values.data());
    const auto columns = py::array_t<std::int32_t>(sparse->entries(), sparse->columns.data());
    const auto starts =
        py::array_t<std::int64_t>(std::ssize(sparse->starts), sparse->starts.data());
    return csr(py::make_tuple(values, columns, starts),
               py::arg("shape") = py::make_tuple(sparse->rows(), sparse->cols));
  }
  // The array keeps the block alive: no copy.
  auto* held = new DenseBlock(std::get<DenseBlock>(block));
  const py::capsule owner(held, [](void* one) { delete static_cast<DenseBlock*>(one); });
  py::array_t<double> array({held->rows(), held->cols()}, held->values().data(), owner);
  if (access == Access::kReadOnly) array.attr("flags").attr("writeable") = false;
  return array;
}

py::array_t<double> array_of(const Matrix& values) {
  py::array_t<double> array({values.rows(), values.cols()});
  Eigen::Map<RowMatrix>(array.mutable_data(), values.rows(), values.cols()) = values;
  return array;
}

py::object array_or_none(const Matrix& values) {
  if (values.cols() == 0) return py::none();
  return array_of(values);
}

Labels labels_of(const std::vector<std::string>& labels, Index samples) {
  if (std::ssize(labels) != samples) {
    throw Error(ErrorCode::kInvalidArgument, std::to_string(labels.size()) + " labels for " +
                                                 std::to_string(samples) + " samples");
  }
  return make_labels(labels);
}

Labels labels_of(const GivenLabels& given, Index samples) {
  const auto& [own, groups] = given;
  Labels labels = labels_of(own, samples);
  if (!groups.empty()) set_groups(labels, make_groups(groups), "groups");
  return labels;
}

MatchedSets matched_sets(const std::vector<GivenMatrix>& given, const std::vector<std::string>& ids,
                         Borrowed* borrowed) {
  std::vector<SimilaritySet> sets;
  for (const auto& [name, array, distance, score_column] : given) {
    SimilaritySet set;
    set.name = name;
    set.source = name;
    set.format = "array";
    set.kind = distance ? PairKind::kDistance : PairKind::kSimilarity;
    set.block = block_of(array, borrowed);
    set.score_column = score_column;
    if (!ids.empty() && std::ssize(ids) != set.rows()) {
      throw Error(ErrorCode::kInvalidArgument, std::to_string(ids.size()) + " ids for " +
                                                   std::to_string(set.rows()) + " samples");
    }
    set.row_ids = ids;
    set.column_ids = ids;
    sets.push_back(std::move(set));
  }
  return match(std::move(sets));
}

}  // namespace kith::python
