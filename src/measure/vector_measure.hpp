// SPDX-License-Identifier: Apache-2.0
// Similarities and distances of vectors: functions of x'z (linear, polynomial, sigmoid, cosine), of
// |x - z| (gaussian, euclidean) and of |x - z|_1 (laplacian, manhattan).
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/data/block.hpp"
#include "kith/measure/measure.hpp"

namespace kith::detail {

/// All pairs of `rows` (exactly symmetric), or where there are `columns`, `rows` against them; both
/// have equally many features. Terms are summed pair by pair in one order: near samples lose
/// no digits, and the numbers are the same for any number of threads. `settings` has a measure of
/// vectors, and gamma where that takes it; no row is 0 where the measure is the cosine.
[[nodiscard]] RowMatrix vector_pairs(const Block& rows, const Block* columns,
                                     const MeasureSettings& settings, const RunContext& ctx);

/// K + xi (E + E') / 2 with independent standard normal entries in E: [CY] 6.1. K is square, and
/// stays exactly symmetric if it is so.
void perturb_cy(RowMatrix& K, double xi, Rng rng);

}  // namespace kith::detail
