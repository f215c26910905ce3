// SPDX-License-Identifier: Apache-2.0
// What the two machines on several kernels share: the checks, where they start, and the bound that
// a machine proves from above.
#pragma once

#include <span>

#include "kith/core/types.hpp"

namespace kith::detail {

/// Throws Error(kInvalidArgument) naming the first thing that is not as stated: at least one
/// kernel, each n x n and finite, labels +1 and -1 of both classes, finite costs above 0.
void check_machine(std::span<const Matrix> kernels, const Vector& y, const Vector& cost);

/// cost, less in the larger class so that y'd = 0.
[[nodiscard]] Vector balanced_costs(const Vector& y, const Vector& cost);

/// The hinge-loss primal 1/2 squares + sum cost_j max(0, 1 - margin_j) at the machine or at the
/// machine longer by what rounding left its margins short of 1 (at most 1e-6): large costs would
/// multiply margins of 1 - 1e-12.
[[nodiscard]] double best_primal(const Vector& cost, double squares, const Vector& margins);

/// (upper - lower) / max(|upper|, |lower|); 0 where both are 0.
[[nodiscard]] double relative_gap(double lower, double upper);

/// The largest of |y'a| and the violations of the box, by the largest cost.
[[nodiscard]] double infeasibility(const Vector& y, const Vector& cost, const VectorRef& alpha);

/// alpha with what is within 1e-10 of a bound (relative to the largest) at that bound, and y'a = 0
/// kept by those in between: an interior point never reaches a bound.
[[nodiscard]] Vector at_bounds(const Vector& y, const Vector& cost, Vector alpha);

/// The largest step in (0, 1] that keeps v + step dv >= 0.
[[nodiscard]] double reach(const VectorRef& v, const VectorRef& dv);

}  // namespace kith::detail
