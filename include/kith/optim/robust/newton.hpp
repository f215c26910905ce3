// SPDX-License-Identifier: Apache-2.0
// The robust machine, and its two relatives in which the distance of the kernel from S enters in
// another way, by one interior point method.
#pragma once

#include <span>

#include "kith/core/context.hpp"
#include "kith/optim/robust/problem.hpp"

namespace kith::robust {

struct NewtonSettings {
  double tolerance = 1e-8;  ///< relative gap accepted
  double kkt_tolerance =
      1e-6;  ///< of the machine on the kernel found, SvmCertificate::kkt_residual
  long max_iterations = 200;
};

/// The problem as it stands. `start` (empty: none) is the alpha of a near problem. A status other
/// than kSolved: kReducedAccuracy (rounding ended the progress), kIterationLimit,
/// kNumericalFailure. Throws Error(kInvalidArgument) for a malformed problem, Error(kInterrupted)
/// when the run is stopped.
[[nodiscard]] Solution newton(const Problem& problem, const NewtonSettings& settings = {},
                              const RunContext& ctx = {}, const Vector& start = {});
/// The same from the best of several starts, by Newton's method with the bounds kept exactly: a few
/// steps along a grid of costs and rhos, and none where the solution of a smaller cost is at no
/// bound. Where that does not settle, or there is no start, the interior point method takes over.
[[nodiscard]] Solution newton(const Problem& problem, const NewtonSettings& settings,
                              const RunContext& ctx, std::span<const Vector> starts);

/// With |K - S|_F <= radius in place of rho |K - S|_F^2 ([TR] 2.1.2); problem.rho is where the
/// search for the multiplier of that constraint starts, and solution.rho its value. K is in the
/// ball, and objective is the least of 1'a - 1/2 a'YKYa over it, reached there: a lower bound of
/// the optimum. No offset. Where radius is |S_-|_F, the distance of the nearest kernel, up to
/// rounding, K is that kernel and rho infinite; throws where it is less.
[[nodiscard]] Solution ball(const Problem& problem, double radius,
                            const NewtonSettings& settings = {}, const RunContext& ctx = {},
                            const Vector& start = {});

/// With weight |K - S|_F in place of rho |K - S|_F^2 ([CGR] (4), scaled): rho is the one with
/// 2 rho |K - S|_F = weight. objective includes weight |K - S|_F; its gap is relative to
/// objective - weight |S_-|_F.
[[nodiscard]] Solution norm(const Problem& problem, double weight,
                            const NewtonSettings& settings = {}, const RunContext& ctx = {},
                            const Vector& start = {});

}  // namespace kith::robust
