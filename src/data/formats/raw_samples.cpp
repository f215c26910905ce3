// SPDX-License-Identifier: Apache-2.0
// Samples themselves where a matrix is expected: sequences, images, words. The reader of csv would
// complain about one of their cells.
#include <fmt/format.h>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/csv_layout.hpp"
#include "data/formats/idx.hpp"
#include "data/formats/readers.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::size_t kLinesLookedAt = 8;
/// One line of words below a header may be a mistake in a cell.
constexpr std::size_t kFewestLines = 3;

[[noreturn]] void refuse_as(const std::string& file, const std::string& what) {
  throw bad_input(
      {file},
      "{}, and a matrix of pairs is expected. Give samples with [[data]] and [[measure]], "
      "which computes the pairs",
      what);
}

/// The first word below the first line, where there are words and no number; the first cell of a
/// line may be an id.
std::string first_of_words(std::string_view head) {
  const char separator = find_separator(head);
  const std::vector<std::string_view> lines = whole_lines(head, '#', kLinesLookedAt);
  std::string word;
  for (std::size_t k = 1; k < lines.size() && lines.size() >= kFewestLines; ++k) {
    const std::vector<Cell> cells = split_cells(lines[k], separator);
    for (std::size_t c = cells.size() > 1 ? 1 : 0; c < cells.size(); ++c) {
      const CellKind kind = read_cell(cells[c].text).kind;
      if (kind != CellKind::kText && kind != CellKind::kMissing) return {};
      if (word.empty() && kind == CellKind::kText) word = cells[c].text;
    }
  }
  return word;
}

}  // namespace

void refuse_raw_samples(const std::string& file, std::string_view head) {
  if (looks_like_idx(head)) refuse_as(file, "the file holds IDX data, a sample in each row");
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return;
  if (head[start] == '>') refuse_as(file, "the file holds sequences in FASTA");
  const std::string word = first_of_words(head.substr(start));
  if (word.empty()) return;
  refuse_as(file,
            fmt::format("the first lines hold words, such as {}, and no number", in_quotes(word)));
}

}  // namespace kith::detail
