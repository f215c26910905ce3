// SPDX-License-Identifier: Apache-2.0
// The projected gradient method of [LA] for the robust machine: kept as printed, for comparison
// with robust::newton.
#pragma once

#include "kith/core/context.hpp"
#include "kith/optim/robust/problem.hpp"

namespace kith::papers {

/// The point of 0 <= a <= cost, y'a = 0 (y in {+1, -1}) nearest to v. O(n log n), exact but for
/// rounding.
[[nodiscard]] Vector project_to_dual(const VectorRef& v, const VectorRef& y, const VectorRef& cost);

struct ProjectedGradientSettings {
  double tolerance = 1e-6;  ///< relative gap, as robust::Solution::info states it
  long max_iterations = 2000;
};

/// The projected gradient method of [LA] for the robust machine: a baseline beside the Newton
/// solver. Ends with kSolved, kIterationLimit or, where only rounding is left, kReducedAccuracy;
/// the gap it then has is in the certificate. Throws Error(kInvalidArgument) for a malformed
/// problem, Error(kInterrupted) when stopped.
[[nodiscard]] robust::Solution projected_gradient(const robust::Problem& problem,
                                                  const ProjectedGradientSettings& settings = {},
                                                  const RunContext& ctx = {});

}  // namespace kith::papers
