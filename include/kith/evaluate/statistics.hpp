// SPDX-License-Identifier: Apache-2.0
// The statistics with which methods are compared.
#pragma once

#include <span>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// Those that are not NaN.
[[nodiscard]] std::vector<double> existing(std::span<const double> values);

/// NaN without values.
[[nodiscard]] double mean(std::span<const double> values);
/// With divisor count - 1; 0 for a single value, NaN without values.
[[nodiscard]] double standard_deviation(std::span<const double> values);

/// 1 for the smallest, equals share the average of their places. Values are equal when they exceed
/// the smallest of their run by at most `tolerance`.
[[nodiscard]] std::vector<double> ranks(std::span<const double> values, double tolerance = 0);

/// Below this part of the larger of two values their difference is rounding: 5/43 - 3/43 and
/// 4/43 - 2/43 are one tie, though not the same double.
inline constexpr double kRoundingShare = 1e-12;

/// P-value of the one-sided signed-rank test that `a` tends to be larger than `b` (paired). Zero
/// differences are dropped; tied absolute differences share their ranks; both up to kRoundingShare
/// of the largest value. Exact (the permutation distribution of the ranks at hand) up to 200 pairs,
/// beyond that normal with the variance corrected for ties and a continuity correction. 1 when
/// every difference is zero. Throws Error unless both have the same length and only finite numbers.
[[nodiscard]] double wilcoxon_larger(std::span<const double> a, std::span<const double> b);

/// Friedman's test that methods do not differ, by average ranks: the statistic of Iman and
/// Davenport (1980), which follows F with k - 1 and (k - 1)(N - 1) degrees of freedom.
struct FriedmanTest {
  double statistic = 0;
  double p_value = 1;
};
/// `ranks` has a row for each data set and a column for each method; ties have shared ranks. Throws
/// Error unless there are two of both.
[[nodiscard]] FriedmanTest friedman(const Matrix& ranks);

/// Nemenyi's critical difference of average ranks of `methods` (at least 2) over `data_sets` (at
/// least 1): q_alpha sqrt(k (k + 1) / (6 N)), q the studentized range quantile for infinitely many
/// degrees of freedom over sqrt(2). Throws Error on other counts and unless 0 < alpha < 1.
[[nodiscard]] double critical_difference(int methods, int data_sets, double alpha = 0.05);

struct Interval {
  double low = 0;
  double high = 1;
};

/// Wilson's 95 % interval of the share of which `count` of `n` independent samples are an estimate:
/// the shares p with |count / n - p| <= z sqrt(p (1 - p) / n), z the 97.5 % quantile of the normal
/// distribution. Inside [0, 1]. Throws Error unless n >= 1 and 0 <= count <= n.
[[nodiscard]] Interval wilson_interval(Index count, Index n);

}  // namespace kith
