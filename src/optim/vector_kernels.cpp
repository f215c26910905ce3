// SPDX-License-Identifier: Apache-2.0
// Written with the compilers' portable vector types and instantiated once per width. The bodies are
// forced inline into functions that carry the target attribute. The choice is an ordinary function
// pointer, not an ifunc: resolvers of ifuncs run before sanitizers are ready.
#include "optim/vector_kernels.hpp"

#include <cstring>
#include <limits>

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define KITH_X86_DISPATCH 1
#endif

#define KITH_INLINE inline __attribute__((always_inline))

namespace kith::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <int kBytes>
struct Lanes;
#define KITH_LANES(bytes)                                            \
  template <>                                                        \
  struct Lanes<bytes> {                                              \
    typedef double D __attribute__((vector_size(bytes)));            \
    typedef long long I __attribute__((vector_size(bytes)));         \
    typedef float F __attribute__((vector_size((bytes) / 2)));       \
    static constexpr Index kCount = (bytes) / Index(sizeof(double)); \
  }
KITH_LANES(16);
KITH_LANES(32);
KITH_LANES(64);
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

KITH_INLINE void take_lowest(GradientEnds& ends, double value, Index index) {
  if (value < ends.lowest ||
      (value == ends.lowest && value < kInfinity && index < ends.lowest_index)) {
    ends.lowest = value;
    ends.lowest_index = index;
  }
}

template <int kBytes>
KITH_INLINE GradientEnds step_and_scan_body(Index m, double t, const double* ci, const double* cj,
                                            double* g, const double* up, const double* low) {
  using D = typename Lanes<kBytes>::D;
  using I = typename Lanes<kBytes>::I;
  constexpr Index kWidth = Lanes<kBytes>::kCount;
  const D tt = t - D{};
  // Two independent chains hide the latency of compare and blend.
  D lowest[2] = {kInfinity - D{}, kInfinity - D{}};
  D highest[2] = {-kInfinity - D{}, -kInfinity - D{}};
  I where[2] = {I{} - 1, I{} - 1};
  I position = I{};
  for (int lane = 0; lane < kWidth; ++lane) position[lane] = lane;
  Index k = 0;
  for (; k + 2 * kWidth <= m; k += 2 * kWidth) {
    for (int c = 0; c < 2; ++c) {
      const Index at = k + c * kWidth;
      D gk, a, b;
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
  for (int c = 0; c < 2; ++c) {
    for (int lane = 0; lane < kWidth; ++lane) {
      take_lowest(ends, lowest[c][lane], static_cast<Index>(where[c][lane]));
      if (highest[c][lane] > ends.highest) ends.highest = highest[c][lane];
    }
  }
  for (; k < m; ++k) {
    g[k] += t * (ci[k] - cj[k]);
    take_lowest(ends, g[k] + up[k], k);
    if (g[k] + low[k] > ends.highest) ends.highest = g[k] + low[k];
  }
  return ends;
}

template <int kBytes>
KITH_INLINE Index select_partner_body(Index m, double gi, double kii, double floor,
                                      const double* ci, const double* diagonal, const double* g,
                                      const double* low) {
  using D = typename Lanes<kBytes>::D;
  using I = typename Lanes<kBytes>::I;
  constexpr Index kWidth = Lanes<kBytes>::kCount;
  const D zero = D{};
  const D gg = gi - zero;
  const D kk = kii - zero;
  const D ff = floor - zero;
  // A fraction gain/curvature per lane; n1/d1 > n2/d2 is decided as n1 d2 > n2 d1.
  D gain[2] = {zero, zero};
  D curvature[2] = {1.0 - zero, 1.0 - zero};
  I where[2] = {I{} - 1, I{} - 1};
  I position = I{};
  for (int lane = 0; lane < kWidth; ++lane) position[lane] = lane;
  Index k = 0;
  for (; k + 2 * kWidth <= m; k += 2 * kWidth) {
    for (int c = 0; c < 2; ++c) {
      const Index at = k + c * kWidth;
      D gk, lowk, dk, ck;
      load(gk, g + at);
      load(lowk, low + at);
      load(dk, diagonal + at);
      load(ck, ci + at);
      D d = (gk - gg) + lowk;
      d = d > zero ? d : zero;
      D curve = kk + dk - 2.0 * ck;
      curve = curve > ff ? curve : ff;
      const D dd = d * d;
      const I better = dd * curvature[c] > gain[c] * curve;
      gain[c] = better ? dd : gain[c];
      curvature[c] = better ? curve : curvature[c];
      where[c] = better ? position : where[c];
      position += kWidth;
    }
  }
  Index best = -1;
  double best_gain = 0;
  double best_curvature = 1;
  const auto take = [&](double n, double d, Index index) __attribute__((always_inline)) {
    const double left = n * best_curvature;
    const double right = best_gain * d;
    if (left > right || (left == right && n > 0 && index < best)) {
      best = index;
      best_gain = n;
      best_curvature = d;
    }
  };
  for (int c = 0; c < 2; ++c) {
    for (int lane = 0; lane < kWidth; ++lane) {
      take(gain[c][lane], curvature[c][lane], static_cast<Index>(where[c][lane]));
    }
  }
  for (; k < m; ++k) {
    const double d = (g[k] - gi) + low[k];
    if (!(d > 0)) continue;
    const double curve = kii + diagonal[k] - 2.0 * ci[k];
    take(d * d, curve > floor ? curve : floor, k);
  }
  return best;
}

template <int kBytes>
KITH_INLINE void add4_body(Index n, const double* const* columns, const double* w, double* g) {
  using D = typename Lanes<kBytes>::D;
  constexpr Index kWidth = Lanes<kBytes>::kCount;
  Index k = 0;
  for (; k + kWidth <= n; k += kWidth) {
    D sum, c0, c1, c2, c3;
    load(sum, g + k);
    load(c0, columns[0] + k);
    load(c1, columns[1] + k);
    load(c2, columns[2] + k);
    load(c3, columns[3] + k);
    sum += (w[0] * c0 + w[1] * c1) + (w[2] * c2 + w[3] * c3);
    store(g + k, sum);
  }
  for (; k < n; ++k) {
    g[k] += (w[0] * columns[0][k] + w[1] * columns[1][k]) +
            (w[2] * columns[2][k] + w[3] * columns[3][k]);
  }
}

template <int kBytes>
KITH_INLINE void add4_float_body(Index n, const float* const* columns, const double* w, double* g) {
  using D = typename Lanes<kBytes>::D;
  using F = typename Lanes<kBytes>::F;
  constexpr Index kWidth = Lanes<kBytes>::kCount;
  Index k = 0;
  for (; k + kWidth <= n; k += kWidth) {
    D sum;
    load(sum, g + k);
    for (int c = 0; c < 4; ++c) {
      F narrow;
      load(narrow, columns[c] + k);
      const D wide = __builtin_convertvector(narrow, D);
      sum += w[c] * wide;
    }
    store(g + k, sum);
  }
  for (; k < n; ++k) {
    for (int c = 0; c < 4; ++c) g[k] += w[c] * static_cast<double>(columns[c][k]);
  }
}

#define KITH_KERNEL_SET(name, bytes, attribute)                                                  \
  namespace name {                                                                               \
  attribute GradientEnds step_and_scan(Index m, double t, const double* ci, const double* cj,    \
                                       double* g, const double* up, const double* low) {         \
    return step_and_scan_body<bytes>(m, t, ci, cj, g, up, low);                                  \
  }                                                                                              \
  attribute Index select_partner(Index m, double gi, double kii, double floor, const double* ci, \
                                 const double* diagonal, const double* g, const double* low) {   \
    return select_partner_body<bytes>(m, gi, kii, floor, ci, diagonal, g, low);                  \
  }                                                                                              \
  attribute void add4(Index n, const double* const* columns, const double* w, double* g) {       \
    add4_body<bytes>(n, columns, w, g);                                                          \
  }                                                                                              \
  attribute void add4_float(Index n, const float* const* columns, const double* w, double* g) {  \
    add4_float_body<bytes>(n, columns, w, g);                                                    \
  }                                                                                              \
  constexpr VectorKernels kSet{step_and_scan, select_partner, add4, add4_float};                 \
  }

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

}  // namespace kith::detail
