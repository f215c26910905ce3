// SPDX-License-Identifier: Apache-2.0
// The loops in which the dual solver spends its time, compiled for several vector widths and chosen
// once at run time by what the processor has.
#pragma once

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

}  // namespace kith::dual
