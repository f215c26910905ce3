// SPDX-License-Identifier: Apache-2.0
// Matrices as delimited text; csv_layout.hpp states how a file is understood.
#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "core/errors.hpp"
#include "data/formats/csv_parser.hpp"
#include "data/formats/readers.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr Index kFirstBytes = Index{8} << 20;
constexpr Index kRowsBetweenReports = 256;

std::optional<char> separator_of(const ReadSettings& settings) {
  if (settings.format == Format::kTsv) return '\t';
  return std::nullopt;
}

/// Rows to make room for at first. Most matrices are square; but no more than the bytes of the file
/// can fill, each cell taking at least one byte.
Index first_capacity(const ByteSource& source, Index cols) {
  const auto size = source.plain_size();
  const Index most = size ? *size / cols + 1 : kFirstBytes / (8 * cols) + 1;
  return std::clamp<Index>(cols, 1, most);
}

void refuse_repeated(const std::vector<std::string>& ids, std::span<const long> lines,
                     const std::string& file) {
  std::unordered_map<std::string_view, std::size_t> seen;
  seen.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto [earlier, fresh] = seen.emplace(ids[i], i);
    if (!fresh) {
      throw bad_input({file, lines[i], 1},
                      "the row id {} stands on lines {} and {}; ids must differ", in_quotes(ids[i]),
                      lines[earlier->second], lines[i]);
    }
  }
}

class CsvRows final : public RowReader {
 public:
  CsvRows(ByteSource source, std::optional<char> separator)
      : source_(std::move(source)), parser_(source_, separator) {}
  [[nodiscard]] Index cols() const override { return parser_.cols(); }
  [[nodiscard]] std::span<const std::string> column_ids() const override {
    return parser_.column_ids();
  }
  [[nodiscard]] bool has_row_ids() const override { return parser_.has_row_ids(); }
  [[nodiscard]] bool next(std::span<double> row, std::string& id) override {
    return parser_.next(row, id);
  }

 private:
  ByteSource source_;
  CsvParser parser_;
};

void append_number(std::string& out, double value) {
  if (value != value) {
    out += "NaN";
    return;
  }
  std::array<char, 32> digits;
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

}  // namespace

SimilaritySet read_csv(ByteSource& source, const ReadSettings& settings, const RunContext& ctx) {
  CsvParser parser(source, separator_of(settings));
  const Index cols = parser.cols();
  // Grown by realloc, which moves pages and copies nothing: the numbers exist once.
  RowMatrix values(first_capacity(source, cols), cols);
  SimilaritySet set;
  std::vector<long> lines;
  Index count = 0;
  std::string id;
  while (true) {
    if (count == values.rows()) values.conservativeResize(count + count / 2 + 1, Eigen::NoChange);
    const std::span<double> row(values.data() + count * cols, static_cast<std::size_t>(cols));
    if (!parser.next(row, id)) break;
    if (parser.has_row_ids()) {
      set.row_ids.push_back(std::move(id));
      lines.push_back(parser.line_number());
    }
    if (++count % kRowsBetweenReports == 0) source.report("reading", ctx);
  }
  refuse_repeated(set.row_ids, lines, source.name());
  values.conservativeResize(count, Eigen::NoChange);
  set.column_ids = parser.column_ids();
  set.block = DenseBlock(std::move(values));
  return set;
}

std::unique_ptr<RowReader> csv_rows(ByteSource source, const ReadSettings& settings,
                                    const RunContext&) {
  return std::make_unique<CsvRows>(std::move(source), separator_of(settings));
}

void write_csv(AtomicFile& file, const SimilaritySet& set, char separator, const RunContext& ctx) {
  const bool row_ids = !set.row_ids.empty();
  const bool column_ids = !set.column_ids.empty();
  const bool empty_corner = row_ids && column_ids;
  std::string line;
  const auto append_id = [&](const std::string& id) {
    append_cell(line, id, separator, needs_quotes_as_id(id, empty_corner));
  };
  if (column_ids) {
    for (std::size_t j = 0; j < set.column_ids.size(); ++j) {
      if (row_ids || j > 0) line += separator;
      append_id(set.column_ids[j]);
    }
    line += '\n';
  }
  std::vector<double> row(static_cast<std::size_t>(set.cols()));
  for (Index i = 0; i < set.rows(); ++i) {
    copy_row(set.block, i, row);
    if (row_ids) append_id(set.row_ids[static_cast<std::size_t>(i)]);
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row_ids || j > 0) line += separator;
      append_number(line, row[j]);
    }
    line += '\n';
    file.write(line);
    line.clear();
    if (i % kRowsBetweenReports == 0) ctx.check_stop();
  }
}

}  // namespace kith::detail
