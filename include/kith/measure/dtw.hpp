// SPDX-License-Identifier: Apache-2.0
// Dynamic time warping of series of numbers: the distance after the cheapest stretching of both,
//   D(i, j) = (a_i - b_j)^2 + min(D(i-1, j), D(i, j-1), D(i-1, j-1)),   dtw(a, b) = sqrt(D(n, m)).
// With a band of w (Sakoe and Chiba) only cells with |i - j| <= max(w, |n - m|) are used: w = 0 is
// the Euclidean distance of series of equal length. Symmetric, zero of a series to itself, but no
// metric: the triangle inequality fails.
// O(n m) per pair, or O(w max(n, m)) with a band.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith {

using Series = std::vector<double>;

struct DtwSettings {
  std::optional<Index> band;  ///< w >= 0; none: every cell
};

/// Each of `rows` with each of `columns`; none: all pairs of `rows` (n x n, symmetric, diagonal 0).
/// No series is empty. Every entry is wanted, so that lower bounds could spare nothing here.
[[nodiscard]] RowMatrix dtw_matrix(std::span<const Series> rows, const DtwSettings& settings,
                                   const RunContext& ctx,
                                   std::optional<std::span<const Series>> columns = std::nullopt);

}  // namespace kith
