// SPDX-License-Identifier: Apache-2.0
// Which methods of an experiment differ.
#pragma once

#include "evaluate/overlap.hpp"
#include "kith/evaluate/results.hpp"

namespace kith::detail {

/// Fills in who leads, who is best, all differences and what they rest on. The methods have their
/// values; `result.test` says the test.
void compare(ExperimentResult& result, const Overlap& overlap);

/// Average ranks of methods with these ranks (a row for each data set).
void rank(RankTable& table, const Matrix& ranks);

}  // namespace kith::detail
