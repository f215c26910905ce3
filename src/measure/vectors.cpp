// SPDX-License-Identifier: Apache-2.0
#include "measure/vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "data/formats/checks.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/data/formats.hpp"
#include "measure/idx.hpp"

namespace kith::detail {
namespace {

struct Entry {
  Index row;
  Index column;
  double value;
};

/// `label index:value`, the index at least 1: precomputed kernels begin with 0:serial.
bool looks_like_libsvm_features(std::string_view head) {
  for (const std::string_view line : whole_lines(head, '#', 1)) {
    std::vector<std::string_view> fields;
    split_blanks(line, fields);
    if (fields.size() < 2 || !parse_double(fields[0])) return false;
    const std::size_t colon = fields[1].find(':');
    if (colon == std::string_view::npos) return false;
    const std::optional<long long> index = parse_integer(fields[1].substr(0, colon));
    return index && *index >= 1;
  }
  return false;
}

/// The entries of one line, whose indices ascend from 1.
void read_entries(const LineReader& lines, const std::vector<std::string_view>& fields, Index row,
                  std::vector<Entry>& entries) {
  long long before = 0;
  for (std::size_t k = 1; k < fields.size(); ++k) {
    const std::size_t colon = fields[k].find(':');
    const std::optional<long long> index =
        colon == std::string_view::npos ? std::nullopt : parse_integer(fields[k].substr(0, colon));
    if (!index || *index <= before || *index > std::numeric_limits<std::int32_t>::max()) {
      throw bad_input(lines.place_of(fields[k]),
                      fmt::format("{} is not index:value with an index above {}; the indices of a "
                                  "line ascend from 1",
                                  in_quotes(fields[k]), before));
    }
    before = *index;
    const double value = number_in(fields[k].substr(colon + 1), lines, MissingWord::kRefused);
    entries.push_back({row, static_cast<Index>(*index) - 1, value});
  }
}

VectorData read_libsvm_features(ByteSource& source, const RunContext& ctx) {
  LineReader lines(source);
  std::vector<Entry> entries;
  std::vector<std::string_view> fields;
  Index rows = 0;
  std::string_view line;
  while (lines.next(line)) {
    if (trim(line).empty()) continue;
    ctx.check_stop();
    split_blanks(line, fields);
    static_cast<void>(number_in(fields[0], lines, MissingWord::kRefused));
    read_entries(lines, fields, rows, entries);
    ++rows;
  }
  Index columns = 0;
  for (const Entry& entry : entries) columns = std::max(columns, entry.column + 1);
  check_dense_fits(rows, columns);
  VectorData data{.source = source.name(), .ids = {}, .values = RowMatrix::Zero(rows, columns)};
  data.absent_is_zero = true;
  for (const Entry& entry : entries) data.values(entry.row, entry.column) = entry.value;
  return data;
}

/// A table of numbers is a csv unless its name or its first bytes say otherwise: an edge list or a
/// BLAST table has no vectors.
Format table_format(ByteSource& source) {
  if (source.head().starts_with("\x93NUMPY")) return Format::kNpy;
  const std::optional<Format> named = format_of_name(source.name());
  const bool table = named == Format::kTsv || named == Format::kNpy ||
                     named == Format::kMatrixMarket || named == Format::kMat;
  return table ? *named : Format::kCsv;
}

void refuse_missing(const RowMatrix& values, const std::string& path) {
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      if (std::isfinite(values(i, j))) continue;
      throw bad_input({path}, fmt::format("row {}, column {} has no value; a vector needs all of "
                                          "its numbers",
                                          i + 1, j + 1));
    }
  }
}

}  // namespace

VectorData read_vectors(const std::string& path, const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  if (looks_like_idx(source.head())) return read_idx(source, ctx);
  if (looks_like_libsvm_features(source.head())) return read_libsvm_features(source, ctx);
  SimilaritySet set = read_similarity(path, {.format = table_format(source)}, ctx);
  if (auto* sparse = std::get_if<SparseBlock>(&set.block)) sparse->absent = Absent::kZero;
  VectorData data{
      .source = path, .ids = std::move(set.row_ids), .values = to_dense(set.block).take()};
  data.columns = std::move(set.column_ids);
  refuse_missing(data.values, path);
  return data;
}

}  // namespace kith::detail
