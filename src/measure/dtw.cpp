// SPDX-License-Identifier: Apache-2.0
// A row of the table waits for each cell to finish before the next, which leaves most of a
// processor idle. Sixteen series are therefore warped with one at the same time, a lane each; of
// shorter series the lanes go on behind the end, and the distance is taken where it ended. A cell
// is the same few operations wherever it is computed, hence the same bits as one pair by itself
// has.
#include "kith/measure/dtw.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "measure/pairs.hpp"

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define KITH_DTW_AVX2 1
#endif

namespace kith {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

using SeriesView = std::span<const double>;

constexpr Index kWarps = 16;  // series warped at the same time

/// One series a of n values against kWarps others of at most m, whose values stand side by side.
struct Warps {
  const double* a;
  Index n;
  const double* b;  // m x kWarps
  Index m;
  Index w;      // the band
  double* row;  // m x kWarps: a row of the table, infinity at first
};

/// Four vectors of lanes, each with a chain of cells of its own, keep the units busy. Vector types
/// keep compilers from doubting what a comparison may do; values travel by reference, since passing
/// vectors would depend on the target of the caller.
template <int kBytes>
struct WarpLanes {
  using V [[gnu::vector_size(kBytes)]] = double;
  using Stored [[gnu::vector_size(kBytes), gnu::aligned(8), gnu::may_alias]] = double;
  static constexpr Index kCount = kBytes / static_cast<int>(sizeof(double));
};
#define KITH_WARP_INLINE inline __attribute__((always_inline))

template <int kBytes>
KITH_WARP_INLINE void load_lanes(typename WarpLanes<kBytes>::V& v, const double* from) {
  v = *reinterpret_cast<const typename WarpLanes<kBytes>::Stored*>(from);
}

/// One cell of every lane of a vector: left and corner move on to the next column.
template <int kBytes>
KITH_WARP_INLINE void warp_cell(const typename WarpLanes<kBytes>::V& a, const double* b,
                                double* row, typename WarpLanes<kBytes>::V& left,
                                typename WarpLanes<kBytes>::V& corner) {
  typename WarpLanes<kBytes>::V value, above;
  load_lanes<kBytes>(value, b);
  load_lanes<kBytes>(above, row);
  const typename WarpLanes<kBytes>::V difference = a - value;
  typename WarpLanes<kBytes>::V best = above < corner ? above : corner;
  best = left < best ? left : best;
  corner = above;
  left = difference * difference + best;
  *reinterpret_cast<typename WarpLanes<kBytes>::Stored*>(row) = left;
}

/// The lanes from `lane` on.
template <int kBytes>
KITH_WARP_INLINE void warp_together(const Warps& warps, Index lane) {
  using V = typename WarpLanes<kBytes>::V;
  constexpr Index kStep = WarpLanes<kBytes>::kCount;
  const double* const lanes_b = warps.b + lane;
  double* const lanes_row = warps.row + lane;
  for (Index i = 0; i < warps.n; ++i) {
    const Index first = std::max<Index>(0, i - warps.w);
    const Index last = std::min(warps.m - 1, i + warps.w);
    const V a = warps.a[i] - V{};
    const V far = kFar - V{};
    V l0 = far, l1 = far, l2 = far, l3 = far;
    V c0 = far, c1 = far, c2 = far, c3 = far;
    if (i == 0) c0 = c1 = c2 = c3 = V{};  // before the first cell of all, the path is free
    if (first > 0) {
      const double* before = lanes_row + (first - 1) * kWarps;
      load_lanes<kBytes>(c0, before);
      load_lanes<kBytes>(c1, before + kStep);
      load_lanes<kBytes>(c2, before + 2 * kStep);
      load_lanes<kBytes>(c3, before + 3 * kStep);
    }
    for (Index j = first; j <= last; ++j) {
      const double* const b = lanes_b + j * kWarps;
      double* const row = lanes_row + j * kWarps;
      warp_cell<kBytes>(a, b, row, l0, c0);
      warp_cell<kBytes>(a, b + kStep, row + kStep, l1, c1);
      warp_cell<kBytes>(a, b + 2 * kStep, row + 2 * kStep, l2, c2);
      warp_cell<kBytes>(a, b + 3 * kStep, row + 3 * kStep, l3, c3);
    }
  }
}

using WarpKernel = void (*)(const Warps&);
void warp_baseline(const Warps& warps) {
  warp_together<16>(warps, 0);
  warp_together<16>(warps, 8);
}
#ifdef KITH_DTW_AVX2
// Not with fma: one rounding less would change the last bits from machine to machine.
__attribute__((target("avx2"))) void warp_avx2(const Warps& warps) { warp_together<32>(warps, 0); }
#endif

/// An ordinary function pointer, not an ifunc: their resolvers run before sanitizers are ready.
WarpKernel warp_kernel() {
#ifdef KITH_DTW_AVX2
  static const WarpKernel chosen = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? warp_avx2 : warp_baseline;
  }();
  return chosen;
#else
  return warp_baseline;
#endif
}

Index band_of(const DtwSettings& settings, std::size_t n, std::size_t m) {
  const auto longer = static_cast<Index>(std::max(n, m));
  const auto shorter = static_cast<Index>(std::min(n, m));
  return settings.band ? std::min(longer, std::max(*settings.band, longer - shorter)) : longer;
}

/// The sum along the cheapest path of one pair, before the root; `row` is work space.
double warp_alone(SeriesView a, SeriesView b, Index w, Series& row) {
  assert(!a.empty() && !b.empty() && "readers refuse empty series");
  const auto n = static_cast<Index>(a.size());
  const auto m = static_cast<Index>(b.size());
  row.assign(b.size(), kFar);
  for (Index i = 0; i < n; ++i) {
    const Index first = std::max<Index>(0, i - w);
    const Index last = std::min(m - 1, i + w);
    double left = kFar;
    double corner = i == 0 ? 0.0 : kFar;
    if (first > 0) corner = row[static_cast<std::size_t>(first - 1)];
    for (auto j = static_cast<std::size_t>(first); j <= static_cast<std::size_t>(last); ++j) {
      const double above = row[j];
      const double difference = a[static_cast<std::size_t>(i)] - b[j];
      left = difference * difference + std::min(left, std::min(above, corner));
      corner = above;
      row[j] = left;
    }
  }
  return row.back();
}

/// One series against those of a list; the work space of one thread.
class WarpRow {
 public:
  static constexpr Index kBatch = kWarps;

  WarpRow(const Series& a, std::span<const Series> columns, const DtwSettings& settings)
      : a_(&a), columns_(columns), settings_(settings) {}

  void fill(Index begin, Index end, double* out) {
    const std::span<const Series> batch =
        columns_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    if (batch.size() > 1 && share_a_band(batch)) {
      fill_together(batch, out);
      return;
    }
    for (const Series& b : batch) {
      const Index w = band_of(settings_, a_->size(), b.size());
      *out++ = std::sqrt(warp_alone(*a_, b, w, row_));
    }
  }

 private:
  [[nodiscard]] bool share_a_band(std::span<const Series> batch) const {
    if (!settings_.band) return true;
    return std::all_of(batch.begin(), batch.end(),
                       [&](const Series& b) { return b.size() == batch[0].size(); });
  }

  void fill_together(std::span<const Series> batch, double* out) {
    std::size_t m = 0;
    for (const Series& b : batch) m = std::max(m, b.size());
    lanes_.assign(m * kWarps, 0.0);
    row_.assign(m * kWarps, kFar);
    for (std::size_t lane = 0; lane < batch.size(); ++lane) {
      for (std::size_t j = 0; j < batch[lane].size(); ++j)
        lanes_[j * kWarps + lane] = batch[lane][j];
    }
    kernel_({.a = a_->data(),
             .n = static_cast<Index>(a_->size()),
             .b = lanes_.data(),
             .m = static_cast<Index>(m),
             .w = band_of(settings_, a_->size(), m),
             .row = row_.data()});
    for (std::size_t lane = 0; lane < batch.size(); ++lane) {
      out[lane] = std::sqrt(row_[(batch[lane].size() - 1) * kWarps + lane]);
    }
  }

  const Series* a_;
  std::span<const Series> columns_;
  DtwSettings settings_;
  WarpKernel kernel_ = warp_kernel();
  Series lanes_;
  Series row_;
};

}  // namespace

RowMatrix dtw_matrix(std::span<const Series> rows, const DtwSettings& settings,
                     const RunContext& ctx, std::optional<std::span<const Series>> columns) {
  const std::span<const Series> others = columns.value_or(rows);
  return detail::all_pairs(
      std::ssize(rows), std::ssize(others), !columns, "dtw distances", ctx,
      [&](Index i) { return WarpRow(rows[static_cast<std::size_t>(i)], others, settings); });
}

}  // namespace kith
