// SPDX-License-Identifier: Apache-2.0
#include "measure/readers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/delimited.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

/// A comma or a tab where the line has one, else a blank; none in a line of one number.
std::optional<char> series_separator(std::string_view line) {
  for (const char separator : {',', '\t'}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  if (trim(line).find(' ') != std::string_view::npos) return ' ';
  return std::nullopt;
}

void split_series(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  if (separator == ' ') {
    split_blanks(line, fields);
    return;
  }
  fields.clear();
  for (const std::string_view field : split(line, separator)) {
    fields.push_back(trimmed_in_place(field));
  }
}

bool is_missing_cell(std::string_view field) {
  return field.empty() || field == "?" || field == "NA" || field == "NaN" || field == "nan";
}

class SeriesLines {
 public:
  SeriesLines(LineReader& lines, SeriesData& data) : lines_(lines), data_(data) {}

  void take(std::string_view line) {
    if (!separator_) separator_ = series_separator(line);
    split_series(line, separator_.value_or(' '), fields_);
    std::size_t at = 0;
    if (data_.values.empty()) refuse_semicolons(line);
    if (data_.values.empty()) has_ids_ = !parse_double(fields_[0]) && !is_missing_cell(fields_[0]);
    if (has_ids_) take_id(fields_[at++]);
    std::size_t end = fields_.size();
    while (end > at && is_missing_cell(fields_[end - 1])) --end;
    if (end == at) throw bad_input(lines_.place(), "the line has no numbers; a series needs one");
    std::vector<double> values;
    values.reserve(end - at);
    for (; at < end; ++at) values.push_back(number_of(fields_[at]));
    data_.values.push_back(std::move(values));
  }

 private:
  /// A number, a semicolon and more would be taken for an id.
  void refuse_semicolons(std::string_view line) const {
    const std::size_t at = line.find(';');
    if (at == std::string_view::npos || !parse_double(trim(line.substr(0, at)))) return;
    throw bad_input(lines_.place_of(line.substr(at, 1)),
                    "a series is separated by commas, tabs or blanks, not by semicolons");
  }

  [[nodiscard]] double number_of(std::string_view field) const {
    if (is_missing_cell(field)) {
      throw bad_input(lines_.place_of(field),
                      "{} inside a series; what is missing may stand at its end only",
                      field.empty() ? "an empty cell" : in_quotes(field));
    }
    const std::optional<double> value = parse_double(field);
    if (value && std::isinf(*value)) {
      throw bad_input(lines_.place_of(field),
                      "{} is infinite; the numbers of a series must be finite", in_quotes(field));
    }
    const std::size_t colon = field.find(':');
    if (colon != std::string_view::npos && parse_integer(field.substr(0, colon))) {
      throw bad_input(lines_.place_of(field),
                      "{} is index:value as in LIBSVM text; a series is numbers alone, "
                      "and vectors have measures of their own (gaussian, linear, "
                      "cosine, euclidean, ...)",
                      in_quotes(field));
    }
    return number_in(field, lines_, MissingWord::kRefused);
  }

  void take_id(std::string_view field) {
    if (field.empty())
      throw bad_input(lines_.place(1), "the id is empty; every line begins with one");
    if (parse_double(field)) {
      throw bad_input(lines_.place(1),
                      "{} is a number where the first line has an id; every line begins "
                      "with an id of letters, or none",
                      in_quotes(field));
    }
    ids_.add(field, lines_.place(1));
    data_.ids.emplace_back(field);
  }

  LineReader& lines_;
  SeriesData& data_;
  std::optional<char> separator_;  // none: every line so far was one number
  bool has_ids_ = false;
  std::vector<std::string_view> fields_;
  FileIds ids_;
};

SeriesData series_of_rows(VectorData table) {
  SeriesData data{.source = std::move(table.source), .ids = std::move(table.ids), .values = {}};
  const DenseBlock values = to_dense(table.values);
  for (Index i = 0; i < values.rows(); ++i) {
    const double* row = values.row(i).data();
    const double* end = row + values.cols();
    while (end > row && std::isnan(end[-1])) --end;
    if (end == row) {
      throw bad_input({data.source}, "row {} has no numbers; a series needs one", i + 1);
    }
    const double* missing = std::find_if(row, end, [](double x) { return std::isnan(x); });
    if (missing != end) {
      throw bad_input({data.source},
                      "row {}, column {} is NaN inside a series; what is missing may "
                      "stand at its end only",
                      i + 1, missing - row + 1);
    }
    data.values.emplace_back(row, end);
  }
  return data;
}

}  // namespace

SeriesData read_series(const std::string& path, const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  if (source.head().starts_with("\x93NUMPY")) return series_of_rows(read_table(path, ctx));
  if (source.head().starts_with('>')) {
    throw bad_input({path, 1},
                    "a line that begins with > is the name of a sequence in FASTA; a series is "
                    "numbers. Sequences are compared by smith-waterman and needleman-wunsch");
  }
  LineReader lines(source);
  SeriesData data{.source = path, .ids = {}, .values = {}};
  SeriesLines series(lines, data);
  std::string_view line;
  while (lines.next(line)) {
    if (trim(line).empty()) continue;
    source.report("reading series", ctx);
    series.take(line);
  }
  if (data.values.empty()) throw bad_input({path}, "the file has no lines; it must hold series");
  return data;
}

}  // namespace kith::detail
