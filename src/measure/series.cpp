// SPDX-License-Identifier: Apache-2.0
#include "measure/series.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/formats/checks.hpp"
#include "data/formats/delimited.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "measure/vectors.hpp"

namespace kith::detail {
namespace {

/// A comma or a tab where the first line has one, else blanks.
char series_separator(std::string_view line) {
  if (line.find(',') != std::string_view::npos) return ',';
  return line.find('\t') != std::string_view::npos ? '\t' : ' ';
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
    if (data_.values.empty()) separator_ = series_separator(line);
    split_series(line, separator_, fields_);
    std::size_t at = 0;
    if (data_.values.empty()) has_ids_ = !parse_double(fields_[0]) && !is_missing_cell(fields_[0]);
    if (has_ids_) take_id(fields_[at++]);
    std::size_t end = fields_.size();
    while (end > at && is_missing_cell(fields_[end - 1])) --end;
    if (end == at) throw bad_input(lines_.place(), "the line has no numbers; a series needs one");
    std::vector<double> values;
    values.reserve(end - at);
    for (; at < end; ++at) values.push_back(number_in(fields_[at], lines_, MissingWord::kRefused));
    data_.values.push_back(std::move(values));
  }

 private:
  void take_id(std::string_view field) {
    if (field.empty())
      throw bad_input(lines_.place(1), "the id is empty; every line begins with one");
    if (!is_valid_utf8(field)) {
      throw bad_input(lines_.place(1), fmt::format("the id {} is not UTF-8", in_quotes(field)));
    }
    if (parse_double(field)) {
      throw bad_input(
          lines_.place(1),
          fmt::format("{} is a number where the first line has an id; every line begins "
                      "with an id of letters, or none",
                      in_quotes(field)));
    }
    const auto [first, is_new] = first_line_.emplace(field, lines_.line_number());
    if (!is_new) {
      throw bad_input(lines_.place(1),
                      fmt::format("the id {} is already on line {}; ids must differ",
                                  in_quotes(field), first->second));
    }
    data_.ids.emplace_back(field);
  }

  LineReader& lines_;
  SeriesData& data_;
  char separator_ = ',';
  bool has_ids_ = false;
  std::vector<std::string_view> fields_;
  std::unordered_map<std::string, long> first_line_;
};

SeriesData series_of_rows(VectorData table) {
  SeriesData data{.source = std::move(table.source), .ids = std::move(table.ids), .values = {}};
  for (Index i = 0; i < table.values.rows(); ++i) {
    const double* row = table.values.data() + i * table.values.cols();
    data.values.emplace_back(row, row + table.values.cols());
  }
  return data;
}

}  // namespace

SeriesData read_series(const std::string& path, const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  if (source.head().starts_with("\x93NUMPY")) return series_of_rows(read_vectors(path, ctx));
  LineReader lines(source);
  SeriesData data{.source = path, .ids = {}, .values = {}};
  SeriesLines series(lines, data);
  std::string_view line;
  while (lines.next(line)) {
    if (trim(line).empty()) continue;
    ctx.check_stop();
    series.take(line);
    ctx.progress("reading series", static_cast<double>(source.stored_bytes_read()),
                 static_cast<double>(source.stored_bytes_total()));
  }
  if (data.values.empty()) throw bad_input({path}, "the file has no lines; it must hold series");
  return data;
}

}  // namespace kith::detail
