// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/optim/spectrum_program.hpp"

namespace kith::detail {

/// Newton steps on max_alpha 1'alpha + Psi(G(alpha)) of spectrum_inner.hpp, each the dual of a
/// machine with its own kernel and linear term, from `solution` or from `start` (empty: none),
/// whichever is better. `solution` keeps the best point found; nothing happens where Psi is not
/// curved.
void sharpen(const SpectrumProgram& program, const SpectrumSolverSettings& settings,
             const RunContext& ctx, const Vector& start, SpectrumSolution& solution);

}  // namespace kith::detail
