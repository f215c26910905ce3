// SPDX-License-Identifier: Apache-2.0
// Cells are computed along antidiagonals i + j = k, whose cells do not depend on each other: the
// processor takes several at once, where a row would wait for each cell to finish before the next.
// Every cell is the same two operations in any order of computing, hence the same bits.
//
// A diagonal is an array over i with one place in front: cell i stands at place i + 1. Beside the
// cells of a diagonal, at the places before the first and behind the last, stands infinity; a
// diagonal reads no further than that beyond its neighbours.
#include "kith/measure/dtw.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "measure/pairs.hpp"

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define KITH_DTW_AVX2 1
#endif

namespace kith {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

using SeriesView = std::span<const double>;

/// What a diagonal is computed from: `count` cells from place `first` on.
struct Diagonal {
  const double* a;         // of cell `first`
  const double* backward;  // b, from back to front, of cell `first`
  const double* before;    // diagonal k - 1, at place first
  const double* earlier;   // diagonal k - 2, at place first
  double* now;             // diagonal k, at place first + 1
  Index count;
};

/// Vector types keep compilers from doubting what a comparison may do. `Lanes` cells at a time.
template <int kBytes>
inline __attribute__((always_inline)) void diagonal_cells(const Diagonal& d) {
  typedef double V __attribute__((vector_size(kBytes)));
  constexpr Index kLanes = kBytes / static_cast<int>(sizeof(double));
  Index t = 0;
  for (; t + kLanes <= d.count; t += kLanes) {
    V a, b, above, left, corner;
    std::memcpy(&a, d.a + t, kBytes);
    std::memcpy(&b, d.backward + t, kBytes);
    std::memcpy(&above, d.before + t, kBytes);
    std::memcpy(&left, d.before + t + 1, kBytes);
    std::memcpy(&corner, d.earlier + t, kBytes);
    const V difference = a - b;
    V best = above < left ? above : left;
    best = corner < best ? corner : best;
    const V cell = difference * difference + best;
    std::memcpy(d.now + t, &cell, kBytes);
  }
  for (; t < d.count; ++t) {
    const double difference = d.a[t] - d.backward[t];
    const double best = std::min(std::min(d.before[t], d.before[t + 1]), d.earlier[t]);
    d.now[t] = difference * difference + best;
  }
}

using DiagonalKernel = void (*)(const Diagonal&);
void diagonal_baseline(const Diagonal& d) { diagonal_cells<16>(d); }
#ifdef KITH_DTW_AVX2
// Not with fma: one rounding less would change the last bits from machine to machine.
__attribute__((target("avx2"))) void diagonal_avx2(const Diagonal& d) { diagonal_cells<32>(d); }
#endif

/// An ordinary function pointer, not an ifunc: their resolvers run before sanitizers are ready.
DiagonalKernel diagonal_kernel() {
#ifdef KITH_DTW_AVX2
  static const DiagonalKernel chosen = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") ? diagonal_avx2 : diagonal_baseline;
  }();
  return chosen;
#else
  return diagonal_baseline;
#endif
}

/// Work space of one thread.
class Warping {
 public:
  explicit Warping(const DtwSettings& settings) : band_(settings.band) {}

  /// The sum along the cheapest path, before the root.
  [[nodiscard]] double sum(SeriesView a, SeriesView b);

 private:
  std::optional<Index> band_;
  DiagonalKernel kernel_ = diagonal_kernel();
  Series backward_;
  Series diagonals_[3];
};

double Warping::sum(SeriesView a, SeriesView b) {
  assert(!a.empty() && !b.empty() && "readers refuse empty series");
  const auto n = static_cast<Index>(a.size());
  const auto m = static_cast<Index>(b.size());
  const Index all = std::max(n, m);
  const Index w = band_ ? std::min(all, std::max(*band_, std::abs(n - m))) : all;
  backward_.assign(b.rbegin(), b.rend());
  for (Series& diagonal : diagonals_) diagonal.assign(a.size() + 2, kFar);
  double* earlier = diagonals_[0].data();
  double* before = diagonals_[1].data();
  double* now = diagonals_[2].data();
  before[1] = (a[0] - b[0]) * (a[0] - b[0]);
  for (Index k = 1; k < n + m - 1; ++k) {
    // j = k - i lies in 0 .. m-1, and |i - j| = |2 i - k| <= w.
    const Index first = std::max({Index{0}, k - m + 1, (k - w + 1) / 2});
    const Index last = std::min({n - 1, k, (k + w) / 2});
    if (first <= last) {
      kernel_({.a = a.data() + first,
               .backward = backward_.data() + (m - 1 - k + first),
               .before = before + first,
               .earlier = earlier + first,
               .now = now + first + 1,
               .count = last - first + 1});
    }
    now[first] = kFar;
    now[last + 2] = kFar;
    double* const free = earlier;
    earlier = before;
    before = now;
    now = free;
  }
  return before[n];
}

}  // namespace

double dtw_distance(std::span<const double> a, std::span<const double> b,
                    const DtwSettings& settings) {
  return std::sqrt(Warping(settings).sum(a, b));
}

RowMatrix dtw_matrix(std::span<const Series> samples, const DtwSettings& settings,
                     const RunContext& ctx) {
  return detail::symmetric_pairs(
      static_cast<Index>(samples.size()), "dtw distances", ctx, [&](Index i) {
        return [&, i, warping = Warping(settings)](Index j) mutable {
          if (i == j) return 0.0;
          return std::sqrt(warping.sum(samples[static_cast<std::size_t>(i)],
                                       samples[static_cast<std::size_t>(j)]));
        };
      });
}

RowMatrix dtw_matrix(std::span<const Series> queries, std::span<const Series> training,
                     const DtwSettings& settings, const RunContext& ctx) {
  return detail::every_pair(
      static_cast<Index>(queries.size()), static_cast<Index>(training.size()), "dtw distances", ctx,
      [&](Index i) {
        return [&, i, warping = Warping(settings)](Index j) mutable {
          return std::sqrt(warping.sum(queries[static_cast<std::size_t>(i)],
                                       training[static_cast<std::size_t>(j)]));
        };
      });
}

}  // namespace kith
