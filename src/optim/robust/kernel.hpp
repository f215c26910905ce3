// SPDX-License-Identifier: Apache-2.0
// weight |K - S|_F where S is a kernel already. For |a|^2 <= 2 weight no K is worse for the machine
// than S, beyond it none is the worst, so that what is left is a machine with a ball around 0:
//
//   max 1'a - 1/2 u'Su   over   0 <= a <= c,  y'a = 0,  |a|^2 <= 2 weight.
//
// With sigma / 2 the multiplier of the ball it is the machine on S + sigma I, whose |a| falls with
// sigma; K = S + (sigma / (2 weight)) u u', which is rho = weight / (2 sigma), and sigma = 0 is
// K = S. D(a) + weight^2 / (4 rho) has no curvature in rho here, and an S of low rank none along
// most a: a search over sigma with machines that are all strictly convex is the safe way.
#pragma once

#include "kith/optim/robust/newton.hpp"

namespace kith::robust {

/// problem.eigen is set and has no eigenvalue below -zero_threshold. rho is infinite for K = S.
[[nodiscard]] Solution norm_of_kernel(const Problem& problem, double weight,
                                      const NewtonSettings& settings, const RunContext& ctx);

/// The answer for the nearest kernel S_+, as one for S: what it lacks is of the size of
/// weight |S_-|_F, and its gap is the proved one. problem.eigen is set.
[[nodiscard]] Solution norm_near_kernel(const Problem& problem, double weight,
                                        const NewtonSettings& settings, const RunContext& ctx);

/// The machine on S_+, the only kernel as near to S as that. rho is infinite.
[[nodiscard]] Solution nearest_kernel(const Problem& problem, const NewtonSettings& settings,
                                      const RunContext& ctx);

}  // namespace kith::robust
