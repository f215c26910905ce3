// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "optim/trace/newton.hpp"

namespace kith::trace {

/// As newton, for the problems that defeat it: with the kernels as variables of their own, at
/// several times the cost per iteration. Of the points k and M.W are filled.
[[nodiscard]] DualSolution barrier(const Dual& dual, double tolerance, const RunContext& ctx);

}  // namespace kith::trace
