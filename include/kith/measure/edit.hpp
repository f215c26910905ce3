// SPDX-License-Identifier: Apache-2.0
// Edit distance (Levenshtein): the fewest insertions, deletions and substitutions of one code point
// that turn one string into the other. A metric on strings; its normalised similarity is not an
// inner product, and its matrices are as a rule indefinite.
#pragma once

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

/// All pairs of `samples` (n x n, symmetric). Exact, hence the same for any number of threads.
[[nodiscard]] RowMatrix edit_matrix(std::span<const std::string> samples, EditValue value,
                                    const RunContext& ctx);

/// Each of `queries` (rows) against each of `training` (columns).
[[nodiscard]] RowMatrix edit_matrix(std::span<const std::string> queries,
                                    std::span<const std::string> training, EditValue value,
                                    const RunContext& ctx);

}  // namespace kith
