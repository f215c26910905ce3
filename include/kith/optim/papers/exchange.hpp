// SPDX-License-Identifier: Apache-2.0
// The exchange algorithm of [CY] for the robust machine (Algorithm 1), with and without the pruning
// of section 4.2: kept as printed, for comparison with robust::newton.
#pragma once

#include <vector>

#include "kith/core/context.hpp"
#include "kith/optim/robust/problem.hpp"

namespace kith::papers {

struct ExchangeSettings {
  /// Stop once upper - lower bound is at most this, as printed; where the objective (less its
  /// offset) is below 1, at most this part of it.
  double gap = 1e-5;
  long max_iterations = 3000;
  bool prune = false;  ///< drop inactive constraints from the localization set, (19), (20)
};

struct ExchangeSolution {
  /// At the best lower bound. `trace` is the data of [CY] Figures 1 and 2: the bounds (11) and (13)
  /// and the size of the localization set in each of `info.iterations` iterations.
  robust::Solution solution;
  /// t_i, the value of each iteration's master problem (7), less the offset; (13) is the least
  /// bound that the master problems so far have proved.
  std::vector<double> masters;
};

/// Keeps one n x n matrix per member of the localization set, and without pruning that grows by
/// one in every iteration: meant for n up to a few hundred. Throws Error(kInvalidArgument) for a
/// malformed problem, Error(kInterrupted) when stopped.
[[nodiscard]] ExchangeSolution exchange(const robust::Problem& problem,
                                        const ExchangeSettings& settings = {},
                                        const RunContext& ctx = {});

}  // namespace kith::papers
