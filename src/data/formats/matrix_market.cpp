// SPDX-License-Identifier: Apache-2.0
// MatrixMarket. Coordinate files stay sparse, and a pair they do not list is zero: that is their
// definition. A sparse table whose absent pairs are missing is written with the comment
// `%kith absent missing`, which is honoured when it is read.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/pair_list.hpp"
#include "data/formats/readers.hpp"
#include "data/formats/text_out.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::string_view kBanner = "%%matrixmarket";
constexpr std::string_view kMissingComment = "%kith absent missing";
constexpr long kLinesBetweenChecks = 1L << 16;

struct MarketHeader {
  bool coordinate = false;
  bool pattern = false;
  bool symmetric = false;
  Absent absent = Absent::kZero;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  ///< numbers that follow
};

/// The lines behind the banner that are neither comment nor blank, split into fields.
class MarketLines {
 public:
  explicit MarketLines(ByteSource& source) : lines(source) {}

  [[nodiscard]] bool next(const RunContext& ctx) {
    std::string_view line;
    while (lines.next(line)) {
      if (lines.line_number() % kLinesBetweenChecks == 0) ctx.check_stop();
      if (line.starts_with('%')) {
        says_missing = says_missing || trim(line) == kMissingComment;
        continue;
      }
      split_blanks(line, fields);
      if (!fields.empty()) return true;
    }
    return false;
  }

  LineReader lines;
  std::vector<std::string_view> fields;
  bool says_missing = false;
};

void read_banner(MarketLines& text, MarketHeader& header) {
  std::string_view line;
  if (!text.lines.next(line)) throw bad_input({text.lines.name()}, "the file is empty");
  split_blanks(line, text.fields);
  std::vector<std::string> words;
  for (const std::string_view field : text.fields) words.push_back(lower_case(field));
  if (words.size() != 5 || words[0] != kBanner || words[1] != "matrix") {
    throw bad_input(text.lines.place(),
                    "{} is not the banner %%MatrixMarket matrix, followed by coordinate or array, "
                    "real, integer or pattern, and general or symmetric",
                    in_quotes(line));
  }
  const auto refuse = [&](std::size_t word, const std::string& rule) {
    return bad_input(text.lines.place_of(text.fields[word]), "{} cannot be read; {}",
                     in_quotes(words[word]), rule);
  };
  if (words[2] != "coordinate" && words[2] != "array") {
    throw refuse(2, "coordinate and array can");
  }
  header.coordinate = words[2] == "coordinate";
  header.pattern = words[3] == "pattern";
  const bool number = words[3] == "real" || words[3] == "integer" || words[3] == "double";
  if (!number && !header.pattern) throw refuse(3, "real, integer and pattern can");
  if (header.pattern && !header.coordinate) throw refuse(3, "an array holds numbers");
  if (words[4] != "general" && words[4] != "symmetric") {
    throw refuse(4, "general and symmetric similarities can");
  }
  header.symmetric = words[4] == "symmetric";
}

void read_sizes(MarketLines& text, MarketHeader& header, const RunContext& ctx) {
  const std::size_t wanted = header.coordinate ? 3 : 2;
  if (!text.next(ctx)) throw bad_input(text.lines.place(), "the line with the sizes is missing");
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < text.fields.size(); ++i) {
    const std::optional<long long> size = parse_integer(text.fields[i]);
    if (!size || *size < 0) {
      throw bad_input(text.lines.place_of(text.fields[i]),
                      "{} is not a size; a whole number from 0 is", in_quotes(text.fields[i]));
    }
    sizes.push_back(*size);
  }
  if (sizes.size() != wanted) {
    throw bad_input(text.lines.place(), "{} sizes where rows, columns{} are expected", sizes.size(),
                    header.coordinate ? " and entries" : "");
  }
  header.absent = text.says_missing ? Absent::kMissing : Absent::kZero;
  header.rows = sizes[0];
  header.cols = sizes[1];
  if (header.rows == 0 || header.cols == 0) {
    throw bad_input(text.lines.place(), "the matrix is empty ({} x {})", header.rows, header.cols);
  }
  if (header.symmetric && header.rows != header.cols) {
    throw bad_input(text.lines.place(), "a symmetric matrix of {} x {}; it must be square",
                    header.rows, header.cols);
  }
  if (header.coordinate) header.entries = sizes[2];
}

/// Refuses sizes that the file cannot back, before anything is allocated for them.
void check_sizes(MarketHeader& header, const MarketLines& text, const ByteSource& source) {
  const std::string claim = "the header claims " + std::to_string(header.rows) + " x " +
                            std::to_string(header.cols) + " numbers";
  if (header.coordinate) {
    if (std::max(header.rows, header.cols) > std::numeric_limits<std::int32_t>::max()) {
      throw bad_input(text.lines.place(), "{}; at most 2147483647 rows or columns are read", claim);
    }
  } else {
    const bool overflow = __builtin_mul_overflow(header.rows, header.cols, &header.entries) ||
                          header.entries > std::numeric_limits<std::int64_t>::max() / 16;
    if (overflow) throw bad_input(text.lines.place(), "{}, more than any memory holds", claim);
    if (header.symmetric) header.entries = header.rows * (header.rows + 1) / 2;
  }
  // The shortest entry is "1 1" or "0", and a line end.
  const std::int64_t shortest = header.coordinate ? 4 : 2;
  const std::optional<std::int64_t> size = source.plain_size();
  if (size && header.entries > (*size + 1) / shortest) {
    throw bad_input(text.lines.place(), "{}{}{} entries; a file of {} bytes cannot hold them",
                    claim, header.coordinate ? " with " : ", ", header.entries, *size);
  }
}

Error too_many(const MarketLines& text, const MarketHeader& header) {
  return bad_input(text.lines.place(), "more entries than the {} the header claims",
                   header.entries);
}

Error too_few(const MarketLines& text, const MarketHeader& header, std::int64_t found) {
  return bad_input({text.lines.name()},
                   "the file ends after {} of the {} entries the header claims", found,
                   header.entries);
}

std::int32_t position_in(const MarketLines& text, std::size_t field, std::int64_t count) {
  const std::optional<long long> position = parse_integer(text.fields[field]);
  if (!position || *position < 1 || *position > count) {
    throw bad_input(text.lines.place_of(text.fields[field]), "{} is not a {}; they go from 1 to {}",
                    in_quotes(text.fields[field]), field == 0 ? "row" : "column", count);
  }
  return static_cast<std::int32_t>(*position - 1);
}

SparseBlock read_coordinates(MarketLines& text, const MarketHeader& header, const RunContext& ctx) {
  const std::size_t width = header.pattern ? 2 : 3;
  PairEntries pairs;
  std::int64_t found = 0;
  while (text.next(ctx)) {
    if (++found > header.entries) throw too_many(text, header);
    if (text.fields.size() != width) {
      throw bad_input(text.lines.place(), "{} fields where row, column{} are expected",
                      text.fields.size(), header.pattern ? "" : " and value");
    }
    const std::int32_t row = position_in(text, 0, header.rows);
    const std::int32_t column = position_in(text, 1, header.cols);
    const double value =
        header.pattern ? 1.0 : number_in(text.fields[2], text.lines, MissingWord::kRefused);
    pairs.add(row, column, value);
    pairs.lines.push_back(text.lines.line_number());
    if (header.symmetric && row != column) {
      pairs.add(column, row, value);
      pairs.lines.push_back(text.lines.line_number());
    }
  }
  if (found < header.entries) throw too_few(text, header, found);
  // Rows without an entry are fine, but memory is given only in proportion to what was read.
  constexpr std::int64_t kFreeRows = 1'000'000;
  constexpr std::int64_t kRowsPerEntry = 100;
  if (std::max(header.rows, header.cols) > kFreeRows + kRowsPerEntry * found) {
    throw bad_input({text.lines.name()}, "the header claims {} x {} for only {} entries",
                    header.rows, header.cols, found);
  }
  const DuplicateError duplicate = [&](const PairEntry& entry, std::int64_t first,
                                       std::int64_t line) {
    return bad_input({text.lines.name(), static_cast<long>(line)},
                     "row {}, column {} is listed a second time (first in line {})", entry.row + 1,
                     entry.column + 1, first);
  };
  return compress(std::move(pairs), header.rows, header.cols, header.absent, Duplicates::kError,
                  duplicate);
}

DenseBlock read_array(MarketLines& text, const MarketHeader& header, const RunContext& ctx) {
  std::vector<double> numbers;  // grows with what is read, not with what is claimed
  const auto wanted = static_cast<std::size_t>(header.entries);
  while (text.next(ctx)) {
    for (std::size_t i = 0; i < text.fields.size(); ++i) {
      if (numbers.size() == wanted) throw too_many(text, header);
      if (numbers.size() == numbers.capacity()) {
        numbers.reserve(std::min(wanted, std::max<std::size_t>(1024, 2 * numbers.size())));
      }
      numbers.push_back(number_in(text.fields[i], text.lines, MissingWord::kNan));
    }
  }
  if (numbers.size() < wanted) {
    throw too_few(text, header, static_cast<std::int64_t>(numbers.size()));
  }
  RowMatrix values(header.rows, header.cols);
  if (!header.symmetric) {
    values = Eigen::Map<const Matrix>(numbers.data(), header.rows, header.cols);
    return DenseBlock(std::move(values));
  }
  std::size_t at = 0;  // the lower triangle, column by column
  for (Index j = 0; j < values.cols(); ++j) {
    for (Index i = j; i < values.rows(); ++i) {
      values(i, j) = values(j, i) = numbers[at];
      ++at;
    }
  }
  return DenseBlock(std::move(values));
}

}  // namespace

bool looks_like_matrix_market(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  return lower_case(head.substr(0, kBanner.size())) == kBanner;
}

SimilaritySet read_matrix_market(ByteSource& source, const ReadSettings& /*settings*/,
                                 const RunContext& ctx) {
  MarketLines text(source);
  MarketHeader header;
  read_banner(text, header);
  read_sizes(text, header, ctx);
  check_sizes(header, text, source);
  SimilaritySet set;
  if (header.coordinate) {
    set.block = read_coordinates(text, header, ctx);
  } else {
    set.block = read_array(text, header, ctx);
  }
  return set;
}

void write_matrix_market(AtomicFile& file, const SimilaritySet& set, const RunContext& ctx) {
  TextOut out(file);
  if (const auto* dense = std::get_if<DenseBlock>(&set.block)) {
    out << "%%MatrixMarket matrix array real general\n" << set.rows() << ' ' << set.cols();
    out.end_line();
    for (Index j = 0; j < set.cols(); ++j) {
      ctx.check_stop();
      for (Index i = 0; i < set.rows(); ++i) {
        out << (*dense)(i, j);
        out.end_line();
      }
    }
    out.flush();
    return;
  }
  const auto& sparse = std::get<SparseBlock>(set.block);
  out << "%%MatrixMarket matrix coordinate real general\n";
  if (sparse.absent == Absent::kMissing) out << kMissingComment << '\n';
  out << set.rows() << ' ' << set.cols() << ' ' << sparse.entries();
  out.end_line();
  for (Index i = 0; i < set.rows(); ++i) {
    ctx.check_stop();
    const SparseRow row = sparse.row(i);
    for (std::size_t e = 0; e < row.size(); ++e) {
      out << i + 1 << ' ' << row.columns[e] + 1L << ' ' << row.values[e];
      out.end_line();
    }
  }
  out.flush();
}

}  // namespace kith::detail
