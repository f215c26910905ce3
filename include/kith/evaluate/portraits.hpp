// SPDX-License-Identifier: Apache-2.0
// What a store keeps of the tables of an experiment, for a page that has nothing but the store.
#pragma once

#include <string>

#include "kith/core/json.hpp"
#include "kith/evaluate/experiment.hpp"

namespace kith {

/// Whether there is something to portray: no vectors alone, and no data set that the store has by
/// that name, whose portraits are there.
[[nodiscard]] bool wants_portraits(const ExperimentData& data, const Store& store,
                                   const std::string& name);

/// Adds to `about` either `portraits`, of each table of the experiment, or `no_portraits_because`,
/// why there are none. `whole` are the tables under the input rules, which are measured on the
/// whole table: for people to look at. No spectrum and no map beyond 4,000 samples, no neighbours
/// beyond 10,000, nothing beyond 100,000.
void add_portraits(Json& about, const ExperimentData& data, std::span<const ConditionedInput> whole,
                   const RunContext& ctx);

}  // namespace kith
