// SPDX-License-Identifier: Apache-2.0
// The solvers beside the interior point in alpha and p.
#pragma once

#include "kith/optim/spectrum/program.hpp"

namespace kith::spectrum {

/// The program for the centres clip and flip, by an interior point in alpha alone. `start` (empty:
/// none) is an alpha inside the box with y'alpha = 0, such as the plain machine's. `best` keeps the
/// best point found and the iterations spent. Returns whether its certificate meets the tolerance;
/// where it does not (rounding, usually), the interior point of solve in alpha and p has to do.
bool solve_norm(const Program& program, const Vector& start, const Settings& settings,
                const RunContext& ctx, Solution& best);

/// Newton steps on max_alpha 1'alpha + Psi(G(alpha)) of spectrum/inner.hpp, each the dual of a
/// machine with its own kernel and linear term, from `solution` or from `start` (empty: none),
/// whichever is better. `solution` keeps the best point found; nothing happens where Psi is not
/// curved.
void sharpen(const Program& program, const Settings& settings, const RunContext& ctx,
             const Vector& start, Solution& solution);

}  // namespace kith::spectrum
