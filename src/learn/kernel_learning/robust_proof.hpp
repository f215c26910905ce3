// SPDX-License-Identifier: Apache-2.0
// The robust machine, solved by `newton` and proved by another computation.
#pragma once

#include <algorithm>

#include "kith/optim/robust/newton.hpp"

namespace kith::detail {

/// Half of the gap for the solver: the rounding of what proves its answer must not decide.
[[nodiscard]] inline robust::NewtonSettings newton_settings(double tolerance) {
  robust::NewtonSettings newton{.tolerance = 0.5 * tolerance};
  newton.kkt_tolerance = std::max(newton.kkt_tolerance, tolerance);
  return newton;
}

/// The status once the gap is proved or not: what the solver aimed at is more than was asked for,
/// and it may have missed that alone.
[[nodiscard]] inline SolveStatus proved_status(const SolveInfo& info, bool proved,
                                               double tolerance) {
  const bool met = info.status == SolveStatus::kSolved ||
                   info.kkt_residual <= newton_settings(tolerance).kkt_tolerance;
  return measured_status(info.status, proved && met);
}

}  // namespace kith::detail
