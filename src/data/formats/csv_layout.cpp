// SPDX-License-Identifier: Apache-2.0
#include "data/formats/csv_layout.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::array<char, 4> kSeparators = {'\t', ';', ',', ' '};
constexpr std::size_t kLinesLookedAt = 8;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_missing(std::string_view text) {
  if (text.empty() || text == "?") return true;
  if (text.size() > 4) return false;
  const std::string word = lower_case(text);
  return word == "na" || word == "nan" || word == "-nan" || word == "null" || word == "n/a";
}

/// Digits, perhaps grouped by points, a comma and digits, perhaps an exponent.
bool is_decimal_comma(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma + 1 == text.size()) return false;
  const std::string_view whole = text.substr(0, comma);
  const std::string_view rest = text.substr(comma + 1);
  if (!is_digit(whole.front()) || !is_digit(rest.front())) return false;
  const auto fits = [](std::string_view part, std::string_view extra) {
    return std::all_of(part.begin(), part.end(), [&](char c) {
      return is_digit(c) || extra.find(c) != std::string_view::npos;
    });
  };
  return fits(whole, ".") && fits(rest, "eE+-");
}

/// Whether a decimal that does not fit a double is too small rather than too large.
bool is_tiny(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, e);
  const long long exponent =
      e == std::string_view::npos
          ? 0
          : parse_integer(text.substr(e + 1))
                .value_or(text.substr(e + 1).starts_with('-') ? -1'000'000'000'000LL
                                                              : 1'000'000'000'000LL);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const auto magnitude = static_cast<long long>(point) - static_cast<long long>(first);
  return magnitude + exponent < 0;
}

bool is_corner_word(const Cell& cell) {
  if (cell.quoted) return false;
  if (cell.text.starts_with('#')) return true;
  const std::string word = lower_case(cell.text);
  return word == "id" || word == "ids" || word == "name" || word == "sample" || word == "row";
}

/// Distinct whole numbers, as ids often are.
bool numbered(std::span<const Cell> cells) {
  std::vector<std::string_view> seen;
  for (const Cell& cell : cells) {
    if (cell.text.empty() || !std::all_of(cell.text.begin(), cell.text.end(), is_digit)) {
      return false;
    }
    seen.push_back(cell.text);
  }
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

/// `head` with x for every byte of a quoted cell, whatever separates the cells: what stands inside
/// quotes says nothing about separators and lines.
std::string without_quoted(std::string_view head) {
  std::string masked(head);
  std::size_t at = 0;
  while ((at = masked.find('"', at)) != std::string::npos) {
    if (at > 0 && std::string_view("\t;, \n").find(masked[at - 1]) == std::string_view::npos) {
      ++at;
      continue;
    }
    std::size_t end = masked.find('"', at + 1);
    while (end != std::string::npos && end + 1 < masked.size() && masked[end + 1] == '"') {
      end = masked.find('"', end + 2);
    }
    end = std::min(end, masked.size() - 1);
    std::fill(masked.begin() + static_cast<std::ptrdiff_t>(at),
              masked.begin() + static_cast<std::ptrdiff_t>(end) + 1, 'x');
    at = end + 1;
  }
  return masked;
}

/// Lines of `head` that are certainly whole.
std::vector<std::string_view> whole_lines(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty() && lines.size() < kLinesLookedAt) {
    const std::size_t end = head.find('\n');
    // The cut-off rest serves only where there is no whole line.
    if (end == std::string_view::npos && !lines.empty()) break;
    std::string_view line = head.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_blank(line) && !(lines.empty() && is_comment(line))) lines.push_back(line);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
  }
  return lines;
}

bool all_decimal_commas(std::string_view line) {
  const std::vector<Cell> words = split_cells(line, ' ');
  return words.size() > 1 && std::all_of(words.begin(), words.end(), [](const Cell& word) {
           return is_decimal_comma(word.text);
         });
}

/// Cells per line where they agree (the first line may have one fewer), else 0.
std::size_t agreed_cells(std::span<const std::string_view> lines, char separator) {
  const std::size_t first = split_cells(lines.front(), separator).size();
  std::size_t agreed = lines.size() > 1 ? split_cells(lines[1], separator).size() : first;
  if (first != agreed && first + 1 != agreed) return 0;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    if (split_cells(lines[i], separator).size() != agreed) return 0;
  }
  return agreed;
}

}  // namespace

bool is_comment(std::string_view record) {
  return record.starts_with('#') && (record.size() == 1 || is_blank(record[1]));
}

char find_separator(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::string masked = without_quoted(head);
  const std::vector<std::string_view> lines = whole_lines(masked);
  if (lines.empty()) return ',';
  const bool commas_in_numbers = all_decimal_commas(lines.back());
  char present = '\0';
  for (const char separator : kSeparators) {
    if (separator == ',' && commas_in_numbers) continue;
    if (split_cells(lines.front(), separator).size() < 2) continue;
    if (agreed_cells(lines, separator) > 1) return separator;
    if (present == '\0') present = separator;
  }
  if (present != '\0') return present;
  // A header of one id over an id column shows its separator on the second line only.
  for (const char separator : kSeparators) {
    if (agreed_cells(lines, separator) == 2) return separator;
  }
  return ',';
}

CsvLayout find_layout(std::span<const Cell> first, std::span<const Cell> second) {
  const bool numbers_quoted = (second.empty() ? first : second).back().quoted;
  const auto is_text = [&](const Cell& cell) {
    return (cell.quoted && !numbers_quoted) || read_cell(cell.text).kind == CellKind::kText;
  };
  const auto texts = [&](std::span<const Cell> cells) {
    return static_cast<std::size_t>(std::count_if(cells.begin(), cells.end(), is_text));
  };
  const Cell& corner = first.front();
  const std::span<const Cell> behind = first.subspan(1);
  const bool text_below = !second.empty() && is_text(second.front());
  const auto repeated_below = [&](std::span<const Cell> ids) {
    return !second.empty() && !ids.empty() && second.front().text == ids.front().text;
  };

  if (second.size() == first.size() + 1) {
    const bool named = 2 * texts(first) >= first.size();
    if (named || (numbered(first) && repeated_below(first))) {
      return {.header = true, .id_column = true, .cells = second.size()};
    }
  }
  if (!behind.empty()) {
    const bool named = texts(behind) > 0;
    const bool empty_corner = corner.text.empty() && !corner.quoted;
    const bool ids_below = empty_corner || text_below || second.empty() ||
                           numbered(second.first(1)) || repeated_below(behind);
    if ((empty_corner || is_corner_word(corner)) && ids_below && (named || numbered(behind))) {
      return {.header = true, .id_column = true, .cells = first.size()};
    }
    const bool mostly_named = 2 * texts(behind) >= behind.size();
    if (mostly_named && (text_below || (is_text(corner) && repeated_below(behind)))) {
      return {.header = true, .id_column = true, .cells = first.size()};
    }
    if (is_text(corner) && numbered(behind) && repeated_below(behind) && !text_below) {
      return {.header = true, .id_column = true, .cells = first.size()};
    }
  }
  if (2 * texts(first) > first.size() && (!text_below || behind.empty())) {
    return {.header = true, .cells = first.size()};
  }
  const bool ids = is_text(corner) && (second.empty() || text_below);
  return {.id_column = ids, .cells = first.size()};
}

CellValue read_cell(std::string_view text) {
  if (is_missing(text)) return {CellKind::kMissing, std::numeric_limits<double>::quiet_NaN()};
  std::string_view digits = text;
  if (digits.starts_with('+') && !digits.substr(1).starts_with('-')) digits.remove_prefix(1);
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value);
  if (code == std::errc::result_out_of_range && stop == end) {
    if (!is_tiny(digits)) return {CellKind::kTooLarge};
    return {CellKind::kNumber, digits.starts_with('-') ? -0.0 : 0.0};
  }
  if (code == std::errc{} && stop == end && !std::isnan(value)) {
    return {std::isinf(value) ? CellKind::kInfinite : CellKind::kNumber, value};
  }
  return {is_decimal_comma(text) ? CellKind::kDecimalComma : CellKind::kText};
}

bool needs_quotes_as_id(std::string_view text, bool below_empty_corner) {
  if (below_empty_corner && std::all_of(text.begin(), text.end(), is_digit)) return false;
  return read_cell(text).kind != CellKind::kText || is_corner_word({.text = std::string(text)});
}

}  // namespace kith::detail
