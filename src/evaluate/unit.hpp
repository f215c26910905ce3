// SPDX-License-Identifier: Apache-2.0
// What is computed for one method on one training part.
#pragma once

#include <vector>

#include "evaluate/fold_part.hpp"
#include "kith/evaluate/grid.hpp"
#include "kith/learn/shared_work.hpp"

namespace kith::detail {

/// The loss summed over the held-out samples at every grid point.
[[nodiscard]] std::vector<double> grid_losses(const FoldPart& part, SharedWork& work,
                                              const Candidate& candidate, const GridPoints& grid,
                                              RunContext& ctx);

struct Refit {
  Prediction prediction;
  FitInfo info;
};
[[nodiscard]] Refit refit(const FoldPart& part, SharedWork& work, const Candidate& candidate,
                          const AnySettings& settings, RunContext& ctx);

/// Kernel weights, bounds by iteration and learned spectra of the first subproblems, long lists
/// thinned: a store does not grow with them. Empty where there is nothing of the kind.
[[nodiscard]] Json learned_excerpt(const FitInfo& info);

/// The fewest training samples left when one fold is held out.
[[nodiscard]] Index smallest_training_part(std::span<const int> fold_of);

/// Whether sparse tables may keep unknown pairs: every candidate must be able to do without them.
[[nodiscard]] MissingPairs missing_pairs_for(std::span<const Candidate> candidates);

}  // namespace kith::detail
