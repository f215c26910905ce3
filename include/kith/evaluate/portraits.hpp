// SPDX-License-Identifier: Apache-2.0
// What a store keeps of the tables of an experiment, for a page that has nothing but the store.
#pragma once

#include <string>

#include "kith/core/json.hpp"
#include "kith/evaluate/experiment.hpp"

namespace kith {

/// Adds to `about` either `portraits`, of each table of the experiment, or `no_portraits_because`,
/// why there are none: there are more than 100,000 samples, or a table breaks an input rule. The
/// tables are under the input rules, which are measured on the whole table: for people to look at.
/// No spectrum and no map beyond 4,000 samples, no neighbours beyond 10,000. Nothing for vectors,
/// nor for a data set that the store has by that name: its portraits are there.
void add_portraits(Json& about, const ExperimentData& data, const Store& store,
                   const std::string& name, const RunContext& ctx);

}  // namespace kith
