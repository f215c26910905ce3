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

/// The distance of two series, neither of them empty.
[[nodiscard]] double dtw_distance(std::span<const double> a, std::span<const double> b,
                                  const DtwSettings& settings = {});

/// A bound from below in O(n + m) (Keogh): every a_i meets some b_j of the band, hence costs at
/// least its squared distance from the range of those b_j.
[[nodiscard]] double dtw_lower_bound(std::span<const double> a, std::span<const double> b,
                                     const DtwSettings& settings = {});

/// The `count` series of `training` nearest to `query`, the nearest first and equal distances in
/// the order of `training`. The lower bound passes over most of them; the answer is exact.
struct DtwNeighbour {
  Index position = 0;
  double distance = 0;
};
[[nodiscard]] std::vector<DtwNeighbour> dtw_nearest(std::span<const double> query,
                                                    std::span<const Series> training, Index count,
                                                    const DtwSettings& settings = {});

/// Each of `rows` with each of `columns`; none: all pairs of `rows` (n x n, symmetric, diagonal 0).
/// Every entry is wanted, so that lower bounds could spare nothing here.
[[nodiscard]] RowMatrix dtw_matrix(std::span<const Series> rows, const DtwSettings& settings,
                                   const RunContext& ctx,
                                   std::optional<std::span<const Series>> columns = std::nullopt);

}  // namespace kith
