// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/multiclass/one_vs_one.hpp"

#include <gtest/gtest.h>

#include "kith/core/rng.hpp"

namespace kith::one_vs_one_test {
namespace {

Labels abc() { return make_labels(std::vector<std::string>{"a", "b", "c", "a", "b"}); }

TEST(ClassPairs, HoldTheSamplesOfTheirTwoClasses) {
  const std::vector<ClassPair> pairs = class_pairs(abc());
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[1].first, 0);
  EXPECT_EQ(pairs[1].second, 2);
  EXPECT_EQ(pairs[1].samples, (std::vector<Index>{0, 2, 3}));
  EXPECT_EQ(pairs[1].signs, (std::vector<int>{1, -1, 1}));
  EXPECT_EQ(pair_name(pairs[1], abc()), "a | c");
}

TEST(ClassPairs, LeaveOutClassesWithoutSamples) {
  Labels labels = abc();
  for (int& id : labels.ids) id = id == 1 ? 0 : id;
  const std::vector<ClassPair> pairs = class_pairs(labels);
  ASSERT_EQ(pairs.size(), 1U);
  const PairTable table = pair_table(pairs, labels);
  EXPECT_EQ(table.present, (std::vector<int>{0, 2}));
  const Prediction prediction = vote(table, Matrix::Constant(1, 1, -2.0), std::vector<Sigmoid>(1));
  EXPECT_EQ(prediction.labels[0], 2);
  EXPECT_EQ(prediction.probabilities(0, 1), 0);
}

TEST(Vote, BreaksEqualVotesByTheSumOfDecisionValues) {
  const PairTable table = pair_table(class_pairs(abc()), abc());
  Matrix decisions(1, 3);
  decisions << 1, -1, 3;  // a beats b, c beats a, b beats c: sums a 0, b 2, c -2
  EXPECT_EQ(vote(table, decisions, {}).labels[0], 1);
}

TEST(Vote, GivesTheLabelTheLargestScoreAndTheLargestProbability) {
  const PairTable table = pair_table(class_pairs(abc()), abc());
  const std::vector<Sigmoid> sigmoids = {{-1, 0.7}, {-0.2, -0.5}, {-3, 0.1}};
  Rng rng(3);
  Matrix decisions(200, 3);
  for (Index i = 0; i < decisions.size(); ++i) decisions.data()[i] = rng.normal();
  const Prediction with = vote(table, decisions, sigmoids);
  const Prediction without = vote(table, decisions, {});
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
  const PairTable table = pair_table(class_pairs(labels), labels);
  const Prediction prediction = vote(table, Matrix(3, 0), {});
  EXPECT_EQ(prediction.labels, (std::vector<int>{0, 0, 0}));
}

}  // namespace
}  // namespace kith::one_vs_one_test
