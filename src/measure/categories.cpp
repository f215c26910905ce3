// SPDX-License-Identifier: Apache-2.0
#include "measure/readers.hpp"

#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/delimited.hpp"
#include "kith/core/text.hpp"
#include "measure/other_kind.hpp"

namespace kith::detail {
namespace {

char category_separator(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  if (line.find('\t') != std::string_view::npos) return '\t';
  return ',';
}

class CategoryRows {
 public:
  CategoryRows(const std::string& file, CategoryData& data) : file_(file), data_(data) {}

  void take(std::string_view record, long line, std::vector<Cell> cells) {
    if (width_ == 0) {
      width_ = cells.size();
      first_line_ = line;
      has_ids_ = !cells[0].quoted && cells[0].text == "id";
      if (has_ids_) {
        take_names(std::move(cells), record, line);
        return;
      }
    }
    if (cells.size() != width_) {
      throw bad_input({file_, line},
                      "{} cells, but line {} has {}; every row must have equally many",
                      cells.size(), first_line_, width_);
    }
    for (const Cell& cell : cells) {
      if (is_valid_utf8(cell.text)) continue;
      throw bad_input(place_in(file_, line, record, cell.offset), "{} is not UTF-8",
                      in_quotes(cell.text));
    }
    if (has_ids_) take_id(cells[0].text, line);
    std::vector<std::string> row;
    for (std::size_t k = has_ids_ ? 1 : 0; k < cells.size(); ++k) {
      row.push_back(std::move(cells[k].text));
    }
    data_.values.push_back(std::move(row));
  }

 private:
  void take_names(std::vector<Cell> cells, std::string_view record, long line) {
    for (std::size_t k = 1; k < cells.size(); ++k) {
      if (!is_valid_utf8(cells[k].text)) {
        throw bad_input(place_in(file_, line, record, cells[k].offset), "{} is not UTF-8",
                        in_quotes(cells[k].text));
      }
      data_.columns.push_back(std::move(cells[k].text));
    }
  }

  void take_id(const std::string& id, long line) {
    if (id.empty()) throw bad_input({file_, line, 1}, "the id is empty");
    ids_.add(id, {file_, line, 1});
    data_.ids.push_back(id);
  }

  const std::string& file_;
  CategoryData& data_;
  std::size_t width_ = 0;
  long first_line_ = 0;
  bool has_ids_ = false;
  FileIds ids_;
};

}  // namespace

CategoryData read_categories(const std::string& path, const RunContext& ctx) {
  ByteSource source = ByteSource::open(path);
  const char separator = category_separator(source.head());
  RecordReader records(source, separator);
  CategoryData data{.source = path, .ids = {}, .values = {}};
  CategoryRows rows(path, data);
  OtherKind other;
  std::string_view record;
  while (records.next(record)) {
    if (is_blank(record)) continue;
    ctx.check_stop();
    other.take(record, records.line_number());
    rows.take(record, records.line_number(), split_cells(record, separator));
  }
  if (data.values.empty()) throw bad_input({path}, "the file has no rows; it must hold categories");
  other.refuse(path, {.samples = "categories",
                      .as_meant = "give them a first line that begins with id, and an id each",
                      .of_fasta = "sequences are compared by smith-waterman and needleman-wunsch"});
  return data;
}

}  // namespace kith::detail
