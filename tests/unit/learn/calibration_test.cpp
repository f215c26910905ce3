// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/rng.hpp"

namespace kith::calibration_test {
namespace {

struct Scored {
  Vector decisions;
  std::vector<int> signs;
};

/// Signs drawn from a known sigmoid.
Scored draw(double slope, double offset, Index count) {
  Rng rng(5);
  Scored sample{Vector(count), {}};
  for (Index i = 0; i < count; ++i) {
    sample.decisions(i) = 3 * rng.normal();
    const double p = Sigmoid{slope, offset}(sample.decisions(i));
    sample.signs.push_back(rng.uniform() < p ? 1 : -1);
  }
  return sample;
}

TEST(FitSigmoid, FindsTheSigmoidThatMadeTheData) {
  const Scored sample = draw(-1.5, 0.4, 50000);
  const Sigmoid found = fit_sigmoid(sample.decisions, sample.signs);
  EXPECT_NEAR(found.slope, -1.5, 0.06);
  EXPECT_NEAR(found.offset, 0.4, 0.06);
}

TEST(FitSigmoid, MatchesTheMeanOfItsTargets) {
  // The optimality condition of the offset: sum of p equals the sum of Platt's targets.
  const Scored sample = draw(-0.7, -0.2, 200);
  const Sigmoid found = fit_sigmoid(sample.decisions, sample.signs);
  const auto positives =
      static_cast<double>(std::count(sample.signs.begin(), sample.signs.end(), 1));
  const double negatives = 200 - positives;
  const double targets =
      positives * (positives + 1) / (positives + 2) + negatives / (negatives + 2);
  double sum = 0;
  for (const double f : sample.decisions) sum += found(f);
  EXPECT_NEAR(sum, targets, 1e-6);
}

TEST(FitSigmoid, DoesNotDependOnTheUnitsOfTheDecisionValues) {
  const Scored sample = draw(-1, 0.1, 300);
  const Sigmoid one = fit_sigmoid(sample.decisions, sample.signs);
  const Sigmoid million = fit_sigmoid(1e6 * sample.decisions, sample.signs);
  for (const double f : sample.decisions) EXPECT_NEAR(one(f), million(1e6 * f), 1e-9);
}

TEST(FitSigmoid, GivesTheBaseRateWhereDecisionsSayNothing) {
  const std::vector<int> signs = {1, 1, 1, -1};
  for (const Vector& f : {Vector(Vector::Zero(4)), Vector(-Vector{{1., 1., 1., -1.}})}) {
    const Sigmoid found = fit_sigmoid(f, signs);
    EXPECT_EQ(found.slope, 0);
    EXPECT_NEAR(found(0), 4.0 / 6, 1e-12);
  }
}

TEST(FitSigmoid, StaysFiniteOnSeparableAndHugeValues) {
  const Vector f{{-1e300, -1e299, 1e299, 1e300}};
  const std::vector<int> signs = {-1, -1, 1, 1};
  const Sigmoid found = fit_sigmoid(f, signs);
  EXPECT_TRUE(std::isfinite(found.slope));
  EXPECT_LT(found(-1e300), 0.5);
  EXPECT_GT(found(1e300), 0.5);
}

TEST(CouplePairs, ReturnsTheClassProbabilitiesThatMadeThePairs) {
  const Vector p{{0.5, 0.3, 0.15, 0.05}};
  Matrix r = Matrix::Zero(4, 4);
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      if (i != j) r(i, j) = p(i) / (p(i) + p(j));
    }
  }
  EXPECT_LT((couple_pairs(r) - p).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(CouplePairs, GivesAPointOfTheSimplexForContradictoryPairs) {
  Matrix r(3, 3);
  r << 0, 1, 0, 0, 0, 1, 1, 0, 0;  // a beats b, b beats c, c beats a, each with certainty
  const Vector p = couple_pairs(r);
  EXPECT_NEAR(p.sum(), 1, 1e-12);
  EXPECT_LT((p.array() - 1.0 / 3).abs().maxCoeff(), 1e-6);
}

}  // namespace
}  // namespace kith::calibration_test
