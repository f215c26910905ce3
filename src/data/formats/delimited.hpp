// SPDX-License-Identifier: Apache-2.0
// Records and cells of delimited text with the quotes of RFC 4180: a cell that begins with a quote
// ends at the next single one, may hold separators and line ends, and doubles the quotes inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/formats/stream.hpp"

namespace kith::detail {

/// Cells are separated by one `separator`, or, where it is a space, by runs of spaces and tabs.
struct Cell {
  std::string text;        ///< without quotes and without blanks around it
  bool quoted = false;     ///< stood in quotes
  std::size_t offset = 0;  ///< of its first byte in the record
};
[[nodiscard]] std::vector<Cell> split_cells(std::string_view record, char separator);

/// Where the cell that begins at `begin` ends: the position of its separator or of the end.
[[nodiscard]] std::size_t cell_end(std::string_view record, std::size_t begin, char separator);
/// The content of a cell: blanks around it and quotes taken off.
[[nodiscard]] Cell cell_at(std::string_view record, std::size_t begin, std::size_t end);

/// `text` as a cell, in quotes where it could not be read back otherwise.
void append_cell(std::string& out, std::string_view text, char separator, bool always_quote);

/// Lines put together to records where a quoted cell holds line ends.
class RecordReader {
 public:
  RecordReader(ByteSource& source, char separator) : lines_(source), separator_(separator) {}
  /// The next record; false at the end. Throws where a quote is never closed.
  [[nodiscard]] bool next(std::string_view& record);
  [[nodiscard]] long line_number() const { return lines_.line_number(); }
  [[nodiscard]] const std::string& name() const { return lines_.name(); }

 private:
  LineReader lines_;
  char separator_;
};

/// Line and column of a byte of a record that began on line `first_line`.
[[nodiscard]] FilePlace place_in(const std::string& file, long first_line, std::string_view record,
                                 std::size_t offset);

[[nodiscard]] inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
/// True for a record of nothing but spaces.
[[nodiscard]] bool is_blank(std::string_view record);

}  // namespace kith::detail
