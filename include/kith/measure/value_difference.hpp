// SPDX-License-Identifier: Apache-2.0
// Value difference metric of rows of categories (Stanfill and Waltz, in the form of Wilson and
// Martinez without weights): two values of a column are near where the classes are distributed
// alike among the training samples that have them,
//   d(x, z) = sum over columns a and classes c of |P(c | x_a) - P(c | z_a)|^q.
// The probabilities are of labels: computed over all samples before some are held out for testing,
// the distance has seen the labels of the held-out ones. A value that no training sample has gets
// P = 0 for every class.
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/measure/raw_data.hpp"

namespace kith {

struct ValueDifferenceSettings {
  double exponent = 2;  ///< q > 0
};

/// Each of `rows` with each of `columns`, by the labels of `columns`; null: all pairs of `rows` by
/// their own (n x n, symmetric, diagonal 0). O(columns) per pair. Throws Error(kInvalidArgument)
/// without labels, and where they have not equally many columns.
[[nodiscard]] RowMatrix value_difference_matrix(const CategoryData& rows,
                                                const ValueDifferenceSettings& settings,
                                                const RunContext& ctx,
                                                const CategoryData* columns = nullptr);

}  // namespace kith
