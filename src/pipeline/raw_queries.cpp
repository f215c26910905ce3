// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/raw_queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "measure/columns.hpp"

namespace kith {
namespace {

/// What is to be measured of new samples, before they are read.
std::vector<RawMatrix> unread_matrices(const ModelRecord& record) {
  std::vector<RawMatrix> matrices;
  for (const ModelMatrix& matrix : record.matrices) {
    matrices.push_back(
        {matrix.name, matrix.measure.value().settings, RawData{}, matrix.measure->file});
  }
  return matrices;
}

/// The new samples of each matrix, or those of the one that stands for a model on vectors.
std::vector<RawMatrix> read_queries(const ModelRecord& record, std::span<const std::string> files,
                                    const RunContext& ctx) {
  if (record.features == 0) return read_samples(unread_matrices(record), files, ctx);
  RawMatrix vectors;
  vectors.samples = read_raw(files.front(), RawKind::kVectors, ctx);
  const VectorData trained{.source = "the model",
                           .ids = {},
                           .values = {},
                           .absent_is_zero = false,
                           .columns = record.feature_names};
  if (std::optional<VectorData> moved =
          detail::in_column_order(std::get<VectorData>(vectors.samples), trained)) {
    vectors.samples = std::move(*moved);
  }
  return {std::move(vectors)};
}

/// The first `width` columns of what may have more or fewer.
SparseBlock cut(const SparseBlock& table, Index width) {
  SparseBlock narrow = table.without_rows();
  narrow.cols = width;
  for (Index i = 0; i < table.rows(); ++i) {
    const SparseRow row = table.row(i);
    for (std::size_t e = 0; e < row.size() && row.columns[e] < width; ++e) {
      narrow.add(row.columns[e], row.values[e]);
    }
    narrow.end_row();
  }
  return narrow;
}

/// The vectors as wide as those of the model. A format that leaves out zeros may be narrower, or
/// have features that no training sample had: they have no weight.
Block of_width(const VectorData& data, Index features) {
  const Index own = cols(data.values);
  if (own == features) return data.values;
  if (!data.absent_is_zero) {
    throw bad_input({data.source},
                    "vectors of {} features; the model was trained on "
                    "{}",
                    own, features);
  }
  if (const auto* sparse = std::get_if<SparseBlock>(&data.values)) return cut(*sparse, features);
  const auto& dense = std::get<DenseBlock>(data.values);
  check_dense_fits(dense.rows(), features);
  RowMatrix values = RowMatrix::Zero(dense.rows(), features);
  const Index common = std::min(features, own);
  values.leftCols(common) = dense.values().leftCols(common);
  return DenseBlock(std::move(values));
}

}  // namespace

Index files_of_samples(const ModelRecord& record) {
  Index files = record.features > 0 ? 1 : 0;
  for (const ModelMatrix& matrix : record.matrices) {
    if (matrix.measure) files = std::max(files, matrix.measure->file + 1);
  }
  return files;
}

std::vector<std::string> sample_files(const ModelRecord& record, std::span<const NamedFile> files,
                                      std::string_view flag) {
  const Index wanted = files_of_samples(record);
  if (wanted == 0) {
    throw invalid(
        "the model was trained on a matrix and cannot measure raw samples: give their rows with "
        "[[similarity]] or [[distance]], or train it with [[data]] and [[measure]]");
  }
  if (wanted == 1 && record.matrices.size() != 1) {
    if (files.size() == 1 && files.front().name.empty()) return {files.front().path};
    if (record.features > 0) {
      throw invalid("{} files of {}; the model takes vectors from one file without a name",
                    files.size(), flag);
    }
    throw invalid(
        "the model measures all of its {} matrices from one file, and {}; give {} FILE once, "
        "without name=",
        record.matrices.size(),
        files.size() == 1 ? fmt::format("{} is given for {} alone", in_quotes(files.front().path),
                                        in_quotes(files.front().name))
                          : fmt::format("{} are given", files.size()),
        flag);
  }
  std::vector<std::string> paths;
  for (const Index f : files_by_matrix(record, files, flag)) {
    if (f < 0) {
      const std::string& name = record.matrices[paths.size()].name;
      throw invalid("there are no new samples for matrix {} of the model; give {} {}=FILE",
                    in_quotes(name), flag, name);
    }
    paths.push_back(files[static_cast<std::size_t>(f)].path);
  }
  return paths;
}

RawQueryReader::RawQueryReader(const ModelRecord& record, std::span<const std::string> files,
                               const RunContext& ctx)
    : record_(&record), ctx_(ctx), matrices_(read_queries(record, files, ctx)) {
  ctx_.sink = nullptr;  // progress is of queries, which the caller counts
}

QueryChunk RawQueryReader::next(Index most_rows) {
  const Index in_all = size_of(matrices_.front().samples);
  std::vector<Index> positions(static_cast<std::size_t>(std::min(most_rows, in_all - done_)));
  std::iota(positions.begin(), positions.end(), done_);
  done_ += std::ssize(positions);
  const std::span<const std::string> ids = ids_of(matrices_);
  QueryChunk chunk;
  chunk.numbered = ids.empty();
  for (const Index i : positions) {
    chunk.ids.push_back(ids.empty() ? std::to_string(i + 1) : ids[static_cast<std::size_t>(i)]);
  }
  if (record_->features > 0) {
    const RawData part = select(matrices_.front().samples, positions);
    chunk.queries.vectors = of_width(std::get<VectorData>(part), record_->features);
    return chunk;
  }
  for (std::size_t m = 0; m < matrices_.size(); ++m) {
    chunk.queries.matrices.push_back(
        measure_rows(*record_->matrices[m].measure, select(matrices_[m].samples, positions), ctx_));
  }
  return chunk;
}

std::vector<QueryNames> RawQueryReader::names_of(const QueryChunk& chunk) const {
  std::vector<QueryNames> names;
  for (const RawMatrix& matrix : matrices_) {
    names.push_back({.source = source_of(matrix.samples),
                     .from_source = source_of(matrix.samples),
                     .queries = chunk.ids,
                     .samples = record_->ids,
                     .positions = record_->positions});
  }
  return names;
}

}  // namespace kith
