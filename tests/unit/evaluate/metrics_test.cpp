// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"

namespace kith::metrics_test {
namespace {

constexpr std::array kAllMetrics = {Metric::kError, Metric::kBalancedError, Metric::kFScore,
                                    Metric::kF1,    Metric::kLogLoss,       Metric::kAuc};

struct Problem {
  std::vector<int> truth;
  Prediction prediction;
  int classes = 0;
};

/// Random truth, labels, scores and probabilities; coarse ones, so that there are ties.
Problem random_problem(Index samples, int classes, std::uint64_t seed) {
  Rng rng = RngStreams(seed).stream("metrics", 0);
  Problem problem{.truth = {}, .prediction = {}, .classes = classes};
  problem.prediction.scores.resize(samples, classes);
  problem.prediction.probabilities.resize(samples, classes);
  const auto count = static_cast<std::uint64_t>(classes);
  for (Index i = 0; i < samples; ++i) {
    problem.truth.push_back(static_cast<int>(rng.below(count)));
    problem.prediction.labels.push_back(static_cast<int>(rng.below(count)));
    for (Index c = 0; c < classes; ++c) {
      problem.prediction.scores(i, c) = static_cast<double>(rng.below(7));
      problem.prediction.probabilities(i, c) = 1 + static_cast<double>(rng.below(5));
    }
    problem.prediction.probabilities.row(i) /= problem.prediction.probabilities.row(i).sum();
  }
  return problem;
}

std::optional<double> value(Metric metric, const Problem& problem, int positive = 0) {
  return metric_value(metric, problem.truth, problem.prediction, problem.classes, positive);
}

/// P(x > y) + P(x = y) / 2 over all pairs.
double separation_by_pairs(const Vector& values, const std::vector<int>& truth, int upper,
                           int lower) {
  double wins = 0, pairs = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = 0; j < truth.size(); ++j) {
      if (truth[i] != upper || truth[j] != lower) continue;
      const double x = values(static_cast<Index>(i));
      const double y = values(static_cast<Index>(j));
      wins += x > y ? 1 : x == y ? 0.5 : 0;
      ++pairs;
    }
  }
  return wins / pairs;
}

TEST(Metrics, ByHandOnAConfusionOfThreeClasses) {
  //          said 0  1  2
  // truth 0:      3  1  0
  // truth 1:      2  2  0
  // truth 2:      1  0  1
  const Problem problem{
      .truth = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2},
      .prediction = {.labels = {0, 0, 0, 1, 0, 0, 1, 1, 0, 2}, .scores = {}, .probabilities = {}},
      .classes = 3};
  const Matrix expected = (Matrix(3, 3) << 3, 1, 0, 2, 2, 0, 1, 0, 1).finished();
  EXPECT_EQ(confusion(problem.truth, problem.prediction.labels, 3), expected);
  EXPECT_DOUBLE_EQ(*value(Metric::kError, problem), 0.4);
  EXPECT_DOUBLE_EQ(*value(Metric::kBalancedError, problem), (0.25 + 0.5 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(*value(Metric::kFScore, problem), (6.0 / 10 + 4.0 / 7 + 2.0 / 3) / 3);
}

TEST(Metrics, F1IsAboutThePositiveClassOfTwo) {
  const Problem problem{
      .truth = {0, 0, 0, 1, 1, 1, 1},
      .prediction = {.labels = {0, 1, 1, 1, 1, 1, 0}, .scores = {}, .probabilities = {}},
      .classes = 2};
  EXPECT_DOUBLE_EQ(*value(Metric::kF1, problem, 1), 2 * 3.0 / (2 * 3 + 2 + 1));
  EXPECT_DOUBLE_EQ(*value(Metric::kF1, problem, 0), 2 * 1.0 / (2 * 1 + 1 + 2));
  EXPECT_DOUBLE_EQ(*value(Metric::kFScore, problem),
                   0.5 * (*value(Metric::kF1, problem, 0) + *value(Metric::kF1, problem, 1)));
}

TEST(Metrics, LogLossIsTheMeanSurpriseAndStaysFinite) {
  Problem problem{
      .truth = {0, 1},
      .prediction = {.labels = {0, 1},
                     .scores = {},
                     .probabilities = (Matrix(2, 2) << 0.25, 0.75, 0.5, 0.5).finished()},
      .classes = 2};
  EXPECT_DOUBLE_EQ(*value(Metric::kLogLoss, problem), (std::log(4.0) + std::log(2.0)) / 2);
  problem.prediction.probabilities << 1, 0, 1, 0;  // right and certain; wrong and certain
  EXPECT_DOUBLE_EQ(*value(Metric::kLogLoss, problem), -std::log(1e-15) / 2);
}

TEST(Metrics, AucOfTwoClassesIsTheShareOfPairsInOrder) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Problem problem = random_problem(40, 2, seed);
    const Vector lead = problem.prediction.scores.col(1) - problem.prediction.scores.col(0);
    EXPECT_NEAR(*value(Metric::kAuc, problem), separation_by_pairs(lead, problem.truth, 1, 0),
                1e-12);
    problem.prediction.scores.resize(0, 0);
    const Vector p = problem.prediction.probabilities.col(1);
    EXPECT_NEAR(*value(Metric::kAuc, problem), separation_by_pairs(p, problem.truth, 1, 0), 1e-12);
  }
}

TEST(Metrics, AucOfSeveralClassesIsHandAndTillsMean) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Problem problem = random_problem(60, 4, seed);
    double by_probabilities = 0, by_scores = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) {
        if (a == b) continue;
        by_probabilities +=
            separation_by_pairs(problem.prediction.probabilities.col(a), problem.truth, a, b) / 12;
        const Vector lead = problem.prediction.scores.col(a) - problem.prediction.scores.col(b);
        by_scores += separation_by_pairs(lead, problem.truth, a, b) / 12;
      }
    }
    EXPECT_NEAR(*value(Metric::kAuc, problem), by_probabilities, 1e-12);
    problem.prediction.probabilities.resize(0, 0);
    EXPECT_NEAR(*value(Metric::kAuc, problem), by_scores, 1e-12);
  }
}

TEST(Metrics, PerfectAndUselessPredictionsReachTheEnds) {
  Problem problem = random_problem(30, 3, 9);
  problem.prediction.labels = problem.truth;
  for (Index i = 0; i < 30; ++i) {
    problem.prediction.scores.row(i).setZero();
    problem.prediction.scores(i, problem.truth[static_cast<std::size_t>(i)]) = 1;
  }
  problem.prediction.probabilities = problem.prediction.scores;
  EXPECT_EQ(*value(Metric::kError, problem), 0);
  EXPECT_EQ(*value(Metric::kBalancedError, problem), 0);
  EXPECT_EQ(*value(Metric::kFScore, problem), 1);
  EXPECT_EQ(*value(Metric::kLogLoss, problem), 0);
  EXPECT_EQ(*value(Metric::kAuc, problem), 1);
  problem.prediction.probabilities.setConstant(1.0 / 3);
  EXPECT_DOUBLE_EQ(*value(Metric::kAuc, problem), 0.5);
  EXPECT_DOUBLE_EQ(*value(Metric::kLogLoss, problem), std::log(3.0));
}

TEST(Metrics, RenamingClassesAndReorderingSamplesChangesNothing) {
  const Problem problem = random_problem(50, 3, 4);
  const std::array<int, 3> renamed = {2, 0, 1};
  Problem other = problem;
  for (std::size_t i = 0; i < 50; ++i) {
    const std::size_t from = 49 - i;
    other.truth[i] = renamed[static_cast<std::size_t>(problem.truth[from])];
    other.prediction.labels[i] = renamed[static_cast<std::size_t>(problem.prediction.labels[from])];
    for (Index c = 0; c < 3; ++c) {
      const Index to = renamed[static_cast<std::size_t>(c)];
      const auto row = static_cast<Index>(i);
      const auto source = static_cast<Index>(from);
      other.prediction.scores(row, to) = problem.prediction.scores(source, c);
      other.prediction.probabilities(row, to) = problem.prediction.probabilities(source, c);
    }
  }
  for (const Metric metric : kAllMetrics) {
    if (metric == Metric::kF1) continue;
    EXPECT_NEAR(*value(metric, problem), *value(metric, other), 1e-12) << enum_name(metric);
  }
}

TEST(Metrics, ClassesThatDoNotOccurTakeNoPart) {
  Problem problem = random_problem(40, 3, 6);
  Problem wider = problem;
  wider.classes = 5;
  wider.prediction.scores.conservativeResize(40, 5);
  wider.prediction.scores.rightCols(2).setConstant(-1);
  wider.prediction.probabilities.conservativeResize(40, 5);
  wider.prediction.probabilities.rightCols(2).setZero();
  for (const Metric metric : kAllMetrics) {
    EXPECT_EQ(value(metric, problem), value(metric, wider)) << enum_name(metric);
  }
}

TEST(Metrics, DoNotExistWithoutWhatTheyNeed) {
  Problem three = random_problem(20, 3, 7);
  EXPECT_FALSE(value(Metric::kF1, three));
  three.prediction.probabilities.resize(0, 0);
  EXPECT_FALSE(value(Metric::kLogLoss, three));
  EXPECT_TRUE(value(Metric::kAuc, three));
  three.prediction.scores.resize(0, 0);
  EXPECT_FALSE(value(Metric::kAuc, three));

  Problem one_class = random_problem(20, 2, 8);
  one_class.truth.assign(20, 1);
  EXPECT_FALSE(value(Metric::kAuc, one_class));
  one_class.prediction.labels.assign(20, 1);
  EXPECT_FALSE(value(Metric::kF1, one_class, 0));
  EXPECT_EQ(value(Metric::kF1, one_class, 1), 1);

  const Problem empty{.truth = {}, .prediction = {}, .classes = 2};
  for (const Metric metric : kAllMetrics) EXPECT_FALSE(value(metric, empty));
}

TEST(Metrics, SayWhichSideIsBetter) {
  EXPECT_TRUE(smaller_is_better(Metric::kError));
  EXPECT_TRUE(smaller_is_better(Metric::kLogLoss));
  EXPECT_FALSE(smaller_is_better(Metric::kAuc));
  EXPECT_FALSE(smaller_is_better(Metric::kF1));
}

TEST(Metrics, RefuseWhatDoesNotFit) {
  Problem problem = random_problem(10, 2, 3);
  problem.prediction.labels.pop_back();
  EXPECT_THROW((void)value(Metric::kError, problem), Error);
  problem = random_problem(10, 2, 3);
  problem.prediction.scores.conservativeResize(10, 1);
  EXPECT_THROW((void)value(Metric::kAuc, problem), Error);
  problem = random_problem(10, 2, 3);
  EXPECT_THROW((void)value(Metric::kF1, problem, 2), Error);
  problem.truth[4] = 2;
  EXPECT_THROW((void)value(Metric::kError, problem), Error);
}

}  // namespace
}  // namespace kith::metrics_test
