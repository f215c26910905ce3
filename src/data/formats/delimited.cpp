// SPDX-License-Identifier: Apache-2.0
#include "data/formats/delimited.hpp"

#include <algorithm>
#include <cstring>

#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
/// A stray quote must not swallow the whole file before it is reported.
constexpr std::size_t kLongestQuoted = std::size_t{1} << 20;

std::size_t skip_blanks(std::string_view record, std::size_t at, char separator) {
  while (at < record.size() && is_blank(record[at]) &&
         (separator == ' ' || record[at] != separator)) {
    ++at;
  }
  return at;
}

/// Behind the closing quote of a cell whose text goes on at `at`; kNone where it is not closed.
std::size_t behind_closing_quote(std::string_view record, std::size_t at) {
  while (true) {
    at = record.find('"', at);
    if (at == kNone) return kNone;
    if (at + 1 == record.size() || record[at + 1] != '"') return at + 1;
    at += 2;
  }
}

std::size_t next_separator(std::string_view record, std::size_t at, char separator) {
  if (separator == ' ') {
    while (at < record.size() && !is_blank(record[at])) ++at;
    return at;
  }
  return std::min(record.find(separator, at), record.size());
}

/// How far a record has been searched for open quotes; the search goes on where it stopped when
/// another line is appended.
struct QuoteScan {
  std::size_t cell = 0;      // where the current cell begins
  std::size_t searched = 0;  // quoted text before this has been searched
  bool open = false;         // the current cell's quote is not closed yet
};

void scan(std::string_view record, char separator, QuoteScan& state) {
  while (true) {
    if (!state.open) {
      state.cell = skip_blanks(record, state.cell, separator);
      if (state.cell >= record.size()) return;
      state.open = record[state.cell] == '"';
      state.searched = state.cell + 1;
    }
    std::size_t end = state.cell;
    if (state.open) {
      end = behind_closing_quote(record, state.searched);
      if (end == kNone) {
        state.searched = record.size();
        return;
      }
      state.open = false;
    }
    end = next_separator(record, end, separator);
    if (end >= record.size()) {
      state.cell = record.size();
      return;
    }
    state.cell = end + 1;
  }
}

}  // namespace

bool is_blank(std::string_view record) {
  return record.find_first_not_of(' ') == std::string_view::npos;
}

std::size_t cell_end(std::string_view record, std::size_t begin, char separator) {
  std::size_t at = skip_blanks(record, begin, separator);
  if (at < record.size() && record[at] == '"') {
    at = std::min(behind_closing_quote(record, at + 1), record.size());
  }
  return next_separator(record, at, separator);
}

Cell cell_at(std::string_view record, std::size_t begin, std::size_t end) {
  while (begin < end && is_blank(record[begin])) ++begin;
  while (begin < end && is_blank(record[end - 1])) --end;
  Cell cell{.text = {}, .offset = begin};
  const std::string_view raw = record.substr(begin, end - begin);
  // A quote that closes early, as in "a"b, is no quoted cell: it is kept as it stands.
  cell.quoted = raw.size() >= 2 && raw.front() == '"' && behind_closing_quote(raw, 1) == raw.size();
  if (!cell.quoted) {
    cell.text = raw;
    return cell;
  }
  const std::string_view inside = raw.substr(1, raw.size() - 2);
  cell.text.reserve(inside.size());
  for (std::size_t i = 0; i < inside.size(); ++i) {
    cell.text += inside[i];
    if (inside[i] == '"') ++i;
  }
  return cell;
}

std::vector<Cell> split_cells(std::string_view record, char separator) {
  std::vector<Cell> cells;
  std::size_t begin = separator == ' ' ? skip_blanks(record, 0, separator) : 0;
  while (true) {
    std::size_t end = cell_end(record, begin, separator);
    cells.push_back(cell_at(record, begin, end));
    if (separator == ' ') end = skip_blanks(record, end, separator);
    if (end >= record.size()) return cells;
    begin = separator == ' ' ? end : end + 1;
  }
}

void append_cell(std::string& out, std::string_view text, char separator, bool always_quote) {
  const bool outer_blank = !text.empty() && (is_blank(text.front()) || is_blank(text.back()));
  const char special[] = {separator, '"', '\r', '\n', '\0'};
  if (!always_quote && !outer_blank && !text.empty() &&
      text.find_first_of(special) == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

bool RecordReader::next(std::string_view& record) {
  if (!lines_.next(record)) return false;
  if (std::memchr(record.data(), '"', record.size()) == nullptr) return true;
  QuoteScan state;
  scan(record, separator_, state);
  while (state.open) {
    if (record.size() - state.cell > kLongestQuoted || !lines_.extend(record)) {
      throw bad_input(place_in(name(), line_number(), record, state.cell),
                      "the quote that opens here is never closed; a quoted cell ends with a quote, "
                      "and quotes inside it are doubled");
    }
    scan(record, separator_, state);
  }
  return true;
}

FilePlace place_in(const std::string& file, long first_line, std::string_view record,
                   std::size_t offset) {
  const std::string_view before = record.substr(0, offset);
  const auto breaks = std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column = last == kNone ? offset + 1 : offset - last;
  return {file, first_line + breaks, static_cast<long>(column)};
}

}  // namespace kith::detail
