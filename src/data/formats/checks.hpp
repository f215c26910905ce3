// SPDX-License-Identifier: Apache-2.0
// Checks that several formats share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/data/block.hpp"

namespace kith::detail {

/// Throws Error(kBadInput) naming the first infinite number by row and column (from 1). NaN, a
/// missing pair, passes.
void refuse_infinite(const DenseBlock& block, const std::string& file);
void refuse_infinite(const SparseBlock& block, const std::string& file);

/// Whether a text format has a word for a missing number.
enum class MissingWord { kRefused, kNan };

/// The number in `field`, finite or (kNan) NaN. Throws Error(kBadInput) at `place` with the text
/// and the rule it breaks; decimal commas are explained.
[[nodiscard]] double number_in(std::string_view field, const FilePlace& place, MissingWord missing);

/// Splits at runs of blanks and tabs; `fields` is overwritten.
void split_blanks(std::string_view line, std::vector<std::string_view>& fields);

/// The first lines of `head` that are whole, without blank lines and those that begin with
/// `comment`; at most `most`. The last line counts only where it ends in a line end or `head` is
/// shorter than any file's first part.
[[nodiscard]] std::vector<std::string_view> whole_lines(std::string_view head, char comment,
                                                        std::size_t most);

}  // namespace kith::detail
