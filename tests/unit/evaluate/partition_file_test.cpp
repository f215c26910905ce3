// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "kith/core/error.hpp"
#include "kith/evaluate/partitions.hpp"

namespace kith::partition_file_test {
namespace {

std::string path_of(const std::string& name) { return testing::TempDir() + "partitions_" + name; }

std::string written(const std::string& name, const std::string& text) {
  std::ofstream(path_of(name)) << text;
  return path_of(name);
}

std::string message_of(const std::string& path, const std::vector<std::string>& ids) {
  try {
    (void)read_partitions(path, ids, 4);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::vector<std::string> kIds = {"w", "x", "y", "z"};

TEST(PartitionFile, ComesBackAsItWasWritten) {
  const std::vector<Partition> partitions = {
      {.train = {0, 1, 2}, .test = {3}, .fold_of = {0, 1, 0}},
      {.train = {0, 3}, .test = {1}, .fold_of = {1, 0}}};
  for (const std::vector<std::string>& ids : {kIds, std::vector<std::string>{}}) {
    const std::string path = path_of("round_trip.tsv");
    write_partitions(path, partitions, ids, 4);
    EXPECT_EQ(read_partitions(path, ids, 4), partitions);
  }
}

TEST(PartitionFile, MatchesSamplesByIdInAnyOrder) {
  const std::string path = written("order.tsv", "# ours\nsample\tfirst\nz\ttest\ny\t1\nw\t2\n");
  const std::vector<Partition> partitions = read_partitions(path, kIds, 4);
  ASSERT_EQ(partitions.size(), 1U);
  EXPECT_THAT(partitions[0].train, testing::ElementsAre(0, 2));
  EXPECT_THAT(partitions[0].fold_of, testing::ElementsAre(1, 0));
  EXPECT_THAT(partitions[0].test, testing::ElementsAre(3));
}

TEST(PartitionFile, TakesTheWordTrainWhereFoldsAreDrawn) {
  const std::string path = written(
      "train.tsv", "sample\tfirst\tsecond\nw\ttrain\t2\nx\ttest\t1\ny\ttrain\ttest\nz\t-\t1\n");
  std::vector<std::size_t> asked;
  const FoldsOf folds_of = [&](std::span<const Index> train, std::size_t partition) {
    asked.push_back(partition);
    EXPECT_THAT(train, testing::ElementsAre(0, 2));
    return std::vector<int>{1, 0};
  };
  const std::vector<Partition> partitions = read_partitions(path, kIds, 4, folds_of);
  EXPECT_THAT(asked, testing::ElementsAre(0));
  const std::vector<Partition> expected = {{.train = {0, 2}, .test = {1}, .fold_of = {1, 0}},
                                           {.train = {0, 1, 3}, .test = {2}, .fold_of = {1, 0, 0}}};
  EXPECT_EQ(partitions, expected);
  EXPECT_EQ(message_of(path, kIds), path + ": partition 1 has no folds");
  const std::string mixed = written("mixed.tsv", "sample\t1\nw\ttrain\nx\t1\ny\ttest\n");
  EXPECT_THAT(message_of(mixed, kIds), testing::HasSubstr("`train` beside numbers of folds"));
}

/// The same folds for any training samples.
std::vector<int> by_turns(std::span<const Index> train, std::size_t /*partition*/) {
  std::vector<int> folds;
  for (std::size_t i = 0; i < train.size(); ++i) folds.push_back(static_cast<int>(i % 2));
  return folds;
}

TEST(PartitionFile, TakesAWordForEachSampleInOrder) {
  const std::vector<Partition> expected = {{.train = {0, 2, 3}, .test = {1}, .fold_of = {0, 1, 0}}};
  const std::string list = written("list.txt", "# ours\ntrain\ntest \ntrain\ntrain\n\n");
  EXPECT_EQ(read_partitions(list, kIds, 4, by_turns), expected);
  EXPECT_EQ(read_partitions(list, {}, 4, by_turns), expected);
  const std::string folds = written("folds.txt", "1\ntest\n2\n1\n");
  EXPECT_EQ(read_partitions(folds, {}, 4), expected);
}

TEST(PartitionFile, TakesAWordAfterEachIdInAnyOrder) {
  const std::vector<Partition> expected = {{.train = {0, 2}, .test = {1}, .fold_of = {0, 1}}};
  for (const char* text : {"y\ttrain\nx\ttest\nw\ttrain\n", "y,train\nx, test\nw,train\n",
                           "id\tpart\ny\ttrain\nx\ttest\nw\ttrain\nz\t-\n"}) {
    EXPECT_EQ(read_partitions(written("ids.tsv", text), kIds, 4, by_turns), expected);
  }
}

TEST(PartitionFile, RefusesAListThatDoesNotFit) {
  const std::string few = written("few.txt", "train\ntest\n");
  EXPECT_EQ(message_of(few, kIds),
            few + ": 2 lines for 4 samples; a list without ids has one for each");
  const std::string hole = written("hole.txt", "train\n\ntest\n1\n2\n");
  EXPECT_THAT(message_of(hole, kIds), testing::HasSubstr(hole + ":2: an empty line"));
  const std::string word = written("word.txt", "training\ntest\n1\n2\n");
  EXPECT_THAT(message_of(word, kIds), testing::HasSubstr(word + ":1: \"training\" is no part"));
  const std::string late = written("late.txt", "train\ntest\nboth\n2\n");
  EXPECT_EQ(message_of(late, kIds),
            late + ":3: \"both\" must be `test`, `train`, a fold (1 to 1000) or `-`");
}

TEST(PartitionFile, RefusesAListWhereSamplesHaveNoOrder) {
  const std::string list = written("pairs.txt", "train\ntest\ntrain\ntrain\n");
  try {
    (void)read_partitions(list, kIds, 4, by_turns, "hits.m8");
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("hits.m8 lists pairs of ids"));
    EXPECT_THAT(error.what(), testing::HasSubstr("w<TAB>train"));
  }
}

TEST(PartitionFile, ErrorsNameFileLineValueAndRule) {
  const std::string unknown = written("unknown.tsv", "sample\t1\nv\ttest\n");
  EXPECT_EQ(message_of(unknown, kIds), unknown + ":2:1: \"v\" is not among the samples");
  const std::string cell = written("cell.tsv", "sample\t1\nw\tboth\n");
  EXPECT_EQ(message_of(cell, kIds),
            cell + ":2:3: \"both\" must be `test`, `train`, a fold (1 to 1000) or `-`");
  const std::string twice = written("twice.tsv", "sample\t1\nw\t1\nw\t2\n");
  EXPECT_EQ(message_of(twice, kIds), twice + ":3: sample \"w\" stands twice");
  const std::string ragged = written("ragged.tsv", "sample\t1\t2\nw\t1\n");
  EXPECT_EQ(message_of(ragged, kIds), ragged + ":2: 2 cells; the first line has 3");
  const std::string empty = written("empty.tsv", "");
  EXPECT_EQ(message_of(empty, kIds), empty + ": the file is empty; partitions were expected");
  const std::string position = written("position.tsv", "sample\t1\n5\t1\n");
  EXPECT_EQ(message_of(position, {}),
            position + ":2:1: \"5\" must be the position of a sample, 1 to 4");
  const std::string untested = written("untested.tsv", "sample\t1\nw\t1\nx\t2\n");
  EXPECT_EQ(message_of(untested, kIds), untested + ": partition 1: no sample is for testing");
}

}  // namespace
}  // namespace kith::partition_file_test
