// SPDX-License-Identifier: Apache-2.0
// Written with the compilers' portable vector types and instantiated once per width. The bodies are
// forced inline into functions that carry the target attribute. The choice is an ordinary function
// pointer, not an ifunc: resolvers of ifuncs run before sanitizers are ready.
#include "optim/dual/vector_kernels.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define KITH_X86_DISPATCH 1
#endif

#define KITH_INLINE inline __attribute__((always_inline))

namespace kith::dual {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Scalar, int kBytes>
struct Lanes;
#define KITH_LANES(Scalar, bytes)                                                 \
  template <>                                                                     \
  struct Lanes<Scalar, bytes> {                                                   \
    typedef Scalar V __attribute__((vector_size(bytes)));                         \
    using Position = std::conditional_t<sizeof(Scalar) == 8, long long, int>;     \
    typedef Position I __attribute__((vector_size(bytes)));                       \
    [[maybe_unused]] static constexpr int kCount = (bytes) / int(sizeof(Scalar)); \
  }
#define KITH_ALL_LANES(Scalar) \
  KITH_LANES(Scalar, 8);       \
  KITH_LANES(Scalar, 16);      \
  KITH_LANES(Scalar, 32);      \
  KITH_LANES(Scalar, 64)
KITH_ALL_LANES(double);
KITH_ALL_LANES(float);
KITH_ALL_LANES(long long);
KITH_ALL_LANES(int);
#undef KITH_ALL_LANES
#undef KITH_LANES

// Vectors travel by reference: passing them by value would depend on the target of the caller.
template <class V, class T>
KITH_INLINE void load(V& v, const T* p) {
  std::memcpy(&v, p, sizeof(V));
}
template <class V, class T>
KITH_INLINE void store(T* p, const V& v) {
  std::memcpy(p, &v, sizeof(V));
}

/// The smallest lane of a vector of scalars or of positions: halves against each other, since lane
/// after lane would cost as much as the loop before it.
template <class Scalar, int kBytes>
KITH_INLINE Scalar lowest_lane(const typename Lanes<Scalar, kBytes>::V& v) {
  typename Lanes<Scalar, kBytes / 2>::V a, b;
  std::memcpy(&a, &v, sizeof a);
  std::memcpy(&b, reinterpret_cast<const char*>(&v) + sizeof a, sizeof b);
  a = a < b ? a : b;
  if constexpr (kBytes > 32) {
    return lowest_lane<Scalar, kBytes / 2>(a);
  } else {
    Scalar lowest = a[0];
    for (int lane = 1; lane < Lanes<Scalar, kBytes / 2>::kCount; ++lane) {
      lowest = a[lane] < lowest ? a[lane] : lowest;
    }
    return lowest;
  }
}

/// The smallest position among the lanes of two vectors that hold `value`.
template <class Scalar, int kBytes>
KITH_INLINE Index first_position(Scalar value, const typename Lanes<Scalar, kBytes>::V* values,
                                 const typename Lanes<Scalar, kBytes>::I* where) {
  using V = typename Lanes<Scalar, kBytes>::V;
  using I = typename Lanes<Scalar, kBytes>::I;
  using Position = typename Lanes<Scalar, kBytes>::Position;
  const I none = std::numeric_limits<Position>::max() - I{};
  const V vv = value - V{};
  const I a = values[0] == vv ? where[0] : none;
  const I b = values[1] == vv ? where[1] : none;
  const I both = a < b ? a : b;
  return static_cast<Index>(lowest_lane<Position, kBytes>(both));
}

KITH_INLINE void take_lowest(GradientEnds& ends, double value, Index index) {
  if (value < ends.lowest ||
      (value == ends.lowest && value < kInfinity && index < ends.lowest_index)) {
    ends.lowest = value;
    ends.lowest_index = index;
  }
}

template <class Scalar, int kBytes>
KITH_INLINE GradientEnds step_and_scan_body(Index m, Scalar t, const Scalar* ci, const Scalar* cj,
                                            Scalar* g, const Scalar* up, const Scalar* low) {
  using V = typename Lanes<Scalar, kBytes>::V;
  using I = typename Lanes<Scalar, kBytes>::I;
  constexpr int kWidth = Lanes<Scalar, kBytes>::kCount;
  constexpr Index kStep = Index{2} * kWidth;
  constexpr Scalar kInf = std::numeric_limits<Scalar>::infinity();
  const V tt = t - V{};
  // Two independent chains hide the latency of compare and blend.
  V lowest[2] = {kInf - V{}, kInf - V{}};
  V highest[2] = {-kInf - V{}, -kInf - V{}};
  I where[2] = {I{} - 1, I{} - 1};
  I position = I{};
  for (int lane = 0; lane < kWidth; ++lane) position[lane] = lane;
  Index k = 0;
  for (; k + kStep <= m; k += kStep) {
    for (int c = 0; c < 2; ++c) {
      const Index at = k + Index{c} * kWidth;
      V gk, a, b;
      load(gk, g + at);
      load(a, ci + at);
      load(b, cj + at);
      gk += tt * (a - b);
      store(g + at, gk);
      load(a, up + at);
      load(b, low + at);
      a += gk;
      b += gk;
      const I smaller = a < lowest[c];
      lowest[c] = smaller ? a : lowest[c];
      where[c] = smaller ? position : where[c];
      highest[c] = b > highest[c] ? b : highest[c];
      position += kWidth;
    }
  }
  GradientEnds ends{-1, kInfinity, -kInfinity};
  if (k > 0) {
    const V low_values = lowest[0] < lowest[1] ? lowest[0] : lowest[1];
    const V high_values = highest[0] > highest[1] ? -highest[0] : -highest[1];
    const Scalar value = lowest_lane<Scalar, kBytes>(low_values);
    ends.highest = -static_cast<double>(lowest_lane<Scalar, kBytes>(high_values));
    if (value < kInf) {
      ends.lowest = static_cast<double>(value);
      ends.lowest_index = first_position<Scalar, kBytes>(value, lowest, where);
    }
  }
  for (; k < m; ++k) {
    g[k] += t * (ci[k] - cj[k]);
    take_lowest(ends, static_cast<double>(g[k] + up[k]), k);
    const auto high = static_cast<double>(g[k] + low[k]);
    if (high > ends.highest) ends.highest = high;
  }
  return ends;
}

template <class Scalar, int kBytes>
KITH_INLINE Index select_partner_body(Index m, Scalar gi, Scalar kii, Scalar floor,
                                      const Scalar* ci, const Scalar* diagonal, const Scalar* g,
                                      const Scalar* low) {
  using V = typename Lanes<Scalar, kBytes>::V;
  using I = typename Lanes<Scalar, kBytes>::I;
  constexpr int kWidth = Lanes<Scalar, kBytes>::kCount;
  constexpr Index kStep = Index{2} * kWidth;
  const V zero = V{};
  const V gg = gi - zero;
  const V kk = kii - zero;
  const V ff = floor - zero;
  // A fraction gain/curvature per lane; n1/d1 > n2/d2 is decided as n1 d2 > n2 d1.
  V gain[2] = {zero, zero};
  V curvature[2] = {Scalar{1} - zero, Scalar{1} - zero};
  I where[2] = {I{} - 1, I{} - 1};
  I position = I{};
  for (int lane = 0; lane < kWidth; ++lane) position[lane] = lane;
  Index k = 0;
  for (; k + kStep <= m; k += kStep) {
    for (int c = 0; c < 2; ++c) {
      const Index at = k + Index{c} * kWidth;
      V gk, lowk, dk, ck;
      load(gk, g + at);
      load(lowk, low + at);
      load(dk, diagonal + at);
      load(ck, ci + at);
      V d = (gk - gg) + lowk;
      d = d > zero ? d : zero;
      V curve = kk + dk - Scalar{2} * ck;
      curve = curve > ff ? curve : ff;
      const V dd = d * d;
      const I better = dd * curvature[c] > gain[c] * curve;
      gain[c] = better ? dd : gain[c];
      curvature[c] = better ? curve : curvature[c];
      where[c] = better ? position : where[c];
      position += kWidth;
    }
  }
  Index best = -1;
  Scalar best_ratio = 0;
  if (k > 0) {
    const V ratio[2] = {-gain[0] / curvature[0], -gain[1] / curvature[1]};
    const V lower = ratio[0] < ratio[1] ? ratio[0] : ratio[1];
    best_ratio = -lowest_lane<Scalar, kBytes>(lower);
    if (best_ratio > 0) best = first_position<Scalar, kBytes>(-best_ratio, ratio, where);
  }
  for (; k < m; ++k) {
    const Scalar d = (g[k] - gi) + low[k];
    if (!(d > 0)) continue;
    const Scalar curve = kii + diagonal[k] - Scalar{2} * ci[k];
    const Scalar ratio = d * d / (curve > floor ? curve : floor);
    if (ratio > best_ratio) {
      best = k;
      best_ratio = ratio;
    }
  }
  return best;
}

/// Four columns of double or float, which is first widened.
template <class Scalar, int kBytes>
KITH_INLINE void add4_body(Index n, const Scalar* const* columns, const double* w, double* g) {
  using D = typename Lanes<double, kBytes>::V;
  using C = typename Lanes<Scalar, Lanes<double, kBytes>::kCount * sizeof(Scalar)>::V;
  constexpr Index kWidth = Lanes<double, kBytes>::kCount;
  Index k = 0;
  for (; k + kWidth <= n; k += kWidth) {
    D sum, c[4];
    load(sum, g + k);
    for (int i = 0; i < 4; ++i) {
      C column;
      load(column, columns[i] + k);
      c[i] = __builtin_convertvector(column, D);
    }
    sum += (w[0] * c[0] + w[1] * c[1]) + (w[2] * c[2] + w[3] * c[3]);
    store(g + k, sum);
  }
  for (; k < n; ++k) {
    double c[4];
    for (int i = 0; i < 4; ++i) c[i] = static_cast<double>(columns[i][k]);
    g[k] += (w[0] * c[0] + w[1] * c[1]) + (w[2] * c[2] + w[3] * c[3]);
  }
}

template <int kBytes>
KITH_INLINE void round_body(Index n, const double* column, double factor, float* out) {
  using D = typename Lanes<double, kBytes>::V;
  using F = typename Lanes<float, kBytes / 2>::V;
  constexpr Index kWidth = Lanes<double, kBytes>::kCount;
  Index k = 0;
  for (; k + kWidth <= n; k += kWidth) {
    D wide;
    load(wide, column + k);
    wide *= factor;
    const F narrow = __builtin_convertvector(wide, F);
    store(out + k, narrow);
  }
  for (; k < n; ++k) out[k] = static_cast<float>(column[k] * factor);
}

// Types, names and attributes take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define KITH_PAIR_KERNELS(Scalar, bytes, attribute)                                              \
  attribute GradientEnds step_and_scan(Index m, Scalar t, const Scalar* ci, const Scalar* cj,    \
                                       Scalar* g, const Scalar* up, const Scalar* low) {         \
    return step_and_scan_body<Scalar, bytes>(m, t, ci, cj, g, up, low);                          \
  }                                                                                              \
  attribute Index select_partner(Index m, Scalar gi, Scalar kii, Scalar floor, const Scalar* ci, \
                                 const Scalar* diagonal, const Scalar* g, const Scalar* low) {   \
    return select_partner_body<Scalar, bytes>(m, gi, kii, floor, ci, diagonal, g, low);          \
  }
#define KITH_KERNEL_SET(name, bytes, attribute)                                                   \
  namespace name {                                                                                \
  KITH_PAIR_KERNELS(double, bytes, attribute)                                                     \
  KITH_PAIR_KERNELS(float, bytes, attribute)                                                      \
  attribute void add4(Index n, const double* const* columns, const double* w, double* g) {        \
    add4_body<double, bytes>(n, columns, w, g);                                                   \
  }                                                                                               \
  attribute void add4_float(Index n, const float* const* columns, const double* w, double* g) {   \
    add4_body<float, bytes>(n, columns, w, g);                                                    \
  }                                                                                               \
  attribute void round(Index n, const double* column, double factor, float* out) {                \
    round_body<bytes>(n, column, factor, out);                                                    \
  }                                                                                               \
  constexpr VectorKernels kSet{                                                                   \
      {step_and_scan, select_partner}, {step_and_scan, select_partner}, add4, add4_float, round}; \
  }
// NOLINTEND(bugprone-macro-parentheses)

KITH_KERNEL_SET(baseline, 16, )
#ifdef KITH_X86_DISPATCH
KITH_KERNEL_SET(avx2, 32, __attribute__((target("avx2,fma"))))
KITH_KERNEL_SET(avx512, 64, __attribute__((target("avx512f,avx512dq,avx2,fma"))))
#endif

}  // namespace

const VectorKernels& vector_kernels() {
#ifdef KITH_X86_DISPATCH
  static const VectorKernels& chosen = [&]() -> const VectorKernels& {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
      return avx512::kSet;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::kSet;
    return baseline::kSet;
  }();
  return chosen;
#else
  return baseline::kSet;
#endif
}

}  // namespace kith::dual
