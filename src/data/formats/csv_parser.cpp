// SPDX-License-Identifier: Apache-2.0
#include "data/formats/csv_parser.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

std::string separator_name(char separator) {
  switch (separator) {
    case '\t':
      return "tabs";
    case ';':
      return "semicolons";
    case ' ':
      return "blanks";
    default:
      return "commas";
  }
}

std::string_view broken_rule(CellKind kind) {
  switch (kind) {
    case CellKind::kInfinite:
      return "which is infinite; numbers must be finite (a missing value is written NA)";
    case CellKind::kTooLarge:
      return "which is too large for a double; numbers must be below 1.8e308";
    case CellKind::kDecimalComma:
      return "a number with a decimal comma; numbers are read with a decimal point. Replace the "
             "commas by points (for example with tr , . where another character separates the "
             "cells), or export the file again with points";
    default:
      return kNotANumber;
  }
}

}  // namespace

CsvParser::CsvParser(ByteSource& source, std::optional<char> separator)
    : source_(&source),
      separator_(separator ? *separator : find_separator(source.head())),
      records_(source, separator_) {
  std::string_view record;
  std::vector<Cell> cells[2];
  while (waiting_.size() < 2 && read_record(record)) {
    cells[waiting_.size()] = split_cells(record, separator_);
    waiting_.push_back({std::string(record), line_});
  }
  if (waiting_.empty()) {
    throw bad_input({source.name()}, "the file holds no rows; a matrix was expected");
  }
  layout_ = find_layout(cells[0], cells[1]);
  columns_ = layout_.cells - (layout_.id_column ? 1 : 0);
  if (layout_.header) take_header(cells[0]);
  if (columns_ == 0) {
    refuse(waiting_.front().text, 0, "the rows hold an id and no numbers; a matrix was expected");
  }
}

/// The next record that is not blank. Comments may stand before the first row; blank lines
/// there and behind the last row, but between rows they are more likely a lost row.
bool CsvParser::read_record(std::string_view& record) {
  const bool started = line_ > 0;
  long blank = 0;
  while (records_.next(record)) {
    if (!started && is_comment(record)) continue;
    if (is_blank(record)) {
      if (blank == 0) blank = records_.line_number();
      continue;
    }
    line_ = records_.line_number();
    if (started && blank > 0) {
      throw bad_input({source_->name(), blank},
                      "a blank line between the rows (the next row is on line {}); "
                      "every line must hold one row",
                      line_);
    }
    return true;
  }
  return false;
}

bool CsvParser::next_record(std::string_view& record) {
  if (waiting_.empty()) return read_record(record);
  current_ = std::move(waiting_.front().text);
  line_ = waiting_.front().line;
  waiting_.pop_front();
  record = current_;
  return true;
}

void CsvParser::take_header(std::span<const Cell> cells) {
  std::string_view record;
  (void)next_record(record);
  if (layout_.id_column && cells.size() == layout_.cells) cells = cells.subspan(1);  // the corner
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    check_id(cells[j], record, "column");
    const auto [earlier, fresh] = seen.emplace(cells[j].text, j);
    if (!fresh) {
      refuse(record, cells[j].offset,
             fmt::format("the column id {} stands over columns {} and {}; ids must differ",
                         in_quotes(cells[j].text), earlier->second + 1, j + 1));
    }
    column_ids_.push_back(cells[j].text);
  }
  if (waiting_.empty()) {
    refuse(record, 0,
           fmt::format("a header of {} id{} and no rows below it; a matrix was expected",
                       cells.size(), cells.size() == 1 ? "" : "s"));
  }
}

void CsvParser::check_id(const Cell& cell, std::string_view record, std::string_view what) const {
  if (cell.text.empty()) {
    refuse(record, cell.offset, fmt::format("an empty {} id; every {} needs one", what, what));
  }
  if (!is_valid_utf8(cell.text)) {
    refuse(record, cell.offset,
           fmt::format("the {} id {} is not UTF-8; convert the file first, for example with iconv "
                       "-f LATIN1 -t UTF-8",
                       what, in_quotes(cell.text)));
  }
}

bool CsvParser::next(std::span<double> row, std::string& id) {
  std::string_view record;
  if (!next_record(record)) return false;
  id.clear();
  if (separator_ == ' ') {
    parse<true>(record, row, id);
  } else {
    parse<false>(record, row, id);
  }
  return true;
}

void CsvParser::take_id(std::string_view record, std::size_t& at, std::string& id) const {
  const std::size_t end = cell_end(record, at, separator_);
  Cell cell = cell_at(record, at, end);
  check_id(cell, record, "row");
  id = std::move(cell.text);
  at = end;
}

/// Plain numbers, which nearly all cells are, are read where they stand; anything else goes through
/// slow_cell. `at` is at the beginning of a cell, `end` at its separator.
template <bool kBlankSeparated>
void CsvParser::parse(std::string_view record, std::span<double> row, std::string& id) const {
  const char* const data = record.data();
  const char* const stop = data + record.size();
  const auto skip_blanks = [&](std::size_t at) {
    while (at < record.size() && is_blank(data[at]) &&
           (kBlankSeparated || data[at] != separator_)) {
      ++at;
    }
    return at;
  };
  std::size_t at = kBlankSeparated ? skip_blanks(0) : 0;
  if (layout_.id_column) {
    take_id(record, at, id);
    if (kBlankSeparated) at = skip_blanks(at);
    if (at >= record.size()) refuse_count(record, at);
    if (!kBlankSeparated) ++at;
  }
  for (std::size_t j = 0;; ++j) {
    if (j == columns_) refuse_count(record, at);
    double value = 0;
    const std::size_t begin = skip_blanks(at);
    const auto [behind, code] = std::from_chars(data + begin, stop, value);
    std::size_t end = static_cast<std::size_t>(behind - data);
    const bool plain =
        code == std::errc{} && std::isfinite(value) &&
        (behind == stop || (kBlankSeparated ? is_blank(*behind) : *behind == separator_));
    row[j] = plain ? value : slow_cell(record, at, end, j);
    if (kBlankSeparated) end = skip_blanks(end);
    if (end >= record.size()) {
      if (j + 1 != columns_) refuse_count(record, record.size());
      return;
    }
    at = kBlankSeparated ? end : end + 1;
  }
}

double CsvParser::slow_cell(std::string_view record, std::size_t begin, std::size_t& end,
                            std::size_t column) const {
  end = cell_end(record, begin, separator_);
  const Cell cell = cell_at(record, begin, end);
  const CellValue read = read_cell(trim(cell.text));
  if (read.kind != CellKind::kNumber && read.kind != CellKind::kMissing) {
    refuse(record, cell.offset,
           fmt::format("{} holds {}, {}", describe_cell(column), in_quotes(cell.text),
                       broken_rule(read.kind)));
  }
  return read.value;
}

std::string CsvParser::describe_cell(std::size_t column) const {
  std::string text = fmt::format("cell {}", column + (layout_.id_column ? 2 : 1));
  if (!column_ids_.empty()) text += fmt::format(" (column {})", in_quotes(column_ids_[column]));
  return text;
}

void CsvParser::refuse(std::string_view record, std::size_t offset,
                       const std::string& message) const {
  throw bad_input(place_in(source_->name(), line_, record, offset), message);
}

void CsvParser::refuse_count(std::string_view record, std::size_t offset) const {
  const std::size_t found = split_cells(record, separator_).size();
  refuse(record, offset,
         fmt::format("the row has {} cell{}; {} are expected{}, as in the {} (cells are separated "
                     "by {})",
                     found, found == 1 ? "" : "s", layout_.cells,
                     layout_.id_column ? fmt::format(" (an id and {} numbers)", columns_) : "",
                     layout_.header ? "header" : "first row", separator_name(separator_)));
}

}  // namespace kith::detail
