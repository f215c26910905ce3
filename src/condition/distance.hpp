// SPDX-License-Identifier: Apache-2.0
// Similarities from distances. All rules but double-centre go pair by pair; double-centre is
// -1/2 J D2 J with J = I - 11'/n and D2 the squared distances:
//
//   s(i, j) = -1/2 (d(i,j)^2 - r_i - c_j + g)
//
// with r_i = mean_k d(i,k)^2, c_j = mean_k d(k,j)^2, g = mean of all d^2. A new sample x takes the
// place of i (rows), of j (columns) or of both (its self-similarity); c, r of the training samples
// and g stay those of the training block, so that a training row presented as new is unchanged.
#pragma once

#include "condition/table.hpp"
#include "kith/condition/pipeline.hpp"

namespace kith::detail {

[[nodiscard]] inline bool is_double_centred(const InputRule& rule) {
  return rule.kind == PairKind::kDistance &&
         rule.settings.from_distance == FromDistance::kDoubleCentre;
}

/// Measures what the rule needs on the training distances, then converts them in place. Missing
/// pairs stay missing, save with double-centre, which needs a table without them.
void fit_distances(Table& table, InputRule& rule, int threads);

/// Distances of queries, converted in place by a fitted rule. `from` and `self` may be null.
void convert_distances(const InputRule& rule, Table& to, Table* from, Vector& self, int threads);

}  // namespace kith::detail
