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

/// All pairs of `samples`, which have labels (n x n, symmetric, diagonal 0). O(columns) per pair.
/// Throws Error(kInvalidArgument) without labels.
[[nodiscard]] RowMatrix value_difference_matrix(const CategoryData& samples,
                                                const ValueDifferenceSettings& settings,
                                                const RunContext& ctx);

/// Each of `queries` (rows) against each of `training` (columns), by the labels of `training`.
/// Throws Error(kInvalidArgument) too where they have not equally many columns.
[[nodiscard]] RowMatrix value_difference_matrix(const CategoryData& queries,
                                                const CategoryData& training,
                                                const ValueDifferenceSettings& settings,
                                                const RunContext& ctx);

}  // namespace kith
