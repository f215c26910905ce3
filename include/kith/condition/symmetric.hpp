// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kith/data/block.hpp"

namespace kith {

/// (S + S') / 2 as an exactly symmetric column-major matrix, in one pass over tiles. S must be
/// square; entries that agree keep their bits.
[[nodiscard]] Matrix symmetric_mean(const DenseBlock& block, int threads = 1);

/// Whether S_ij and S_ji are equal everywhere, or both missing. Dense blocks take one pass over
/// tiles, ended by the first difference.
[[nodiscard]] bool exactly_symmetric(const Block& block);

/// How far a square block is from its transposed. Pairs that are missing in a direction take no
/// part; absent zeros do.
struct Asymmetry {
  double largest_difference = 0;  ///< max |S_ij - S_ji|
  double relative = 0;            ///< ||S - S'||_F / ||S||_F
  Index i = 0;                    ///< the first pair with the largest difference, i < j;
  Index j = 0;                    ///< i == j: the block is symmetric
  [[nodiscard]] bool is_symmetric() const { return largest_difference == 0; }
};
[[nodiscard]] Asymmetry asymmetry(const Block& block, int threads = 1);
/// What a look at a square dense block tells: where it is symmetric and complete, one pass over
/// tiles above the diagonal and their mirror images; else a second pass.
struct BlockFacts {
  Asymmetry asymmetry;
  bool exactly_symmetric = true;  ///< S_ij and S_ji are equal everywhere, or both missing
  std::int64_t missing = 0;       ///< pairs that are NaN
  double largest = 0;             ///< magnitude of the others
  std::uint64_t hash = 0;         ///< block_hash
};
[[nodiscard]] BlockFacts look(const DenseBlock& block, int threads = 1);

/// XXH64 over the shape of a dense block and the XXH64 of each stripe of its rows; from the
/// diagonal on where the rest is their mirror image.
[[nodiscard]] std::uint64_t block_hash(const DenseBlock& block, int threads = 1);

/// The largest relative asymmetry that is rounding of whatever computed the numbers.
inline constexpr double kRoundingAsymmetry = 1e-12;

}  // namespace kith
