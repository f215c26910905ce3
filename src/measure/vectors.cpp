// SPDX-License-Identifier: Apache-2.0
#include "measure/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/csv_parser.hpp"
#include "data/formats/idx.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/text.hpp"
#include "kith/data/formats.hpp"

namespace kith::detail {
namespace {

/// `label index:value` in the first line with more than a label: a sample may be all zeros. Labels
/// alone are a table of one column, unless the name says otherwise.
bool looks_like_libsvm_features(std::string_view head, const std::string& name) {
  constexpr std::size_t kMostLines = 1000;
  std::vector<std::string_view> fields;
  for (const std::string_view line : whole_lines(head, '#', kMostLines)) {
    split_blanks(line, fields);
    if (!parse_double(fields[0])) return false;
    if (fields.size() == 1) continue;
    const std::size_t colon = fields[1].find(':');
    return colon != std::string_view::npos && parse_integer(fields[1].substr(0, colon));
  }
  return !trim(head).empty() && format_of_name(name) == Format::kLibsvm;
}

std::string_view kernel_hint(std::optional<long long> index) {
  return index == 0 ? " (0:serial begins a line of a precomputed kernel, which is no table of "
                      "vectors but a matrix for [[similarity]])"
                    : "";
}

constexpr long long kGreatestIndex = std::numeric_limits<std::int32_t>::max();

/// Appends the row of one line, whose indices ascend from 1.
void read_entries(const LineReader& lines, const std::vector<std::string_view>& fields,
                  SparseBlock& table) {
  long long before = 0;
  for (std::size_t k = 1; k < fields.size(); ++k) {
    const std::size_t colon = fields[k].find(':');
    const std::optional<long long> index =
        colon == std::string_view::npos ? std::nullopt : parse_integer(fields[k].substr(0, colon));
    if (index > kGreatestIndex) {
      throw bad_input(lines.place_of(fields[k]), "the index of {} is too large; the greatest is {}",
                      in_quotes(fields[k]), kGreatestIndex);
    }
    if (!index || *index <= before) {
      throw bad_input(lines.place_of(fields[k]),
                      "{} is not index:value with an index above {}; the indices of a "
                      "line ascend from 1{}",
                      in_quotes(fields[k]), before, kernel_hint(index));
    }
    before = *index;
    const double value = number_in(fields[k].substr(colon + 1), lines, MissingWord::kRefused);
    table.cols = std::max(table.cols, static_cast<Index>(*index));
    if (value != 0) table.add(static_cast<Index>(*index - 1), value);
  }
  table.end_row();
}

/// Dense where that takes no more memory to speak of: half of the numbers are there.
Block held(SparseBlock table) {
  table.absent = Absent::kZero;
  const double cells = static_cast<double>(table.rows()) * static_cast<double>(table.cols);
  if (2 * static_cast<double>(table.entries()) >= cells) return to_dense(table);
  return table;
}

VectorData read_libsvm_features(ByteSource& source, const RunContext& ctx) {
  LineReader lines(source);
  SparseBlock table;
  std::vector<std::string_view> fields;
  std::string_view line;
  while (lines.next(line)) {
    if (trim(line).empty()) continue;
    ctx.check_stop();
    split_blanks(line, fields);
    static_cast<void>(number_in(fields[0], lines, MissingWord::kRefused));
    read_entries(lines, fields, table);
  }
  VectorData data{.source = source.name(), .ids = {}, .values = held(std::move(table))};
  data.absent_is_zero = true;
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

/// The line of a row of delimited text, which is read again to find it; 0 in other formats.
long line_of_row(const std::string& path, Index row) {
  ByteSource source = ByteSource::open(path);
  const Format format = table_format(source);
  if (format != Format::kCsv && format != Format::kTsv) return 0;
  CsvParser parser(source, format == Format::kTsv ? std::optional('\t') : std::nullopt);
  std::vector<double> numbers(static_cast<std::size_t>(parser.cols()));
  std::string id;
  for (Index i = 0; i <= row; ++i) {
    if (!parser.next(numbers, id)) return 0;
  }
  return parser.line_number();
}

[[noreturn]] void refuse_number(const VectorData& data, Index i, Index j) {
  const std::string column = data.columns.empty()
                                 ? std::to_string(j + 1)
                                 : in_quotes(data.columns[static_cast<std::size_t>(j)]);
  throw bad_input({data.source, line_of_row(data.source, i)},
                  "{} has no value in column {}; a vector needs all of its numbers",
                  sample_name(data.ids, i), column);
}

void refuse_missing(const VectorData& data) {
  if (const auto* sparse = std::get_if<SparseBlock>(&data.values)) {
    for (Index i = 0; i < sparse->rows(); ++i) {
      const SparseRow row = sparse->row(i);
      for (std::size_t e = 0; e < row.size(); ++e) {
        if (!std::isfinite(row.values[e])) refuse_number(data, i, row.columns[e]);
      }
    }
    return;
  }
  const auto& dense = std::get<DenseBlock>(data.values);
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j) {
      if (!std::isfinite(dense(i, j))) refuse_number(data, i, j);
    }
  }
}

/// What is said of a first row of words that was taken for a header.
constexpr std::string_view kRepeatedColumn = "stands over columns";

/// A table that may be no table of numbers at all.
VectorData read_numbers(const std::string& path, const RunContext& ctx) {
  try {
    return read_table(path, ctx);
  } catch (const Error& error) {
    const std::string_view message = error.what();
    const bool words = message.find(kNotANumber) != std::string_view::npos ||
                       message.find(kRepeatedColumn) != std::string_view::npos;
    if (!words) throw;
    throw Error(error.code(),
                fmt::format("{}. Vectors have numbers in every column but the first, which may "
                            "hold ids; strings have measures of their own (edit, edit-distance, "
                            "compression-distance, spectrum), and so have columns of words "
                            "(value-difference)",
                            message));
  }
}

}  // namespace

VectorData read_vectors(const std::string& path, const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  if (source.head().starts_with('>')) {
    throw bad_input({path, 1},
                    "a line that begins with > is the name of a sequence in FASTA; vectors are "
                    "numbers. Sequences are compared by smith-waterman and needleman-wunsch");
  }
  if (looks_like_idx(source.head())) {
    return {.source = path, .ids = {}, .values = DenseBlock(read_idx(source, ctx))};
  }
  if (looks_like_libsvm_features(source.head(), path)) {
    return read_libsvm_features(source, ctx);
  }
  VectorData data = read_numbers(path, ctx);
  refuse_missing(data);
  return data;
}

VectorData read_table(const std::string& path, const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  SimilaritySet set = read_similarity(path, {.format = table_format(source)}, ctx);
  if (auto* sparse = std::get_if<SparseBlock>(&set.block)) set.block = held(std::move(*sparse));
  VectorData data{.source = path, .ids = std::move(set.row_ids), .values = std::move(set.block)};
  data.columns = std::move(set.column_ids);
  return data;
}

}  // namespace kith::detail
