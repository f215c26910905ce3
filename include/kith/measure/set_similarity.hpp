// SPDX-License-Identifier: Apache-2.0
// Similarities of sets by what they share and what only one of them has (Tversky 1977):
//   jaccard   |A & B| / |A | B|
//   ratio     |A & B| / (|A & B| + alpha |A \ B| + beta |B \ A|)
//   contrast  theta |A & B| - alpha |A \ B| - beta |B \ A|
// With alpha and beta unequal, A is to B as B is not to A: the matrix is then not symmetric. Where
// the divisor is 0, as for two empty sets or for sets that share nothing with alpha = beta = 0, the
// ratio is 1 for equal sets and 0 for others.
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/measure/raw_data.hpp"

namespace kith {

enum class SetSimilarity { kJaccard, kRatio, kContrast };

struct SetSettings {
  SetSimilarity of = SetSimilarity::kJaccard;
  double alpha = 0.5;  ///< of ratio and contrast, >= 0
  double beta = 0.5;   ///< of ratio and contrast, >= 0
  double theta = 1;    ///< of contrast, >= 0
};

/// Each of `rows` with each of `columns`; null: all pairs of `rows` (n x n). O(|A| + |B|) per pair.
[[nodiscard]] RowMatrix set_matrix(const SetData& rows, const SetSettings& settings,
                                   const RunContext& ctx, const SetData* columns = nullptr);

}  // namespace kith
