// SPDX-License-Identifier: Apache-2.0
// The rho of weight |K - S|_F (optim/robust/newton) by a search in one dimension around the robust
// machine itself. With K(rho) its kernel,
//
//   2 rho |K(rho) - S| = weight,    the left side grows with rho:
//
// it is the derivative of a convex function of 1/rho, and K(rho) is unique and continuous. Where
// several kernels of different distance are best, that function has a kink, on which Newton's
// method in (a, rho) at once turns around; a bracket does not.
#pragma once

#include "kith/optim/robust/newton.hpp"

namespace kith::robust {

/// problem.eigen is set and has an eigenvalue below 0. The gap is the proved one, info.iterations
/// those of all machines together.
[[nodiscard]] Solution search_norm(const Problem& problem, double weight,
                                   const NewtonSettings& settings, const RunContext& ctx);

}  // namespace kith::robust
