// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"

namespace kith::statistics_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// Zero: the differences are compared with zeros, so they are the first sample.
std::vector<double> zeros(std::size_t count) { return std::vector<double>(count, 0.0); }

double p_value(const std::vector<double>& differences) {
  return wilcoxon_larger(differences, zeros(differences.size()));
}

/// The definition: the share of the 2^n sign patterns whose sum of positive ranks is at least the
/// observed one. Nonzero differences only.
double by_all_sign_patterns(const std::vector<double>& differences) {
  std::vector<double> sizes;
  sizes.reserve(differences.size());
  for (const double d : differences) sizes.push_back(std::abs(d));
  const std::vector<double> rank = ranks(sizes);
  double observed = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) observed += differences[i] > 0 ? rank[i] : 0;
  const unsigned patterns = 1U << rank.size();
  unsigned as_large = 0;
  for (unsigned pattern = 0; pattern < patterns; ++pattern) {
    double sum = 0;
    for (std::size_t i = 0; i < rank.size(); ++i) sum += (pattern >> i & 1U) != 0 ? rank[i] : 0;
    as_large += sum >= observed ? 1 : 0;
  }
  return static_cast<double>(as_large) / patterns;
}

/// Whole numbers -most .. most without 0: the smaller `most`, the more ties.
std::vector<double> whole_differences(std::size_t count, std::uint64_t most, Rng& rng) {
  std::vector<double> result;
  for (std::size_t i = 0; i < count; ++i) {
    const double size = 1 + static_cast<double>(rng.below(most));
    result.push_back(rng.below(2) == 0 ? size : -size);
  }
  return result;
}

TEST(Statistics, MeanAndDeviationFollowTheirDefinitions) {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(values), 5);
  EXPECT_DOUBLE_EQ(standard_deviation(values), std::sqrt(32.0 / 7));
  const std::vector<double> shifted = {1e9 + 2, 1e9 + 4, 1e9 + 9};
  EXPECT_DOUBLE_EQ(standard_deviation(shifted), std::sqrt(13.0));
}

TEST(Statistics, FewValuesHaveNoSpreadOrNoMean) {
  EXPECT_EQ(standard_deviation(std::vector<double>{0.3}), 0);
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(standard_deviation({})));
}

TEST(Ranks, EqualsShareTheAverageOfTheirPlaces) {
  EXPECT_THAT(ranks(std::vector<double>{30, 10, 20}), ElementsAre(3, 1, 2));
  EXPECT_THAT(ranks(std::vector<double>{5, 1, 5, 0, 5}), ElementsAre(4, 2, 4, 1, 4));
  EXPECT_THAT(ranks(std::vector<double>{7, 7}), ElementsAre(1.5, 1.5));
  EXPECT_TRUE(ranks({}).empty());
}

TEST(Ranks, SumToTheSumOfPlacesWhateverTheTies) {
  Rng rng = RngStreams(3).stream("ranks", 0);
  for (const std::uint64_t most : {2U, 5U, 1000U}) {
    const std::vector<double> rank = ranks(whole_differences(40, most, rng));
    EXPECT_DOUBLE_EQ(mean(rank), 20.5);
  }
}

TEST(Ranks, ToleranceJoinsARunFromItsSmallest) {
  EXPECT_THAT(ranks(std::vector<double>{1, 1.4, 1.8}, 0.5), ElementsAre(1.5, 1.5, 3));
}

TEST(Wilcoxon, IsTheShareOfSignPatternsAtLeastAsExtreme) {
  Rng rng = RngStreams(1).stream("wilcoxon", 0);
  for (std::size_t n = 1; n <= 12; ++n) {
    for (const std::uint64_t most : {1U, 2U, 4U, 100000U}) {  // from all tied to none
      const std::vector<double> differences = whole_differences(n, most, rng);
      EXPECT_NEAR(p_value(differences), by_all_sign_patterns(differences), 1e-14)
          << n << " differences up to " << most;
    }
  }
}

TEST(Wilcoxon, MatchesTabulatedValuesWithoutTies) {
  // P(W >= w) of the signed-rank distribution: all five positive 1/32; the smallest negative 2/32;
  // 20 pairs, W = 150 is the tabulated 5 % point: 0.0487.
  EXPECT_DOUBLE_EQ(p_value({1, 2, 3, 4, 5}), 1.0 / 32);
  EXPECT_DOUBLE_EQ(p_value({-1, 2, 3, 4, 5}), 2.0 / 32);
  std::vector<double> twenty;  // ranks 1..20, those that sum to 60 negative
  for (int i = 1; i <= 20; ++i) twenty.push_back(i == 20 || i == 19 || i == 18 || i == 3 ? -i : i);
  EXPECT_NEAR(p_value(twenty), 0.0487, 5e-5);
}

TEST(Wilcoxon, BothSidesOverlapInTheObservedSumAlone) {
  Rng rng = RngStreams(2).stream("wilcoxon", 1);
  for (const std::size_t n : {5U, 20U, 60U}) {
    std::vector<double> differences = whole_differences(n, 30, rng);
    const double larger = wilcoxon_larger(differences, zeros(n));
    const double smaller = wilcoxon_larger(zeros(n), differences);
    EXPECT_GT(larger + smaller, 1);
    EXPECT_LT(larger + smaller, 1.3);
  }
}

TEST(Wilcoxon, DropsZeroDifferences) {
  EXPECT_EQ(p_value({0, 3, 0, -1, 2, 5, 0}), p_value({3, -1, 2, 5}));
  EXPECT_EQ(p_value({0, 0, 0}), 1);
  EXPECT_EQ(p_value({}), 1);
}

TEST(Wilcoxon, TakesDifferencesOfErrorRatesAsTheCountsTheyAre) {
  // Errors of 43 test samples: differences of counts are tied, those of the quotients differ in the
  // last bits.
  Rng rng = RngStreams(4).stream("wilcoxon", 2);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> a, b, a_counts, b_counts;
    for (int i = 0; i < 20; ++i) {
      a_counts.push_back(static_cast<double>(rng.below(12)));
      b_counts.push_back(static_cast<double>(rng.below(10)));
      a.push_back(a_counts.back() / 43);
      b.push_back(b_counts.back() / 43);
    }
    EXPECT_EQ(wilcoxon_larger(a, b), wilcoxon_larger(a_counts, b_counts));
  }
}

TEST(Wilcoxon, DoesNotDependOnOrderScaleOrShift) {
  const std::vector<double> a = {0.2, 0.25, 0.15, 0.3, 0.35};
  const std::vector<double> b = {0.1, 0.3, 0.1, 0.25, 0.2};
  const double p = wilcoxon_larger(a, b);
  EXPECT_EQ(wilcoxon_larger(std::vector<double>{a[4], a[0], a[3], a[1], a[2]},
                            std::vector<double>{b[4], b[0], b[3], b[1], b[2]}),
            p);
  std::vector<double> a_percent, b_percent;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a_percent.push_back(100 * a[i] + 7);
    b_percent.push_back(100 * b[i] + 7);
  }
  EXPECT_EQ(wilcoxon_larger(a_percent, b_percent), p);
}

TEST(Wilcoxon, ApproachesTheNormalLimit) {
  Rng rng = RngStreams(5).stream("wilcoxon", 3);
  for (const std::uint64_t most : {7U, 1000000U}) {
    std::vector<double> differences = whole_differences(200, most, rng);
    const double exact = p_value(differences);
    std::vector<double> sizes;
    sizes.reserve(differences.size());
    for (const double d : differences) sizes.push_back(std::abs(d));
    const std::vector<double> rank = ranks(sizes);
    double z = 0, variance = 0;
    for (std::size_t i = 0; i < rank.size(); ++i) {
      z += (differences[i] > 0 ? 0.5 : -0.5) * rank[i];
      variance += rank[i] * rank[i] / 4;
    }
    EXPECT_NEAR(exact, 0.5 * std::erfc(z / std::sqrt(2 * variance)), 1e-3);
    // One more pair takes the other branch; its smallest rank moves nothing by much.
    differences.push_back(0.5);
    EXPECT_NEAR(p_value(differences), exact, 2e-3);
  }
}

TEST(Wilcoxon, KeepsSmallTails) {
  std::vector<double> positive;
  for (int i = 1; i <= 100; ++i) positive.push_back(i);
  EXPECT_DOUBLE_EQ(p_value(positive), std::ldexp(1.0, -100));
}

TEST(Wilcoxon, RefusesWhatIsNotPaired) {
  EXPECT_THROW((void)wilcoxon_larger(zeros(3), zeros(4)), Error);
  EXPECT_THROW((void)p_value({1, std::numeric_limits<double>::quiet_NaN()}), Error);
}

TEST(CriticalDifference, HasThePublishedQuantiles) {
  const std::vector<double> published = {1.960, 2.343, 2.569, 2.728, 2.850,
                                         2.949, 3.031, 3.102, 3.164};
  for (int k = 2; k <= 10; ++k) {
    const double q = critical_difference(k, 1) / std::sqrt(k * (k + 1) / 6.0);
    EXPECT_NEAR(q, published[static_cast<std::size_t>(k - 2)], 1.01e-3) << k << " methods";
  }
}

TEST(CriticalDifference, IsTheNormalQuantileForTwoMethods) {
  // The range of two is |x - y|, normal with variance 2: q / sqrt(2) is the two-sided quantile.
  for (const double alpha : {0.1, 0.05, 0.01, 1e-6}) {
    const double q = critical_difference(2, 1, alpha);
    EXPECT_NEAR(std::erfc(q / std::sqrt(2.0)), alpha, 1e-9 * alpha + 1e-15);
  }
}

TEST(CriticalDifference, ShrinksWithTheRootOfTheDataSets) {
  EXPECT_THAT(critical_difference(5, 36), DoubleNear(critical_difference(5, 9) / 2, 1e-12));
}

TEST(CriticalDifference, RefusesImpossibleCounts) {
  EXPECT_THROW((void)critical_difference(1, 5), Error);
  EXPECT_THROW((void)critical_difference(3, 0), Error);
  EXPECT_THROW((void)critical_difference(3, 5, 1.0), Error);
}

TEST(WilsonInterval, EndsWhereTheNormalTestOfTheShareEnds) {
  constexpr double kQuantile = 1.959963984540054;
  for (const Index n : {1, 2, 7, 40, 1000, 1000000}) {
    for (const Index count : {Index{0}, Index{1}, n / 3, n / 2, n - 1, n}) {
      if (count < 0) continue;
      const Interval found = wilson_interval(count, n);
      const double share = static_cast<double>(count) / static_cast<double>(n);
      EXPECT_LE(0, found.low);
      EXPECT_LE(found.low, share);
      EXPECT_LE(share, found.high);
      EXPECT_LE(found.high, 1);
      for (const double p : {found.low, found.high}) {
        const double deviation = std::sqrt(p * (1 - p) / static_cast<double>(n));
        EXPECT_NEAR(std::abs(share - p), kQuantile * deviation, 1e-12) << count << " of " << n;
      }
    }
  }
}

TEST(WilsonInterval, IsMirroredAndReachesTheEndsExactly) {
  for (const Index count : {0, 3, 8, 20}) {
    const Interval found = wilson_interval(count, 20);
    const Interval mirrored = wilson_interval(20 - count, 20);
    EXPECT_NEAR(found.low, 1 - mirrored.high, 1e-15);
  }
  EXPECT_EQ(wilson_interval(0, 5).low, 0);
  EXPECT_LT(wilson_interval(0, 5).high, 1);
  EXPECT_EQ(wilson_interval(5, 5).high, 1);
}

TEST(WilsonInterval, RefusesImpossibleCounts) {
  EXPECT_THROW((void)wilson_interval(0, 0), Error);
  EXPECT_THROW((void)wilson_interval(-1, 5), Error);
  EXPECT_THROW((void)wilson_interval(6, 5), Error);
}

}  // namespace
}  // namespace kith::statistics_test
