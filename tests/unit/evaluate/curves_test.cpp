// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/curves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/rng.hpp"
#include "kith/evaluate/metrics.hpp"

namespace kith::curves_test {
namespace {

struct Sample {
  std::vector<int> truth;
  Prediction prediction;
};

/// Scores that know the class to some degree; some of them equal.
Sample sample(int classes, Index n, Rng& rng) {
  Sample made;
  made.prediction.probabilities = Matrix::Zero(n, classes);
  for (Index i = 0; i < n; ++i) {
    made.truth.push_back(static_cast<int>(i) % classes);
    for (int c = 0; c < classes; ++c) {
      const double lead = c == made.truth.back() ? 0.8 : 0;
      made.prediction.probabilities(i, c) = 0.1 + std::round(10 * (rng.uniform() + lead)) / 10;
    }
    made.prediction.probabilities.row(i) /= made.prediction.probabilities.row(i).sum();
    made.prediction.labels.push_back(0);
  }
  return made;
}

/// True-positive rate and precision by their definitions: over all thresholds, sample by sample.
TEST(Curves, AreWhatTheirDefinitionsSay) {
  Rng rng(3);
  const Sample made = sample(3, 60, rng);
  CurveMean mean(3);
  mean.add(made.truth, made.prediction);
  const Curves curves = mean.mean(12).value();
  ASSERT_EQ(curves.classes.size(), 4U);
  for (const ClassCurve& one : curves.classes) {
    if (one.label < 0) continue;
    const Vector lead = made.prediction.probabilities.col(one.label);
    std::vector<double> of_class, others;
    for (Index i = 0; i < 60; ++i) {
      (made.truth[static_cast<std::size_t>(i)] == one.label ? of_class : others).push_back(lead(i));
    }
    EXPECT_NEAR(one.auc, separation(of_class, others), 1e-12);
    for (std::size_t g = 0; g < curves.grid.size(); ++g) {
      double reached = 0, precision = -1, most_found = -1;
      for (Index t = 0; t < 60; ++t) {
        const auto above = [&](const std::vector<double>& values) {
          return static_cast<double>(
              std::ranges::count_if(values, [&](double v) { return v >= lead(t); }));
        };
        const double found = above(of_class) / 20, alarms = above(others) / 40;
        if (alarms <= curves.grid[g]) reached = std::max(reached, found);
        // Of the thresholds that reach the recall, the highest finds the fewest.
        if (found >= curves.grid[g] && (most_found < 0 || found + alarms < most_found)) {
          most_found = found + alarms;
          precision = found * 20 / (found * 20 + alarms * 40);
        }
      }
      EXPECT_GE(one.tpr[g], reached - 1e-12) << "straight lines pass above the steps";
      EXPECT_NEAR(one.precision[g], precision, 1e-12);
    }
    EXPECT_TRUE(std::ranges::is_sorted(one.tpr));
    EXPECT_EQ(one.tpr.back(), 1);
  }
}

TEST(Curves, OfPerfectOrderAreOneEverywhere) {
  Sample made;
  made.truth = {1, 0, 1, 0, 0};
  made.prediction.scores = (Matrix(5, 2) << -1, 1, 2, -2, -3, 3, 4, -4, 0.5, -0.5).finished();
  CurveMean mean(2);
  mean.add(made.truth, made.prediction);
  const Curves curves = mean.mean(12).value();
  ASSERT_EQ(curves.classes.size(), 1U);
  EXPECT_EQ(curves.classes[0].label, 1);
  EXPECT_EQ(curves.classes[0].auc, 1);
  EXPECT_EQ(curves.classes[0].average_precision, 1);
  EXPECT_THAT(curves.classes[0].tpr, testing::Each(1));
  EXPECT_THAT(curves.classes[0].precision, testing::Each(1));
}

TEST(Curves, OfEqualScoresAreTheDiagonalAndTheShareOfTheClass) {
  CurveMean mean(2);
  Prediction prediction;
  prediction.scores = Matrix::Zero(8, 2);
  mean.add(std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1}, prediction);
  const Curves curves = mean.mean(12).value();
  EXPECT_DOUBLE_EQ(curves.classes[0].auc, 0.5);
  for (std::size_t g = 0; g < curves.grid.size(); ++g) {
    EXPECT_NEAR(curves.classes[0].tpr[g], curves.grid[g], 1e-12);
    EXPECT_DOUBLE_EQ(curves.classes[0].precision[g], 0.25);
  }
}

TEST(Curves, AreMeansOverThePartsThatHaveTheClass) {
  Rng rng(5);
  const Sample one = sample(3, 30, rng);
  const Sample two = sample(3, 30, rng);
  const auto alone = [](const Sample& made) {
    CurveMean mean(3);
    mean.add(made.truth, made.prediction);
    return mean.mean(12).value();
  };
  CurveMean both(3);
  both.add(one.truth, one.prediction);
  both.add(two.truth, two.prediction);
  both.add(std::vector<int>(30, 1), two.prediction);  // one class alone: no curve
  const Curves together = both.mean(12).value();
  for (const ClassCurve& curve : together.classes) {
    const auto area = [&](const Curves& curves) {
      for (const ClassCurve& other : curves.classes) {
        if (other.label == curve.label) return other.auc;
      }
      return -1.0;
    };
    EXPECT_NEAR(curve.auc, (area(alone(one)) + area(alone(two))) / 2, 1e-12);
  }
}

TEST(Curves, KeepTheClassesThatAreHardestToTell) {
  Rng rng(9);
  const Sample made = sample(6, 120, rng);
  CurveMean mean(6);
  mean.add(made.truth, made.prediction);
  const Curves all = mean.mean(12).value();
  const Curves few = mean.mean(2).value();
  ASSERT_EQ(all.classes.size(), 7U);
  ASSERT_EQ(few.classes.size(), 3U);
  EXPECT_EQ(few.left_out, 4);
  EXPECT_EQ(few.classes[0].label, -1);
  EXPECT_EQ(few.classes[0].auc, all.classes[0].auc) << "the mean is over all";
  EXPECT_LE(few.classes[1].auc, few.classes[2].auc);
}

TEST(Curves, NeedScoresOrProbabilities) {
  CurveMean mean(2);
  Prediction prediction;
  prediction.labels = {0, 1};
  mean.add(std::vector<int>{0, 1}, prediction);
  EXPECT_FALSE(mean.mean(12).has_value());
}

}  // namespace
}  // namespace kith::curves_test
