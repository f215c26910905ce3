// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "condition/table.hpp"

namespace kith::detail {

/// The samples that are left, ascending, when the sample with the most missing pairs (of equals the
/// last) is dropped again and again until no pair is missing. O(n^2).
[[nodiscard]] std::vector<Index> samples_without_missing(const RowMatrix& values);

/// Throws Error that counts the missing pairs, names the first, and says what helps.
[[noreturn]] void refuse_missing(const Table& table, const PairNames& names,
                                 const std::string& advice);

/// Every missing pair becomes `value`. A sparse table stays sparse where that is 0.
void fill_missing(Table& table, double value, int threads);

}  // namespace kith::detail
