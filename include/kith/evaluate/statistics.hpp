// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

[[nodiscard]] double mean(std::span<const double> values);
/// With divisor count - 1; 0 for a single value.
[[nodiscard]] double standard_deviation(std::span<const double> values);

/// 1 for the smallest, equals share the average of their places.
[[nodiscard]] std::vector<double> ranks(std::span<const double> values);

/// P-value of the one-sided signed-rank test that `a` tends to be larger than `b` (paired). Zero
/// differences are dropped; tied absolute differences share their ranks. Exact (the permutation
/// distribution of the ranks at hand) up to 200 pairs, beyond that normal with the variance
/// corrected for ties. 1 when every difference is zero.
[[nodiscard]] double wilcoxon_larger(std::span<const double> a, std::span<const double> b);

/// Nemenyi's critical difference of average ranks of `methods` (at least 2) over `data_sets`:
/// q_alpha sqrt(k (k + 1) / (6 N)), q the studentized range quantile for infinitely many degrees of
/// freedom over sqrt(2).
[[nodiscard]] double critical_difference(int methods, int data_sets, double alpha = 0.05);

}  // namespace kith
