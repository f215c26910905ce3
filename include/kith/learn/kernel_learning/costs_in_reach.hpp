// SPDX-License-Identifier: Apache-2.0
// Costs far above anything that a machine's coefficients reach.
#pragma once

#include <cmath>
#include <utility>

#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// The answer of `solver`, which reads `cost`, for kernels of size `size`. Costs that are far above
/// anything alpha reaches take digits from a solver and are lowered first: an answer at no bound is
/// that of every larger cost. Where it is at one the costs are as before. `cost` keeps what the
/// answer is for.
template <class Solver>
[[nodiscard]] auto with_costs_in_reach(Vector& cost, double size, const Solver& solver) {
  constexpr double kReach = 1e6;  // of alpha, in units of the inverse of a kernel
  constexpr double kClear = 0.9;  // of the bound
  const double reach = kReach / size;
  if (!(cost.minCoeff() > reach) || !std::isfinite(reach)) return solver();
  Vector far = std::exchange(cost, Vector::Constant(cost.size(), reach));
  auto found = solver();
  if (found.alpha.maxCoeff() <= kClear * reach && met_tolerance(found.info.status)) return found;
  cost = std::move(far);
  return solver();
}

}  // namespace kith
