// SPDX-License-Identifier: Apache-2.0
// Normalised compression distance of strings (Cilibrasi and Vitanyi): with C the length of what
// zstd makes of a string,
//   d(x, y) = (min(C(xy), C(yx)) - min(C(x), C(y))) / max(C(x), C(y)).
// The shorter of both orders is taken, so that the distance is symmetric. Near 0 for strings that
// explain each other, near 1 for strings that have nothing in common; the distance of a string to
// itself is small, but not 0. What zstd's own header adds weighs on strings of a few letters.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith {

struct CompressionSettings {
  Index level = 19;  ///< of zstd, 1 .. 22
};

/// Each of `rows` with each of `columns`; none: all pairs of `rows` (n x n, symmetric). The bytes
/// of another version of zstd may differ by a few, and the numbers with them.
[[nodiscard]] RowMatrix compression_matrix(
    std::span<const std::string> rows, const CompressionSettings& settings, const RunContext& ctx,
    std::optional<std::span<const std::string>> columns = std::nullopt);

}  // namespace kith
