// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/optim/spectrum/program.hpp"

namespace kith::spectrum {

/// Newton steps on max_alpha 1'alpha + Psi(G(alpha)) of spectrum/inner.hpp, each the dual of a
/// machine with its own kernel and linear term, from `solution` or from `start` (empty: none),
/// whichever is better. `solution` keeps the best point found; nothing happens where Psi is not
/// curved.
void sharpen(const Program& program, const Settings& settings, const RunContext& ctx,
             const Vector& start, Solution& solution);

}  // namespace kith::spectrum
