// SPDX-License-Identifier: Apache-2.0
// Samples that occur twice, or nearly so.
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/data/labels.hpp"
#include "kith/inspect/summary.hpp"

namespace kith {

/// `S` is symmetric; distances come with their sign changed. `labels` may be null. Time is of order
/// n^2, and at most n more for each pair whose similarity is that of either to itself.
[[nodiscard]] DuplicateSummary find_duplicates(const MatrixRef& S, const Labels* labels,
                                               const RunContext& ctx);

}  // namespace kith
