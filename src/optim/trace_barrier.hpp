// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "optim/trace_newton.hpp"

namespace kith::detail {

/// As trace_newton, for the problems that defeat it: with the kernels as variables of their own, at
/// several times the cost per iteration. Of the points k and M.W are filled.
[[nodiscard]] TraceDualSolution trace_barrier(const TraceDual& dual, double tolerance,
                                              const RunContext& ctx);

}  // namespace kith::detail
