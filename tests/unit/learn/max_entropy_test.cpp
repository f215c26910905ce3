// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/generative/max_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/rng.hpp"

namespace kith::max_entropy_test {
namespace {

Support interval() { return {.low = 0, .high = 1, .points = {}}; }
Support points(const Vector& u) { return {.low = 0, .high = 1, .points = u}; }

constexpr double kMeans[] = {1e-9, 1e-4, 0.01, 0.1, 0.24, 0.26, 0.49999, 0.5, 0.6, 0.9, 0.999};

TEST(MaxEntropy, MatchesEveryMeanInsideAnInterval) {
  for (const double mean : kMeans) {
    for (const double side : {mean, 1 - mean}) {
      const Exponential fitted = with_mean(interval(), side);
      EXPECT_NEAR(moments(interval(), fitted.lambda).mean, side, 1e-12) << side;
    }
  }
}

TEST(MaxEntropy, MatchesEveryMeanInsideADiscreteSupport) {
  for (const Vector& u : {Vector{{0, 0.5, 1}}, Vector{{0, 0.1, 0.11, 0.9, 1}}, Vector{{0, 1e-6, 1}},
                          Vector{{0, 0.999999, 1}}}) {
    for (const double mean : kMeans) {
      const Exponential fitted = with_mean(points(u), mean);
      EXPECT_NEAR(moments(points(u), fitted.lambda).mean, mean, 1e-10) << u.transpose();
    }
  }
}

TEST(MaxEntropy, HasAClosedFormOnTwoPoints) {
  const Support two = points(Vector{{0, 1}});
  for (const double mean : kMeans) {
    const Exponential fitted = with_mean(two, mean);
    EXPECT_NEAR(fitted.lambda, std::log(mean / (1 - mean)), 1e-5);
    EXPECT_NEAR(std::exp(fitted.log_density(1)), mean, 1e-12);
    EXPECT_NEAR(std::exp(fitted.log_density(0)), 1 - mean, 1e-12);
  }
}

TEST(MaxEntropy, IsUniformAtTheMiddle) {
  EXPECT_NEAR(with_mean(interval(), 0.5).lambda, 0, 1e-12);
  EXPECT_NEAR(with_mean(points(Vector{{0, 0.25, 0.75, 1}}), 0.5).lambda, 0, 1e-12);
}

TEST(MaxEntropy, HasDerivativesThatAgreeWithDifferences) {
  for (const Support& support : {interval(), points(Vector{{0, 0.2, 0.7, 1}})}) {
    for (const double lambda :
         {-700.0, -30.0, -1.0, -0.0501, -0.0499, 0.0, 0.02, 0.06, 5.0, 80.0}) {
      const double h = 1e-5 * (1 + std::abs(lambda));
      const Moments before = moments(support, lambda - h);
      const Moments after = moments(support, lambda + h);
      const Moments here = moments(support, lambda);
      EXPECT_NEAR((after.log_z - before.log_z) / (2 * h), here.mean, 1e-8) << lambda;
      EXPECT_NEAR((after.mean - before.mean) / (2 * h), here.variance, 1e-8) << lambda;
    }
  }
}

TEST(MaxEntropy, DensityOnAnIntervalIntegratesToOne) {
  for (const double mean : {0.05, 0.3, 0.5, 0.8}) {
    const Exponential fitted = with_mean(interval(), mean);
    constexpr int kSteps = 20000;
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) sum += std::exp(fitted.log_density((i + 0.5) / kSteps));
    EXPECT_NEAR(sum / kSteps, 1, 1e-6);
  }
}

TEST(MaxEntropy, MovesMeansAtTheEndsByHalfASample) {
  EXPECT_DOUBLE_EQ(off_the_ends(0, 10), 0.05);
  EXPECT_DOUBLE_EQ(off_the_ends(1, 10), 0.95);
  EXPECT_DOUBLE_EQ(off_the_ends(1 - 1e-16, 10), 0.95);
  EXPECT_DOUBLE_EQ(off_the_ends(0.001, 10), 0.001);
  EXPECT_DOUBLE_EQ(off_the_ends(0, 1), 0.5);
}

Matrix with_values(Index n, int distinct) {
  Matrix S(n, n);
  int next = 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) S(i, j) = S(j, i) = next++ % distinct;
  }
  return S;
}

TEST(Support, IsDiscreteWhereThereAreFewValues) {
  const Support few = make_support(with_values(10, 5), SupportRule::kAuto);
  ASSERT_TRUE(few.discrete());
  EXPECT_EQ(few.points, (Vector{{0, 0.25, 0.5, 0.75, 1}}));
  // 55 pairs: no more than 13 values; and never more than 128.
  EXPECT_TRUE(make_support(with_values(10, 13), SupportRule::kAuto).discrete());
  EXPECT_FALSE(make_support(with_values(10, 14), SupportRule::kAuto).discrete());
  EXPECT_TRUE(make_support(with_values(60, 128), SupportRule::kAuto).discrete());
  EXPECT_FALSE(make_support(with_values(60, 129), SupportRule::kAuto).discrete());
  EXPECT_EQ(make_support(with_values(60, 129), SupportRule::kDiscrete).points.size(), 129);
  EXPECT_FALSE(make_support(with_values(10, 2), SupportRule::kInterval).discrete());
}

TEST(Support, StaysFiniteForExtremeNumbers) {
  const double big = std::numeric_limits<double>::max();
  const Support wide{.low = -big, .high = big, .points = {}};
  EXPECT_NEAR(wide.unit(0), 0.5, 1e-15);
  const Support narrow{.low = 0, .high = 1e-300, .points = {}};
  EXPECT_TRUE(std::isfinite(narrow.unit(big)));
  const Support one = make_support(Matrix::Constant(3, 3, 7), SupportRule::kDiscrete);
  EXPECT_TRUE(one.constant());
  EXPECT_EQ(with_mean(one, 0.5).log_density(one.unit(9)), 0);
}

}  // namespace
}  // namespace kith::max_entropy_test
