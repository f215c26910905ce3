// SPDX-License-Identifier: Apache-2.0
// PHYLIP distance matrices: the number of samples, then per sample a name and its distances, which
// may go on in the following lines. All n of them (square), or those to the samples before it
// (lower triangle, with or without the diagonal). A name is the first word (relaxed) or, where that
// does not fit, the first ten characters (strict, blanks allowed).
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/id_table.hpp"
#include "data/formats/readers.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::size_t kStrictName = 10;

enum class Layout { kSquare, kLower, kLowerWithDiagonal };

Index row_length(Layout layout, Index row, Index count) {
  switch (layout) {
    case Layout::kSquare:
      return count;
    case Layout::kLower:
      return row;
    case Layout::kLowerWithDiagonal:
      return row + 1;
  }
  return count;
}

struct Row {
  std::string_view name;
  std::vector<std::string_view> values;
};

Row relaxed_row(std::string_view line) {
  Row row;
  split_blanks(line, row.values);
  row.name = row.values.front();
  row.values.erase(row.values.begin());
  return row;
}

/// Whether a word behind the first is a number: then a short line is no name alone.
bool names_a_number(std::string_view name) {
  std::vector<std::string_view> words;
  split_blanks(name, words);
  return std::any_of(words.begin() + 1, words.end(),
                     [](std::string_view word) { return parse_double(word).has_value(); });
}

std::optional<Row> strict_row(std::string_view line) {
  Row row;
  row.name = trim(line.substr(0, kStrictName));
  if (row.name.empty()) return std::nullopt;
  if (line.size() > kStrictName) split_blanks(line.substr(kStrictName), row.values);
  if (row.values.empty() && names_a_number(row.name)) return std::nullopt;
  return row;
}

bool all_numbers(const Row& row) {
  return std::all_of(row.values.begin(), row.values.end(),
                     [](std::string_view value) { return parse_double(value).has_value(); });
}

/// The reading of the line under which `fits` holds; where neither does, relaxed unless only strict
/// leaves nothing but numbers.
template <class Fits>
Row choose_row(std::string_view line, Fits fits) {
  Row relaxed = relaxed_row(line);
  const bool relaxed_numbers = all_numbers(relaxed);
  if (relaxed_numbers && fits(static_cast<Index>(relaxed.values.size()))) return relaxed;
  std::optional<Row> strict = strict_row(line);
  if (!strict || !all_numbers(*strict)) return relaxed;
  if (!relaxed_numbers || fits(static_cast<Index>(strict->values.size()))) return *strict;
  return relaxed;
}

class PhylipReader {
 public:
  PhylipReader(ByteSource& source, const RunContext& ctx)
      : lines_(source), plain_size_(source.plain_size()), ctx_(&ctx) {}

  [[nodiscard]] SimilaritySet read() {
    read_count();
    for (Index i = 0; i < count_; ++i) {
      ctx_->check_stop();
      read_row(i);
    }
    std::string_view line;
    while (lines_.next(line)) {
      if (trim(line).empty()) continue;
      throw bad_input(lines_.place(), "{} follows the last of {} samples", in_quotes(line), count_);
    }
    SimilaritySet set;
    set.row_ids = ids_.strings();
    set.column_ids = set.row_ids;
    if (layout_ == Layout::kLower) {
      set.applied.emplace_back("lower triangle mirrored, distances of samples to themselves 0");
    } else if (layout_ == Layout::kLowerWithDiagonal) {
      set.applied.emplace_back("lower triangle mirrored");
    }
    set.block = DenseBlock(full());
    return set;
  }

 private:
  [[nodiscard]] bool next_line(std::string_view& line) {
    while (lines_.next(line)) {
      if (!trim(line).empty()) return true;
    }
    return false;
  }

  void read_count() {
    std::string_view line;
    if (!next_line(line)) throw bad_input({lines_.name()}, "the file is empty");
    const std::optional<long long> count = parse_integer(trim(line));
    if (!count || *count < 1 || *count > std::numeric_limits<std::int32_t>::max()) {
      throw bad_input(lines_.place_of(trim(line)),
                      "{} is not the number of samples, a whole number from 1",
                      in_quotes(trim(line)));
    }
    // Each sample takes a name of one letter and a line end at least, each distance two bytes.
    const double least = 2.0 * static_cast<double>(*count) +
                         static_cast<double>(*count) * static_cast<double>(*count - 1);
    if (plain_size_ && least > static_cast<double>(*plain_size_) + 1) {
      throw bad_input(lines_.place_of(trim(line)),
                      "the file claims {} samples; its {} bytes cannot hold their distances",
                      *count, *plain_size_);
    }
    count_ = static_cast<Index>(*count);
  }

  void read_row(Index i) {
    std::string_view line;
    if (!next_line(line)) {
      throw bad_input({lines_.name()}, "the file ends after {} of {} samples", i, count_);
    }
    const Row row = choose_row(line, [&](Index found) {
      if (i > 0) return found == row_length(layout_, i, count_);
      return found == 0 || found == 1 || found == count_;
    });
    if (i == 0) set_layout(static_cast<Index>(row.values.size()));
    const std::int32_t number = ids_.intern(row.name);
    if (number != static_cast<std::int32_t>(i)) {
      throw bad_input(lines_.place_of(row.name),
                      "the name {} of sample {} is also that of sample {}", in_quotes(row.name),
                      i + 1, number + 1);
    }
    const Index wanted = row_length(layout_, i, count_);
    Index found = 0;
    add_values(row.values, i, found, wanted);
    std::vector<std::string_view> fields;
    while (found < wanted) {
      if (!next_line(line)) {
        throw bad_input({lines_.name()}, "the file ends inside sample {}, after {} of {} distances",
                        i + 1, found, wanted);
      }
      split_blanks(line, fields);
      add_values(fields, i, found, wanted);
    }
  }

  void set_layout(Index in_first_row) {
    if (in_first_row == 0) {
      layout_ = Layout::kLower;
    } else if (in_first_row == 1 && count_ > 1) {
      layout_ = Layout::kLowerWithDiagonal;
    }
  }

  void add_values(const std::vector<std::string_view>& fields, Index sample, Index& found,
                  Index wanted) {
    for (const std::string_view field : fields) {
      if (found == wanted) {
        throw bad_input(lines_.place_of(field), "{} is one distance too many; sample {} has {}",
                        in_quotes(field), sample + 1, wanted);
      }
      values_.push_back(number_in(field, lines_, MissingWord::kNan));
      ++found;
    }
  }

  [[nodiscard]] RowMatrix full() const {
    if (layout_ == Layout::kSquare) {
      return Eigen::Map<const RowMatrix>(values_.data(), count_, count_);
    }
    RowMatrix matrix = RowMatrix::Zero(count_, count_);
    std::size_t at = 0;
    for (Index i = 0; i < count_; ++i) {
      for (Index j = 0; j < row_length(layout_, i, count_); ++j) {
        matrix(i, j) = matrix(j, i) = values_[at];
        ++at;
      }
    }
    return matrix;
  }

  LineReader lines_;
  std::optional<std::int64_t> plain_size_;
  const RunContext* ctx_;
  Index count_ = 0;
  Layout layout_ = Layout::kSquare;
  IdTable ids_;
  std::vector<double> values_;
};

}  // namespace

bool looks_like_phylip(std::string_view head) {
  const std::vector<std::string_view> lines = whole_lines(head, '\0', 2);
  if (lines.size() < 2) return false;
  const std::optional<long long> count = parse_integer(lines[0]);
  if (!count || *count < 1) return false;
  if (lines[1].find(',') != std::string_view::npos) return false;
  const auto fits = [&](Index found) { return found == 0 || found == 1 || found == *count; };
  const Row row = choose_row(lines[1], fits);
  if (!all_numbers(row) || row.values.size() > static_cast<std::size_t>(*count)) return false;
  // A name that is a number is believed only in front of all the distances.
  return !parse_double(row.name) || static_cast<Index>(row.values.size()) == *count;
}

SimilaritySet read_phylip(ByteSource& source, const ReadSettings& /*settings*/,
                          const RunContext& ctx) {
  return PhylipReader(source, ctx).read();
}

}  // namespace kith::detail
