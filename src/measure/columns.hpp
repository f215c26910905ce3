// SPDX-License-Identifier: Apache-2.0
// Tables whose columns have names are compared by name, whatever the order of their columns.
#pragma once

#include <optional>

#include "kith/measure/raw_data.hpp"

namespace kith::detail {

/// `queries` with its columns in the order of those of `training`; none where they stand so
/// already, or where one of the two has no names and columns are known by position. Throws
/// Error(kInvalidArgument) naming a column that only one of them has, or that one has twice.
[[nodiscard]] std::optional<VectorData> in_column_order(const VectorData& queries,
                                                        const VectorData& training);
[[nodiscard]] std::optional<CategoryData> in_column_order(const CategoryData& queries,
                                                          const CategoryData& training);

}  // namespace kith::detail
