// SPDX-License-Identifier: Apache-2.0
// How a csv or tsv file is laid out, judged by its first two records.
//
// Separator: the first of tab, semicolon, comma, space that occurs outside quotes and cuts the
// first lines into equally many cells (the first line may have one fewer); else the first that
// occurs at all. A line whose blank-separated words are all numbers with a decimal comma is not
// cut at commas.
//
// "Text" below is what is neither a number nor a missing value; a cell in quotes is text as well,
// unless the file quotes its numbers too. "Numbered" cells are distinct whole numbers.
//
// Header row with an id column below it: the first record
//   1. has one cell fewer than the second and is mostly text, or numbered with its first cell
//      repeated at the start of the second record (as R writes tables), or
//   2. begins with an empty cell or a corner word (id, ids, name, sample, row, #...) and has text
//      behind it or is numbered behind it (as pandas writes tables), or
//   3. is mostly text while the second record begins with text or with the first column's id, or
//   4. has any text as its corner, is numbered behind it, and the second record begins with the
//      first column's id.
// Header row without an id column: more than half of its cells are text, and the second record
// begins with a number.
// Id column without a header: the first two records begin with text.
// Everything else is data. So a stray word in the first row is reported and not taken for an id,
// and numeric ids need a corner, a header that repeats them, or quotes.
#pragma once

#include <span>
#include <string_view>

#include "data/formats/delimited.hpp"

namespace kith::detail {

struct CsvLayout {
  bool header = false;
  bool id_column = false;
  /// Cells every data record must have, the id among them.
  std::size_t cells = 0;
};

/// A line that begins with # and a blank; such lines may stand above the first row.
[[nodiscard]] bool is_comment(std::string_view record);

[[nodiscard]] char find_separator(std::string_view head);

/// `second` is empty where the file has a single record.
[[nodiscard]] CsvLayout find_layout(std::span<const Cell> first, std::span<const Cell> second);

/// What a cell that is no plain finite number holds.
enum class CellKind { kNumber, kMissing, kInfinite, kTooLarge, kDecimalComma, kText };
struct CellValue {
  CellKind kind = CellKind::kText;
  double value = 0;  ///< NaN for a missing value
};
/// Missing: nothing, NA, NaN, null (in any case) or `?`. Numbers too small for a double become 0.
[[nodiscard]] CellValue read_cell(std::string_view text);

/// Whether this id, written without quotes, could be taken for a number, a missing value or a
/// corner word. Beside or below an empty corner whole numbers are safe.
[[nodiscard]] bool needs_quotes_as_id(std::string_view text, bool below_empty_corner);

}  // namespace kith::detail
