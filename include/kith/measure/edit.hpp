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

enum class EditValue {
  kSimilarity,  ///< 1 - d(a, b) / max(|a|, |b|), in [0, 1]; 1 for two empty strings
  kDistance,    ///< d, counted in code points
};

/// Each of `rows` with each of `columns`; none: all pairs of `rows` (n x n, symmetric). Exact,
/// hence the same for any number of threads. O(|a| |b| / 64) per pair. Throws
/// Error(kInvalidArgument) where a string is not UTF-8.
[[nodiscard]] RowMatrix edit_matrix(
    std::span<const std::string> rows, EditValue value, const RunContext& ctx,
    std::optional<std::span<const std::string>> columns = std::nullopt);

}  // namespace kith
