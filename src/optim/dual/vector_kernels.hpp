// SPDX-License-Identifier: Apache-2.0
// The loops in which the dual solver spends its time, compiled for several vector widths and chosen
// once at run time by what the processor has.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "kith/core/types.hpp"

namespace kith::dual {

/// The ends of the gradient over the variables that may still move.
struct GradientEnds {
  Index lowest_index = -1;  ///< -1: nothing may increase
  double lowest = 0;        ///< min of g over the variables that may increase (+inf if none)
  double highest = 0;       ///< max of g over the variables that may decrease (-inf if none)
};

template <class Scalar>
struct PairKernels {
  /// g += t (ci - cj), then the ends of g. up[k] is 0 or +inf (may not increase), low[k] is 0 or
  /// -inf (may not decrease). One pass over memory.
  GradientEnds (*step_and_scan)(Index m, Scalar t, const Scalar* ci, const Scalar* cj, Scalar* g,
                                const Scalar* up, const Scalar* low);
  /// The k that maximises (g[k] - gi)^2 / max(kii + diagonal[k] - 2 ci[k], floor) over the
  /// variables that may decrease and have g[k] > gi; -1 if there is none. No division is made.
  Index (*select_partner)(Index m, Scalar gi, Scalar kii, Scalar floor, const Scalar* ci,
                          const Scalar* diagonal, const Scalar* g, const Scalar* low);
};

struct VectorKernels {
  PairKernels<double> wide;
  PairKernels<float> narrow;
  /// g += sum over the 4 columns of w[c] columns[c].
  void (*add4)(Index n, const double* const* columns, const double* w, double* g);
  void (*add4_float)(Index n, const float* const* columns, const double* w, double* g);
  /// out[k] = factor column[k], rounded.
  void (*round)(Index n, const double* column, double factor, float* out);
};

/// The widest set this processor runs.
[[nodiscard]] const VectorKernels& vector_kernels();

/// g += sum of weighted columns of length n, of double or float, four at a time.
template <class Scalar>
class ColumnSum {
 public:
  ColumnSum(Index n, double* g) : n_(n), g_(g) {}
  void add(const Scalar* column, double weight) {
    columns_[count_] = column;
    weights_[count_] = weight;
    if (++count_ == 4) finish();
  }
  void finish() {
    if (count_ == 0) return;
    for (; count_ < 4; ++count_) {
      columns_[count_] = columns_[0];
      weights_[count_] = 0;
    }
    count_ = 0;
    if constexpr (sizeof(Scalar) == sizeof(double)) {
      vector_kernels().add4(n_, columns_, weights_, g_);
    } else {
      vector_kernels().add4_float(n_, columns_, weights_, g_);
    }
  }

 private:
  Index n_;
  double* g_;
  const Scalar* columns_[4];
  double weights_[4];
  int count_ = 0;
};

/// The same for whole vectors, in strips of rows that stay in the first-level cache while columns
/// pass by.
template <class Scalar>
void add_columns(const std::vector<const Scalar*>& columns, std::span<const double> weights,
                 Vector& g) {
  constexpr Index kStrip = 2048;
  for (Index begin = 0; begin < g.size(); begin += kStrip) {
    ColumnSum<Scalar> sum(std::min(kStrip, g.size() - begin), g.data() + begin);
    for (std::size_t k = 0; k < columns.size(); ++k) sum.add(columns[k] + begin, weights[k]);
    sum.finish();
  }
}

}  // namespace kith::dual
