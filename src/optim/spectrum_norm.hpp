// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/optim/spectrum_program.hpp"

namespace kith::detail {

/// The program for the centres clip and flip, by an interior point in alpha alone. `start` (empty:
/// none) is an alpha inside the box with y'alpha = 0, such as the plain machine's. `best` keeps the
/// best point found and the iterations spent. Returns whether its certificate meets the tolerance;
/// where it does not (rounding, usually), the cone program of solve_spectrum has to do.
bool solve_norm(const SpectrumProgram& program, const Vector& start,
                const SpectrumSolverSettings& settings, const RunContext& ctx,
                SpectrumSolution& best);

}  // namespace kith::detail
