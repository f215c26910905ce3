// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/symmetric.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cmath>
#include <vector>

#include "condition/symmetrise.hpp"
#include "condition/tiles.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/xxh64.hpp"

namespace kith {
namespace {

/// Tiles of both (i, j) and (j, i) fit into the first-level cache together.
constexpr Index kTile = 32;

/// What one part of a block adds to the measures.
struct Part {
  double squares = 0;
  double difference_squares = 0;
  double largest = 0;
  Index i = 0;
  Index j = 0;
  bool symmetric = true;
  std::int64_t missing = 0;
  double largest_value = 0;

  void compare(Index a, Index b, double forth, double back) {
    symmetric = symmetric && !detail::differ(forth, back);
    const double difference = std::abs(forth - back);
    if (std::isnan(difference)) return;
    difference_squares += 2 * difference * difference;
    const bool is_first =
        difference == largest && difference > 0 && std::pair(a, b) < std::pair(i, j);
    if (difference > largest || is_first) {
      largest = difference;
      i = a;
      j = b;
    }
  }
  void add(double value) {
    if (std::isnan(value)) {
      ++missing;
      return;
    }
    squares += value * value;
    largest_value = std::max(largest_value, std::abs(value));
  }
  void merge(const Part& other) {
    squares += other.squares;
    difference_squares += other.difference_squares;
    symmetric = symmetric && other.symmetric;
    missing += other.missing;
    largest_value = std::max(largest_value, other.largest_value);
    const bool is_first = other.largest == largest && other.largest > 0 &&
                          std::pair(other.i, other.j) < std::pair(i, j);
    if (other.largest > largest || is_first) {
      largest = other.largest;
      i = other.i;
      j = other.j;
    }
  }
};

Asymmetry measures(const Part& total) {
  Asymmetry result{.largest_difference = total.largest, .i = total.i, .j = total.j};
  if (total.squares > 0) result.relative = std::sqrt(total.difference_squares / total.squares);
  return result;
}

/// The squares and the largest of a row; of the known values alone where some are missing.
void add_row(std::span<const double> row, Part& part) {
  const Eigen::Map<const Eigen::ArrayXd> values(row.data(), std::ssize(row));
  const double squares = values.square().sum();
  if (std::isfinite(squares)) {
    part.squares += squares;
    part.largest_value = std::max(part.largest_value, values.abs().maxCoeff());
    return;
  }
  for (const double value : row) part.add(value);
}

/// Compares the pairs above the diagonal in rows from i0 and columns from j0 on with those below.
void compare_tile(const DenseBlock& block, Index i0, Index j0, Part& part) {
  const Index n = block.rows();
  const Index j1 = std::min(j0 + kTile, n);
  std::array<double, kTile> back{};
  for (Index i = i0; i < std::min(i0 + kTile, n); ++i) {
    const Index first = std::max(j0, i + 1);
    const double* forth = block.row(i).data();
    int unequal = 0;
    for (Index j = first; j < j1; ++j) {
      back[static_cast<std::size_t>(j - j0)] = block(j, i);
      unequal += forth[j] == back[static_cast<std::size_t>(j - j0)] ? 0 : 1;
    }
    if (unequal == 0) continue;
    for (Index j = first; j < j1; ++j) {
      part.compare(i, j, forth[j], back[static_cast<std::size_t>(j - j0)]);
    }
  }
}

/// The rows of each kTile x columns stripe.
std::size_t stripes_of(const DenseBlock& block) {
  return static_cast<std::size_t>((block.rows() + kTile - 1) / kTile);
}

void add_values(std::span<const double> values, Xxh64& hash) {
  hash.update({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::uint64_t stripe_hash(const DenseBlock& block, std::size_t stripe) {
  const Index first = static_cast<Index>(stripe) * kTile;
  const Index count = std::min(kTile, block.rows() - first) * block.cols();
  Xxh64 hash;
  add_values({block.values().data() + first * block.cols(), static_cast<std::size_t>(count)}, hash);
  return hash.digest();
}

/// What the stripes of the upper triangle tell, as long as the block is symmetric and complete.
struct UpperStripe {
  bool plain = true;  ///< symmetric so far, and no pair missing
  double largest = 0;
  std::uint64_t hash = 0;
};

UpperStripe upper_stripe(const DenseBlock& block, std::size_t stripe) {
  const detail::TileKernels& kernels = detail::tile_kernels();
  const Index n = block.rows();
  const Index i0 = static_cast<Index>(stripe) * kTile;
  UpperStripe seen;
  Xxh64 hash;
  for (Index i = i0; i < std::min(i0 + kTile, n); ++i) {
    const std::span<const double> values = block.row(i).subspan(static_cast<std::size_t>(i0));
    const double largest = kernels.largest_magnitude(values.data(), std::ssize(values));
    if (std::isnan(largest)) return {.plain = false};
    seen.largest = std::max(seen.largest, largest);
    add_values(values, hash);
  }
  for (Index j0 = i0; j0 < n; j0 += kTile) {
    if (!kernels.is_mirrored(block.values().data(), n, i0, j0, kTile)) return {.plain = false};
  }
  seen.hash = hash.digest();
  return seen;
}

std::uint64_t joined(const DenseBlock& block, std::span<const std::uint64_t> stripes, bool upper) {
  Xxh64 hash;
  const std::array<std::int64_t, 3> shape = {block.rows(), block.cols(), upper ? 1 : 0};
  hash.update({reinterpret_cast<const char*>(shape.data()), sizeof shape});
  hash.update({reinterpret_cast<const char*>(stripes.data()), stripes.size_bytes()});
  return hash.digest();
}

/// Calls beside(stripe) after each stripe of rows.
template <class Beside>
Part dense_parts(const DenseBlock& block, int threads, const Beside& beside) {
  const Index n = block.rows();
  std::vector<Part> parts(stripes_of(block));
  parallel_for(parts.size(), threads, [&](std::size_t stripe) {
    const Index i0 = static_cast<Index>(stripe) * kTile;
    for (Index i = i0; i < std::min(i0 + kTile, n); ++i) add_row(block.row(i), parts[stripe]);
    beside(stripe);
    for (Index j0 = i0; j0 < n; j0 += kTile) compare_tile(block, i0, j0, parts[stripe]);
  });
  Part total;
  for (const Part& part : parts) total.merge(part);
  return total;
}

Asymmetry sparse_asymmetry(const SparseBlock& block) {
  const SparseBlock turned = transposed(block);
  Part total;
  for (const double value : block.values) total.add(value);
  for (Index i = 0; i < block.rows(); ++i) {
    merge_rows(block.row(i), turned.row(i), block.absent_value(),
               [&](Index j, double forth, double back) {
                 if (i < j) total.compare(i, j, forth, back);
               });
  }
  return measures(total);
}

}  // namespace

Matrix symmetric_mean(const DenseBlock& block, int threads) {
  assert(block.rows() == block.cols() && "only a square block has two directions");
  const Index n = block.rows();
  Matrix result(n, n);
  parallel_for(static_cast<std::size_t>((n + kTile - 1) / kTile), threads, [&](std::size_t stripe) {
    const Index j0 = static_cast<Index>(stripe) * kTile;
    const Index j1 = std::min(j0 + kTile, n);
    for (Index i0 = j0; i0 < n; i0 += kTile) {
      const Index i1 = std::min(i0 + kTile, n);
      for (Index j = j0; j < j1; ++j) {
        for (Index i = std::max(i0, j); i < i1; ++i) {
          const double mean = 0.5 * block(i, j) + 0.5 * block(j, i);
          result(i, j) = mean;
          result(j, i) = mean;
        }
      }
    }
  });
  return result;
}

Asymmetry asymmetry(const Block& block, int threads) {
  assert(rows(block) == cols(block) && "only a square block has two directions");
  if (const auto* dense = std::get_if<DenseBlock>(&block)) {
    return measures(dense_parts(*dense, threads, [](std::size_t) {}));
  }
  return sparse_asymmetry(std::get<SparseBlock>(block));
}

BlockFacts look(const DenseBlock& block, int threads) {
  assert(block.rows() == block.cols() && "only a square block has two directions");
  std::vector<std::uint64_t> hashes(stripes_of(block));
  std::atomic<bool> plain = true;
  std::vector<double> largest(hashes.size());
  parallel_for(hashes.size(), threads, [&](std::size_t stripe) {
    if (!plain.load(std::memory_order_relaxed)) return;
    const UpperStripe seen = upper_stripe(block, stripe);
    if (!seen.plain) plain.store(false, std::memory_order_relaxed);
    hashes[stripe] = seen.hash;
    largest[stripe] = seen.largest;
  });
  if (plain) {
    return {.largest = hashes.empty() ? 0 : *std::ranges::max_element(largest),
            .hash = joined(block, hashes, true)};
  }
  const Part total = dense_parts(
      block, threads, [&](std::size_t stripe) { hashes[stripe] = stripe_hash(block, stripe); });
  return {.asymmetry = measures(total),
          .exactly_symmetric = total.symmetric,
          .missing = total.missing,
          .largest = total.largest_value,
          .hash = joined(block, hashes, false)};
}

std::uint64_t block_hash(const DenseBlock& block, int threads) {
  if (block.rows() == block.cols()) return look(block, threads).hash;
  std::vector<std::uint64_t> hashes(stripes_of(block));
  parallel_for(hashes.size(), threads,
               [&](std::size_t stripe) { hashes[stripe] = stripe_hash(block, stripe); });
  return joined(block, hashes, false);
}

bool exactly_symmetric(const Block& block) {
  assert(rows(block) == cols(block) && "only a square block has two directions");
  if (const auto* sparse = std::get_if<SparseBlock>(&block)) return *sparse == transposed(*sparse);
  const auto& dense = std::get<DenseBlock>(block);
  const Index n = dense.rows();
  const detail::TileKernels& kernels = detail::tile_kernels();
  for (Index j0 = 0; j0 < n; j0 += kTile) {
    for (Index i0 = j0; i0 < n; i0 += kTile) {
      if (kernels.is_mirrored(dense.values().data(), n, j0, i0, kTile)) continue;
      for (Index i = i0; i < std::min(i0 + kTile, n); ++i) {
        for (Index j = j0; j < std::min(j0 + kTile, i); ++j) {
          if (detail::differ(dense(i, j), dense(j, i))) return false;
        }
      }
    }
  }
  return true;
}

}  // namespace kith
