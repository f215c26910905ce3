// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "condition/table.hpp"
#include "kith/condition/pipeline.hpp"

namespace kith::detail {

/// Maps the range of the table to [0, 1] and keeps the map in the rule; a constant table stays as
/// it is. Returns what was done, in words.
[[nodiscard]] std::string fit_unit(Table& table, InputRule& rule, int threads);
/// The same map on other numbers.
void apply_unit(const InputRule& rule, Table& table, int threads);
[[nodiscard]] double unit_value(const InputRule& rule, double similarity);

/// Divides by the spread of the table, the mean of (S_ii + S_jj) / 2 - S_ij over all pairs, so that
/// a cost or a ridge means the same whatever the unit of the similarities. Where that is not above
/// 0, by the mean magnitude; a table of zeros stays as it is. Returns what was done, in words.
[[nodiscard]] std::string fit_spread(Table& table, InputRule& rule, int threads);
void apply_spread(const InputRule& rule, Table& table, int threads);

/// S_ij / (sqrt(S_ii) sqrt(S_jj)), with ones on the diagonal. Throws Error naming the first sample
/// whose self-similarity is not positive.
void fit_cosine(Table& table, InputRule& rule, const PairNames& names, int threads);
/// Divides row q by root[q] and column j by the rule's root of S_jj.
void apply_cosine(const InputRule& rule, Table& table, const Vector& root, int threads);

}  // namespace kith::detail
