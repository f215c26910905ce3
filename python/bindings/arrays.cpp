// SPDX-License-Identifier: Apache-2.0
#include "arrays.hpp"

#include "kith/core/error.hpp"

namespace py = pybind11;

namespace kith::python {
namespace {

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// Keeps a Python object alive from C++, whoever lets go of it last.
std::shared_ptr<const void> keep(py::object object) {
  return {new py::object(std::move(object)), [](const void* held) {
            const py::gil_scoped_acquire gil;
            delete static_cast<const py::object*>(held);
          }};
}

SparseBlock sparse_block(const py::object& matrix) {
  const py::object csr = matrix.attr("tocsr")().attr("copy")();
  csr.attr("sum_duplicates")();
  const auto starts = csr.attr("indptr").cast<py::array_t<std::int64_t, py::array::forcecast>>();
  const auto columns = csr.attr("indices").cast<py::array_t<std::int32_t, py::array::forcecast>>();
  const auto values = csr.attr("data").cast<Doubles>();
  SparseBlock block;
  block.cols = csr.attr("shape").cast<std::pair<Index, Index>>().second;
  block.starts.assign(starts.data(), starts.data() + starts.size());
  block.columns.assign(columns.data(), columns.data() + columns.size());
  block.values.assign(values.data(), values.data() + values.size());
  return block;
}

DenseBlock dense_block(const py::object& given) {
  auto array = Doubles::ensure(given);
  if (!array) {
    PyErr_Clear();
    throw Error(ErrorCode::kInvalidArgument, "similarities must be numbers");
  }
  if (array.ndim() != 2) {
    throw Error(ErrorCode::kInvalidArgument, "similarities must be a matrix, and have " +
                                                 std::to_string(array.ndim()) + " dimensions");
  }
  const double* data = array.data();
  const Index rows = array.shape(0);
  const Index cols = array.shape(1);
  return {data, rows, cols, keep(std::move(array))};
}

}  // namespace

Block block_of(const py::object& array) {
  if (py::hasattr(array, "tocsr")) return sparse_block(array);
  return dense_block(array);
}

py::object array_of(const Block& block) {
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
  return py::array_t<double>({held->rows(), held->cols()}, held->values().data(), owner);
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

MatchedSets matched_sets(const std::vector<GivenMatrix>& given,
                         const std::vector<std::string>& ids) {
  std::vector<SimilaritySet> sets;
  for (const auto& [name, array, distance] : given) {
    SimilaritySet set;
    set.name = name;
    set.source = name;
    set.format = "array";
    set.kind = distance ? PairKind::kDistance : PairKind::kSimilarity;
    set.block = block_of(array);
    if (!ids.empty() && std::ssize(ids) != set.rows()) {
      throw Error(ErrorCode::kInvalidArgument, std::to_string(ids.size()) + " ids for " +
                                                   std::to_string(set.rows()) + " samples");
    }
    set.row_ids = ids;
    set.column_ids = ids;
    sets.push_back(square(std::move(set)));
  }
  return match(std::move(sets));
}

}  // namespace kith::python
