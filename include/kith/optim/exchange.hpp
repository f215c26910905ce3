// SPDX-License-Identifier: Apache-2.0
// The exchange algorithm of [CY] for the robust machine, as printed (Algorithm 1), with and without
// the pruning of section 4.2.
#pragma once

#include <vector>

#include "kith/core/context.hpp"
#include "kith/optim/robust_problem.hpp"

namespace kith {

struct ExchangeSettings {
  /// Stop once upper - lower bound is at most this, as printed; where the objective (less its
  /// offset) is below 1, at most this part of it.
  double gap = 1e-5;
  long max_iterations = 1000;
  bool prune = false;  ///< drop inactive constraints from the localization set, (19), (20)
};

/// One line of [CY] Figures 1 and 2. Bounds are without RobustSolution::offset.
struct ExchangeStep {
  double lower = 0;    ///< (11)
  double upper = 0;    ///< (13): the least bound that the master problems so far have proved
  double master = 0;   ///< t_i, the value of this iteration's master problem
  Index set_size = 0;  ///< kernels in the localization set
};

struct ExchangeSolution {
  RobustSolution solution;          ///< at the best lower bound; info.iterations = trace.size()
  std::vector<ExchangeStep> trace;  ///< one per iteration
};

/// Keeps one n x n matrix per member of the localization set, and without pruning that grows by
/// one in every iteration: meant for n up to a few hundred. Throws Error(kInvalidArgument) for a
/// malformed problem, Error(kInterrupted) when stopped.
[[nodiscard]] ExchangeSolution exchange(const RobustProblem& problem,
                                        const ExchangeSettings& settings = {},
                                        const RunContext& ctx = {});

}  // namespace kith
