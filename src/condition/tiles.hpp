// SPDX-License-Identifier: Apache-2.0
// What a look at a similarity matrix computes from its memory, as fast as the processor has it:
// written with the compilers' portable vector types, like optim/dual/vector_kernels, and chosen in
// the same way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kith/core/types.hpp"

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define KITH_X86_DISPATCH 1
#endif

#define KITH_TILE_INLINE inline __attribute__((always_inline))

namespace kith::detail {

struct TileKernels {
  /// Whether S(i, j) = S(j, i) for i from i0 and j from j0 on, `size` of each or up to n. S has n
  /// rows, one after another. NaN equals nothing.
  bool (*is_mirrored)(const double* S, Index n, Index i0, Index j0, Index size);
  /// Of `count` values, 0 of none; NaN where one of them is.
  double (*largest_magnitude)(const double* values, Index count);
};

namespace tiles {

using FourDoubles = double __attribute__((vector_size(32)));
using FourFlags = long long __attribute__((vector_size(32)));

KITH_TILE_INLINE void load_four(FourDoubles& v, const double* p) { std::memcpy(&v, p, sizeof v); }

/// Blocks of 4 x 4 are turned in registers. The tile on the other side, of which each row is a few
/// cache lines far from the next, is asked for while the one before it is compared.
KITH_TILE_INLINE bool is_mirrored_body(const double* S, Index n, Index i0, Index j0, Index size) {
  constexpr Index kLine = 8;  // doubles
  const Index i1 = std::min(i0 + size, n);
  const Index j1 = std::min(j0 + size, n);
  for (Index j = j1; j < std::min(j1 + size, n); ++j) {
    for (Index i = i0; i < i1; i += kLine) __builtin_prefetch(S + j * n + i);
  }
  FourFlags differ{};
  int unequal = 0;
  const auto compare = [&](Index i, Index j) { unequal += S[i * n + j] == S[j * n + i] ? 0 : 1; };
  Index i = i0;
  for (; i + 4 <= i1; i += 4) {
    Index j = j0;
    for (; j + 4 <= j1; j += 4) {
      FourDoubles forth[4];
      FourDoubles back[4];
      for (int k = 0; k < 4; ++k) {
        load_four(forth[k], S + (i + k) * n + j);
        load_four(back[k], S + (j + k) * n + i);
      }
      const FourDoubles a = __builtin_shufflevector(back[0], back[1], 0, 4, 2, 6);
      const FourDoubles b = __builtin_shufflevector(back[0], back[1], 1, 5, 3, 7);
      const FourDoubles c = __builtin_shufflevector(back[2], back[3], 0, 4, 2, 6);
      const FourDoubles d = __builtin_shufflevector(back[2], back[3], 1, 5, 3, 7);
      differ |= (forth[0] != __builtin_shufflevector(a, c, 0, 1, 4, 5)) |
                (forth[1] != __builtin_shufflevector(b, d, 0, 1, 4, 5)) |
                (forth[2] != __builtin_shufflevector(a, c, 2, 3, 6, 7)) |
                (forth[3] != __builtin_shufflevector(b, d, 2, 3, 6, 7));
    }
    for (; j < j1; ++j) {
      for (Index k = i; k < i + 4; ++k) compare(k, j);
    }
  }
  for (; i < i1; ++i) {
    for (Index j = j0; j < j1; ++j) compare(i, j);
  }
  for (int k = 0; k < 4; ++k) unequal += differ[k] != 0 ? 1 : 0;
  return unequal == 0;
}

KITH_TILE_INLINE double largest_magnitude_body(const double* values, Index count) {
  constexpr Index kChains = 4;  // independent: they hide the latency of the comparison
  FourDoubles largest[kChains] = {};
  FourFlags unknown[kChains] = {};
  Index k = 0;
  for (; k + 4 * kChains <= count; k += 4 * kChains) {
    for (Index c = 0; c < kChains; ++c) {
      FourDoubles v;
      load_four(v, values + k + 4 * c);
      const FourDoubles magnitude = v < 0 ? -v : v;
      largest[c] = magnitude > largest[c] ? magnitude : largest[c];
      unknown[c] |= v != v;  // NOLINT(misc-redundant-expression): NaN differs from itself
    }
  }
  double most = 0;
  bool has_nan = false;
  for (Index c = 0; c < kChains; ++c) {
    for (int lane = 0; lane < 4; ++lane) {
      most = std::max(most, largest[c][lane]);
      has_nan = has_nan || unknown[c][lane] != 0;
    }
  }
  for (; k < count; ++k) {
    most = std::max(most, std::abs(values[k]));  // keeps `most` where the value is NaN
    has_nan = has_nan || std::isnan(values[k]);
  }
  return has_nan ? std::numeric_limits<double>::quiet_NaN() : most;
}

// Types, names and attributes take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define KITH_TILE_KERNELS(name, attribute)                                                      \
  namespace name {                                                                              \
  attribute inline bool is_mirrored(const double* S, Index n, Index i0, Index j0, Index size) { \
    return is_mirrored_body(S, n, i0, j0, size);                                                \
  }                                                                                             \
  attribute inline double largest_magnitude(const double* values, Index count) {                \
    return largest_magnitude_body(values, count);                                               \
  }                                                                                             \
  inline constexpr TileKernels kTileKernels{is_mirrored, largest_magnitude};                    \
  }
// NOLINTEND(bugprone-macro-parentheses)

KITH_TILE_KERNELS(baseline, )
#ifdef KITH_X86_DISPATCH
KITH_TILE_KERNELS(avx2, __attribute__((target("avx2"))))
#endif

}  // namespace tiles

[[nodiscard]] inline const TileKernels& tile_kernels() {
#ifdef KITH_X86_DISPATCH
  static const TileKernels& chosen = [&]() -> const TileKernels& {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? tiles::avx2::kTileKernels
                                          : tiles::baseline::kTileKernels;
  }();
  return chosen;
#else
  return tiles::baseline::kTileKernels;
#endif
}

}  // namespace kith::detail
