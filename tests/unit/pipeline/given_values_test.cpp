// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/given_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kith/core/rng.hpp"

namespace kith::given_values_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

GivenTable dense(const RowMatrix& values) { return {.block = DenseBlock(values)}; }

TEST(GivenValues, AreTheMeansOfRowsWithAndWithoutTheSampleItself) {
  const RowMatrix S{{2, 1, 3}, {1, 7, kNan}, {3, 5, 1}};
  const auto all = given_values(dense(S), std::vector<Index>{0, 1, 2});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->least_mean, 1);    // of row 1 without its own pair
  EXPECT_EQ(all->largest_mean, 4);  // of row 1 with it, of row 2 without
  const auto some = given_values(dense(S), std::vector<Index>{2});
  ASSERT_TRUE(some == std::nullopt) << "one row alone has a pair there";
}

TEST(GivenValues, CountPairsThatAreNotKnownOnlyWhereTheyAreZero) {
  SparseBlock block{.cols = 3};
  block.add(1, 6);
  block.end_row();
  block.add(0, 6);
  block.add(2, 2);
  block.end_row();
  block.add(1, 2);
  block.end_row();
  const std::vector<Index> every = {0, 1, 2};
  const auto listed = given_values({.block = block}, every);
  EXPECT_EQ(listed->least_mean, 2);
  EXPECT_EQ(listed->largest_mean, 6);
  const auto zeros = given_values({.block = block, .zeros = true}, every);
  EXPECT_DOUBLE_EQ(zeros->least_mean, 2.0 / 3);
  EXPECT_EQ(zeros->largest_mean, 4);
  block.absent = Absent::kZero;
  EXPECT_DOUBLE_EQ(given_values({.block = block}, every)->least_mean, 2.0 / 3);
}

ModelRecord record_of(Index samples) {
  ModelRecord record;
  record.samples = record.given_samples = samples;
  for (Index i = 0; i < samples; ++i) record.positions.push_back(i);
  record.matrices.push_back({.name = "s", .rule = {}});
  record.matrices.front().given = GivenValues{.least_mean = 2, .largest_mean = 4};
  return record;
}

std::vector<std::string> notes_on(const ModelRecord& record, double value, Index rows) {
  QueryDoubts doubts(record);
  for (Index i = 0; i < rows; ++i) {  // a chunk at a time
    QueryBlock queries;
    queries.matrices.push_back(
        {.to_training = DenseBlock(RowMatrix(RowMatrix::Constant(1, record.samples, value)))});
    doubts.add(queries);
  }
  return doubts.notes(std::vector<std::string>{"new.csv"});
}

TEST(QueryDoubts, TellRowsFarFromThoseOfTraining) {
  const ModelRecord record = record_of(100);
  for (const double like : {2.0, 3.0, 4.0}) EXPECT_THAT(notes_on(record, like, 50), IsEmpty());
  for (const double unlike : {-3.0, 0.5, 6.0, 1e9}) {
    const std::vector<std::string> notes = notes_on(record, unlike, 50);
    ASSERT_EQ(notes.size(), 1U) << unlike;
    EXPECT_THAT(notes.front(), HasSubstr("new.csv: the numbers are unlike"));
    EXPECT_THAT(notes.front(), HasSubstr("[[distance]]"));
  }
}

TEST(QueryDoubts, AreSlowerWithFewRowsAndFewSamples) {
  EXPECT_THAT(notes_on(record_of(100), 4.9, 1), IsEmpty());
  EXPECT_EQ(notes_on(record_of(100), 4.9, 100).size(), 1U);
  EXPECT_THAT(notes_on(record_of(20), 4.4, 100), IsEmpty());
  EXPECT_EQ(notes_on(record_of(20), 4.9, 100).size(), 1U);
  EXPECT_THAT(notes_on(record_of(19), 1e9, 100), IsEmpty());
}

TEST(QueryDoubts, NameTheScoreColumnOfTraining) {
  ModelRecord record = record_of(100);
  record.matrices.front().given->score_column = "evalue";
  EXPECT_THAT(notes_on(record, 100, 10).front(), HasSubstr("[[score-column=evalue]]"));
}

TEST(QueryDoubts, SayNothingOfWhatTheModelDoesNotKnow) {
  ModelRecord record = record_of(30);
  record.matrices.front().given.reset();
  EXPECT_THAT(notes_on(record, 1e9, 10), IsEmpty());
  record = record_of(30);
  EXPECT_THAT(notes_on(record, kNan, 10), IsEmpty());
}

}  // namespace
}  // namespace kith::given_values_test
