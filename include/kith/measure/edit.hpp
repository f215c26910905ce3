// SPDX-License-Identifier: Apache-2.0
// Edit distance (Levenshtein): the fewest insertions, deletions and substitutions of one code point
// that turn one string into the other. A metric on strings; its normalised similarity is not an
// inner product, and its matrices are as a rule indefinite.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// The edit distance of two UTF-8 strings, counted in code points. O(|a| |b| / 64). Throws
/// Error(kInvalidArgument) where the bytes are not UTF-8.
[[nodiscard]] Index edit_distance(std::string_view a, std::string_view b);

/// 1 - d(a, b) / max(|a|, |b|), in [0, 1]; 1 for two empty strings.
[[nodiscard]] double edit_similarity(std::string_view a, std::string_view b);

enum class EditValue { kSimilarity, kDistance };

/// Each of `rows` with each of `columns`; none: all pairs of `rows` (n x n, symmetric). Exact,
/// hence the same for any number of threads.
[[nodiscard]] RowMatrix edit_matrix(
    std::span<const std::string> rows, EditValue value, const RunContext& ctx,
    std::optional<std::span<const std::string>> columns = std::nullopt);

}  // namespace kith
