// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/multiclass/binary_tasks.hpp"

#include <gtest/gtest.h>

#include "kith/core/rng.hpp"

namespace kith::binary_tasks_test {
namespace {

Labels abc() { return make_labels(std::vector<std::string>{"a", "b", "c", "a", "b"}); }

TEST(ClassPairs, HoldTheSamplesOfTheirTwoClasses) {
  const std::vector<BinaryTask> pairs = binary_tasks(abc());
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[1].first, 0);
  EXPECT_EQ(pairs[1].second, 2);
  EXPECT_EQ(pairs[1].samples, (std::vector<Index>{0, 2, 3}));
  EXPECT_EQ(pairs[1].signs, (std::vector<int>{1, -1, 1}));
  EXPECT_EQ(task_name(pairs[1], abc()), "a | c");
}

TEST(ClassPairs, LeaveOutClassesWithoutSamples) {
  Labels labels = abc();
  for (int& id : labels.ids) id = id == 1 ? 0 : id;
  const std::vector<BinaryTask> pairs = binary_tasks(labels);
  ASSERT_EQ(pairs.size(), 1U);
  const TaskTable table = task_table(pairs, labels);
  EXPECT_EQ(table.present, (std::vector<int>{0, 2}));
  const Prediction prediction = decide(table, Matrix::Constant(1, 1, -2.0), Vector{{-1, 0}});
  EXPECT_EQ(prediction.labels[0], 2);
  EXPECT_EQ(prediction.probabilities(0, 1), 0);
}

TEST(Vote, BreaksEqualVotesByTheSumOfDecisionValues) {
  const TaskTable table = task_table(binary_tasks(abc()), abc());
  Matrix decisions(1, 3);
  decisions << 1, -1, 3;  // a beats b, c beats a, b beats c: sums a 0, b 2, c -2
  EXPECT_EQ(decide(table, decisions).labels[0], 1);
}

TEST(Vote, GivesTheLabelTheLargestScoreAndTheLargestProbability) {
  const TaskTable table = task_table(binary_tasks(abc()), abc());
  const Matrix sigmoids{{-1, -0.2, -3}, {0.7, -0.5, 0.1}};
  Rng rng(3);
  Matrix decisions(200, 3);
  for (Index i = 0; i < decisions.size(); ++i) decisions.data()[i] = rng.normal();
  const Prediction with = decide(table, decisions, sigmoids);
  const Prediction without = decide(table, decisions);
  EXPECT_EQ(with.labels, without.labels);
  for (Index i = 0; i < 200; ++i) {
    const int label = with.labels[static_cast<std::size_t>(i)];
    EXPECT_EQ(with.scores.row(i).maxCoeff(), with.scores(i, label));
    EXPECT_EQ(with.probabilities.row(i).maxCoeff(), with.probabilities(i, label));
    EXPECT_NEAR(with.probabilities.row(i).sum(), 1, 1e-12);
  }
}

TEST(Vote, NamesTheOnlyClassThereIs) {
  const Labels labels = make_labels(std::vector<std::string>{"x", "x"});
  const TaskTable table = task_table(binary_tasks(labels), labels);
  const Prediction prediction = decide(table, Matrix(3, 0));
  EXPECT_EQ(prediction.labels, (std::vector<int>{0, 0, 0}));
}

TEST(OneVsRest, HasATaskForEachClassWithSamples) {
  const std::vector<BinaryTask> tasks = binary_tasks(abc(), Multiclass::kOneVsRest);
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[1].samples, (std::vector<Index>{0, 1, 2, 3, 4}));
  EXPECT_EQ(tasks[1].signs, (std::vector<int>{-1, 1, -1, -1, 1}));
  EXPECT_EQ(task_name(tasks[1], abc()), "b | rest");
}

TEST(OneVsRest, IsOnePairWhereTwoClassesHaveSamples) {
  Labels labels = abc();
  for (int& id : labels.ids) id = id == 1 ? 0 : id;
  const std::vector<BinaryTask> tasks = binary_tasks(labels, Multiclass::kOneVsRest);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].second, 2);
}

TEST(OneVsRest, TakesTheLargestDecisionValue) {
  Labels labels = make_labels(std::vector<std::string>{"a", "b", "c", "d"});
  labels.ids[1] = 0;  // nobody is a b
  const TaskTable table = task_table(binary_tasks(labels, Multiclass::kOneVsRest), labels);
  const Matrix decisions{{-3, -1, -2}, {0.5, 0.25, 0.5}};
  const Matrix sigmoids{{-1, -1, -1}, {0, 0, 0.5}};
  const Prediction found = decide(table, decisions, sigmoids);
  EXPECT_EQ(found.labels, (std::vector<int>{2, 0}));
  for (Index i = 0; i < 2; ++i) {
    const int label = found.labels[static_cast<std::size_t>(i)];
    EXPECT_EQ(found.scores.row(i).maxCoeff(), found.scores(i, label));
    EXPECT_EQ(found.probabilities.row(i).maxCoeff(), found.probabilities(i, label));
    EXPECT_NEAR(found.probabilities.row(i).sum(), 1, 1e-12);
    EXPECT_EQ(found.probabilities(i, 1), 0);
    EXPECT_LT(found.scores(i, 1), decisions.row(i).minCoeff());
  }
  const double own = Sigmoid{-1, 0}(-1);
  const double sum = Sigmoid{-1, 0}(-3) + own + Sigmoid{-1, 0.5}(-2);
  EXPECT_NEAR(found.probabilities(0, 2), own / sum, 1e-12);
}

}  // namespace
}  // namespace kith::binary_tasks_test
