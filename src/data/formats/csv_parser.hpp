// SPDX-License-Identifier: Apache-2.0
// The rows of a csv or tsv file one after the other: what read_csv and csv_rows are made of.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/csv_layout.hpp"
#include "data/formats/delimited.hpp"
#include "kith/core/types.hpp"

namespace kith::detail {

/// How a cell of text is refused.
inline constexpr std::string_view kNotANumber =
    "which is not a number; a cell must hold a number such as 0.25 or -1e-3, or NA";

class CsvParser {
 public:
  /// Reads the header. `separator` none: found by content. Throws on an empty file, a header
  /// without rows, and ids that are empty, repeated or not UTF-8.
  CsvParser(ByteSource& source, std::optional<char> separator);

  [[nodiscard]] Index cols() const { return static_cast<Index>(columns_); }
  [[nodiscard]] const std::vector<std::string>& column_ids() const { return column_ids_; }
  [[nodiscard]] bool has_row_ids() const { return layout_.id_column; }
  /// The next row into `row` (of cols() numbers) and, where there is an id column, `id`.
  [[nodiscard]] bool next(std::span<double> row, std::string& id);
  /// Of the row last read.
  [[nodiscard]] long line_number() const { return line_; }

 private:
  struct Waiting {
    std::string text;
    long line = 0;
  };

  [[nodiscard]] bool next_record(std::string_view& record);
  [[nodiscard]] bool read_record(std::string_view& record);
  void take_header(std::span<const Cell> cells);
  void take_id(std::string_view record, std::size_t& at, std::string& id) const;
  [[nodiscard]] double slow_cell(std::string_view record, std::size_t begin, std::size_t& end,
                                 std::size_t column) const;
  template <bool kBlankSeparated>
  void parse(std::string_view record, std::span<double> row, std::string& id) const;
  void check_id(const Cell& cell, std::string_view record, std::string_view what) const;
  [[nodiscard]] std::string describe_cell(std::size_t column) const;
  [[noreturn]] void refuse(std::string_view record, std::size_t offset,
                           const std::string& message) const;
  [[noreturn]] void refuse_count(std::string_view record, std::size_t offset) const;

  ByteSource* source_;
  char separator_;
  RecordReader records_;
  std::deque<Waiting> waiting_;  // records read to judge the layout, still to be handed out
  std::string current_;          // the record taken from waiting_
  CsvLayout layout_;
  std::size_t columns_ = 0;
  std::vector<std::string> column_ids_;
  long line_ = 0;
};

}  // namespace kith::detail
