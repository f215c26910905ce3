// SPDX-License-Identifier: Apache-2.0
// What a page shows of a matrix: its summary, a picture of bounded size with the samples ordered by
// class, a map of the samples, and who is near whom. Everything is of a size that does not grow
// with n^2.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "kith/inspect/summary.hpp"

namespace kith {

/// The matrix as levels, pixel (row, column) at row * side + column. A pixel is the mean of the
/// known pairs of `samples_per_pixel` rows and columns.
struct Picture {
  Index side = 0;
  Index samples_per_pixel = 1;
  std::vector<std::uint8_t> levels;  ///< 0: no known pair; 1 .. kPictureLevels
  double low = 0;                    ///< value of level 1, and of everything below
  double high = 0;                   ///< of level kPictureLevels, and of everything above
};
inline constexpr int kPictureLevels = 63;

/// Classical scaling to the plane: the two largest eigenpairs of the centred matrix J S J, each
/// eigenvector times the root of its eigenvalue.
struct PlaneMap {
  Vector x;
  Vector y;
  double largest[2] = {0, 0};  ///< their eigenvalues
  double smallest = 0;         ///< the smallest eigenvalue of J S J: what no plane can show
  double squared_share = 0;    ///< (l1^2 + l2^2) / ||J S J||_F^2
};

struct Portrait {
  MatrixSummary summary;
  /// By class; inside a class the most typical first: by mean similarity to its class, descending.
  /// Without labels the order of the file.
  std::vector<Index> order;
  Picture picture;
  /// None where pairs are missing, of too many samples, or where it does not fit into memory.
  std::optional<PlaneMap> map;
  std::vector<Index> neighbours;  ///< `nearest` per sample, the nearest first; -1: no more known
  Index nearest = 0;
};

struct PortraitSettings {
  Index most_pixels = 1000;  ///< along a side
  Index most_means = 800;    ///< of these, where a pixel is the mean over several pairs
  Index nearest = 5;
  Index most_compared = std::numeric_limits<Index>::max();  ///< samples with neighbours
  Index most_mapped = std::numeric_limits<Index>::max();    ///< of these, with a map
  SummarySettings summary;
};

/// As `summarise` (inspect/summary.hpp), with the picture, the map and the neighbours.
[[nodiscard]] Portrait portray(const SimilaritySet& raw, const TrainingMatrix* conditioned,
                               const Labels* labels, const PortraitSettings& settings,
                               const RunContext& ctx);

}  // namespace kith
