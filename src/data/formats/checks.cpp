// SPDX-License-Identifier: Apache-2.0
#include "data/formats/checks.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

Error infinite(Index row, Index column, double value, const std::string& file) {
  return bad_input({file},
                   "row {}, column {} is {}; numbers must be finite (NaN marks a missing pair)",
                   row + 1, column + 1, value > 0 ? "inf" : "-inf");
}

/// A loop without an early exit, which the compiler turns into vector code.
bool any_infinite(std::span<const double> values) {
  bool found = false;
  for (const double value : values) found |= std::isinf(value);
  return found;
}

}  // namespace

void refuse_infinite(const DenseBlock& block, const std::string& file) {
  for (Index i = 0; i < block.rows(); ++i) {
    const std::span<const double> row = block.row(i);
    if (!any_infinite(row)) continue;
    const auto bad = std::find_if(row.begin(), row.end(), [](double v) { return std::isinf(v); });
    throw infinite(i, static_cast<Index>(bad - row.begin()), *bad, file);
  }
}

void refuse_not_finite(const SparseBlock& block, const std::string& file) {
  for (Index i = 0; i < block.rows(); ++i) {
    const SparseRow row = block.row(i);
    for (std::size_t e = 0; e < row.size(); ++e) {
      if (std::isinf(row.values[e])) throw infinite(i, row.columns[e], row.values[e], file);
      if (!std::isnan(row.values[e])) continue;
      throw bad_input({file}, "row {}, column {} is NaN; a sparse matrix cannot hold missing pairs",
                      i + 1, row.columns[e] + 1);
    }
  }
}

double number_in(std::string_view field, const LineReader& lines, MissingWord missing) {
  const std::optional<double> value = parse_double(field);
  if (!value) {
    std::string point(field);
    std::replace(point.begin(), point.end(), ',', '.');
    const bool comma = point != field && parse_double(point).has_value();
    throw bad_input(lines.place_of(field), "{} is not a number within the range of double{}",
                    in_quotes(field), comma ? "; decimal commas are not read, write a point" : "");
  }
  if (std::isinf(*value)) {
    throw bad_input(lines.place_of(field), "{} is infinite; numbers must be finite",
                    in_quotes(field));
  }
  if (std::isnan(*value) && missing == MissingWord::kRefused) {
    throw bad_input(lines.place_of(field),
                    "{} is not a number; this format leaves a missing pair out", in_quotes(field));
  }
  return *value;
}

void FileIds::add(std::string_view id, const FilePlace& place) {
  if (!is_valid_utf8(id)) throw bad_input(place, "the id {} is not UTF-8", in_quotes(id));
  const auto [first, is_new] = line_of_.emplace(id, place.line);
  if (is_new) return;
  throw bad_input(place, "the id {} is already on line {}; ids must differ", in_quotes(id),
                  first->second);
}

std::string_view trimmed_in_place(std::string_view text) {
  const std::string_view inner = trim(text);
  return inner.empty() ? text.substr(0, 0) : inner;
}

void split_blanks(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  std::size_t at = 0;
  while (true) {
    at = line.find_first_not_of(" \t", at);
    if (at == std::string_view::npos) return;
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
}

std::vector<std::string_view> whole_lines(std::string_view head, char comment, std::size_t most) {
  constexpr std::size_t kWholeFile = 60000;  // a shorter head is all of the file
  std::vector<std::string_view> lines;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  while (!head.empty() && lines.size() < most) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && head.size() > kWholeFile) break;
    const std::string_view line = trim(head.substr(0, end));
    if (!line.empty() && line.front() != comment) lines.push_back(line);
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace kith::detail
