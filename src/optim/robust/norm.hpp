// SPDX-License-Identifier: Apache-2.0
// What optim/robust/newton leaves of weight |K - S|_F, in two searches.
//
// Where S is a kernel already. For |a|^2 <= 2 weight no K is worse for the machine
// than S, beyond it none is the worst, so that what is left is a machine with a ball around 0:
//
//   max 1'a - 1/2 u'Su   over   0 <= a <= c,  y'a = 0,  |a|^2 <= 2 weight.
//
// With sigma / 2 the multiplier of the ball it is the machine on S + sigma I, whose |a| falls with
// sigma; K = S + (sigma / (2 weight)) u u', which is rho = weight / (2 sigma), and sigma = 0 is
// K = S. D(a) + weight^2 / (4 rho) has no curvature in rho here, and an S of low rank none along
// most a: a search over sigma with machines that are all strictly convex is the safe way.
//
// Elsewhere rho is searched for around the robust machine itself. With K(rho) its kernel,
//
//   2 rho |K(rho) - S| = weight,    the left side grows with rho:
//
// it is the derivative of a convex function of 1/rho, and K(rho) is unique and continuous. Where
// several kernels of different distance are best, that function has a kink, on which Newton's
// method in (a, rho) at once turns around; a bracket does not.
#pragma once

#include "kith/optim/robust/newton.hpp"

namespace kith::robust {

/// problem.eigen is set and has no eigenvalue below -zero_threshold. rho is infinite for K = S.
[[nodiscard]] Solution norm_of_kernel(const Problem& problem, double weight,
                                      const NewtonSettings& settings, const RunContext& ctx);

/// problem.eigen is set and has an eigenvalue below 0. The gap is the proved one, info.iterations
/// those of all machines together.
[[nodiscard]] Solution search_norm(const Problem& problem, double weight,
                                   const NewtonSettings& settings, const RunContext& ctx);

/// The machine on S_+, the only kernel as near to S as that. rho is infinite.
[[nodiscard]] Solution nearest_kernel(const Problem& problem, const NewtonSettings& settings,
                                      const RunContext& ctx);

}  // namespace kith::robust
