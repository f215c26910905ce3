// SPDX-License-Identifier: Apache-2.0
// How long methods will take, for a search that has only so much time.
#pragma once

#include <span>
#include <vector>

#include "evaluate/unit.hpp"

namespace kith::detail {

[[nodiscard]] std::vector<std::size_t> cheapest_first(const std::vector<double>& seconds);

/// Seconds of each method's cross-validation over all samples and of its fit to all of them, on one
/// thread, by what it takes on a few samples; 0 where these are too few to tell. The estimates take
/// a small share of `budget`, and are rather too long than too short.
[[nodiscard]] std::vector<double> estimated_seconds(const ExperimentData& data,
                                                    std::span<const Candidate* const> methods,
                                                    double budget, Index folds,
                                                    MissingPairs missing, RunContext& ctx);

}  // namespace kith::detail
