// SPDX-License-Identifier: Apache-2.0
// The multiplier rho of the two relatives of the robust machine (optim/robust_newton) by a search
// in one dimension around the machine itself. With K(rho) its kernel,
//
//   |K - S|_F <= radius    |K(rho) - S| = radius,          the left side falls with rho;
//   weight |K - S|_F       2 rho |K(rho) - S| = weight,    the left side grows with rho:
//
// each is the derivative of a function of rho that is concave, or of 1/rho that is convex, and
// K(rho) is unique and continuous. Where K stays at S_+, and where several kernels of different
// distance are best, these functions are flat or have a kink, on which Newton's method in (a, rho)
// at once runs away or turns around; a bracket does neither.
#pragma once

#include "kith/optim/robust_newton.hpp"

namespace kith {

/// problem.eigen is set, radius > |S_-|_F. The gap is the proved one, info.iterations those of all
/// machines together.
[[nodiscard]] RobustSolution search_ball(const RobustProblem& problem, double radius,
                                         const RobustNewtonSettings& settings,
                                         const RunContext& ctx);

/// problem.eigen is set and has an eigenvalue below 0.
[[nodiscard]] RobustSolution search_norm(const RobustProblem& problem, double weight,
                                         const RobustNewtonSettings& settings,
                                         const RunContext& ctx);

}  // namespace kith
