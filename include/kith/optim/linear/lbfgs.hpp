// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::linear {

struct LbfgsSettings {
  /// Ends where the largest entry of the gradient is below it, relative to max(1, |f|).
  double gradient_tolerance = 1e-5;
  /// Ends where a step lowers f by less than this share of max(1, |f|).
  double decrease_tolerance = 1e-9;
  long max_iterations = 1000;
  int memory = 10;  ///< pairs of steps and gradient changes that stand for the Hessian
};

struct LbfgsSolution {
  Vector x;
  /// objective is f(x), kkt_residual the largest entry of the gradient; kStationary: one of the
  /// tolerances was met. There is no gap: f need not be convex.
  SolveInfo info;
};

/// f at x; fills its gradient.
using SmoothFunction = std::function<double(const Vector& x, Vector& gradient)>;

/// Minimises a smooth function without constraints: limited-memory BFGS with Armijo steps, each of
/// which lowers f. A pair of negative curvature is left out of the memory.
[[nodiscard]] LbfgsSolution lbfgs(const SmoothFunction& f, Vector start,
                                  const LbfgsSettings& settings, const RunContext& ctx = {});

}  // namespace kith::linear
