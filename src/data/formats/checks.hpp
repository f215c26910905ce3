// SPDX-License-Identifier: Apache-2.0
// Checks that several formats share.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/formats/stream.hpp"
#include "kith/data/block.hpp"

namespace kith::detail {

/// Throws Error(kBadInput) naming the first infinite number by row and column (from 1). NaN, a
/// missing pair, passes.
void refuse_infinite(const DenseBlock& block, const std::string& file);
/// The same of a sparse block, whose missing pairs are absent: NaN is refused too.
void refuse_not_finite(const SparseBlock& block, const std::string& file);

/// Whether a text format has a word for a missing number.
enum class MissingWord { kRefused, kNan };

/// The number in `field`, a part of the current line: finite or (kNan) NaN. Throws Error(kBadInput)
/// with its place, its text and the rule it breaks; decimal commas are explained.
[[nodiscard]] double number_in(std::string_view field, const LineReader& lines,
                               MissingWord missing);

/// The ids of a file, which differ and are UTF-8.
class FileIds {
 public:
  /// Throws Error(kBadInput) at `place`, naming the line that had the id before.
  void add(std::string_view id, const FilePlace& place);

 private:
  std::unordered_map<std::string, long> line_of_;
};

/// `text` without blanks around it; what is empty still points to where it stood.
[[nodiscard]] std::string_view trimmed_in_place(std::string_view text);

/// Splits at runs of blanks and tabs; `fields` is overwritten.
void split_blanks(std::string_view line, std::vector<std::string_view>& fields);

/// The first lines of `head` that are whole, without blank lines and those that begin with
/// `comment`; at most `most`. The last line counts only where it ends in a line end or `head` is
/// shorter than any file's first part.
[[nodiscard]] std::vector<std::string_view> whole_lines(std::string_view head, char comment,
                                                        std::size_t most);

}  // namespace kith::detail
