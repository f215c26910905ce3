// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/partitions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "kith/core/error.hpp"

namespace kith::partitions_test {
namespace {

Labels labels_of(std::initializer_list<int> counts) {
  Labels labels;
  for (const int count : counts) {
    labels.ids.insert(labels.ids.end(), static_cast<std::size_t>(count),
                      static_cast<int>(labels.names.size()));
    labels.names.emplace_back(1, static_cast<char>('a' + labels.names.size()));
  }
  return labels;
}

TEST(Partitions, TestPartsHaveTheRoundedSizeOfTheProtocol) {
  // 43 of 213, 87 of 435 and 29 of 144 are the printed decimals of [TR].
  for (const auto& [samples, test] : {std::pair{213, 43}, {435, 87}, {144, 29}, {100, 20}}) {
    const std::vector<Partition> partitions =
        draw_partitions(labels_of({samples / 2, samples - samples / 2}), {}, RngStreams(1));
    ASSERT_EQ(partitions.size(), 20U);
    check_partitions(partitions, samples);
    for (const Partition& partition : partitions) {
      EXPECT_EQ(partition.test.size(), static_cast<std::size_t>(test));
      EXPECT_EQ(partition.train.size(), static_cast<std::size_t>(samples - test));
      EXPECT_EQ(partition.folds(), 10);
    }
  }
}

TEST(Partitions, EqualClassesHaveTheTestPartsOfThePrintedDecimals) {
  // [KTBB] Table 1: accuracies are multiples of 1 / (5 * 2 * tests) for sonar, ionosphere,
  // diabetes.
  for (const auto& [small, large, tests] :
       {std::tuple{97, 111, 20}, {126, 225, 26}, {268, 500, 54}, {145, 200, 29}}) {
    const Labels labels = labels_of({large, small});
    const std::vector<Partition> partitions = draw_partitions(
        labels, {.repeats = 5, .folds = 5, .stratify = Stratify::kEqual}, RngStreams(3));
    check_partitions(partitions, labels.size());
    for (const Partition& partition : partitions) {
      EXPECT_THAT(select(labels, partition.test).counts(), testing::Each(tests));
      const Labels train = select(labels, partition.train);
      EXPECT_THAT(train.counts(), testing::Each(small - tests));
      for (int f = 0; f < 5; ++f) {
        std::vector<Index> inside(2, 0);
        for (std::size_t i = 0; i < train.ids.size(); ++i) {
          if (partition.fold_of[i] == f) ++inside[static_cast<std::size_t>(train.ids[i])];
        }
        EXPECT_LE(std::abs(inside[0] - inside[1]), 1) << "a fold of unequal classes";
      }
    }
    EXPECT_NE(partitions[0], partitions[1]);
  }
}

TEST(Partitions, EqualClassesNeedTwoSamplesOfEachAndEnoughForTheFolds) {
  EXPECT_THROW(
      (void)draw_partitions(labels_of({40, 1}), {.stratify = Stratify::kEqual}, RngStreams(1)),
      Error);
  EXPECT_THROW((void)draw_partitions(labels_of({40, 4}),
                                     {.folds = 10, .stratify = Stratify::kEqual}, RngStreams(1)),
               Error);
}

TEST(Partitions, MoreRepeatsLeaveTheFirstOnesAsTheyWere) {
  const Labels labels = labels_of({30, 20});
  const std::vector<Partition> few = draw_partitions(labels, {.repeats = 3}, RngStreams(5));
  const std::vector<Partition> many = draw_partitions(labels, {.repeats = 9}, RngStreams(5));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(many[0], many[1]);
  EXPECT_NE(draw_partitions(labels, {.repeats = 3}, RngStreams(6)), few);
}

TEST(Partitions, AutoKeepsEveryClassOfTwoInEveryTrainingPart) {
  const Labels labels = labels_of({40, 2, 2, 2, 1});
  for (const Partition& partition : draw_partitions(labels, {.repeats = 50}, RngStreams(1))) {
    const Labels train = select(labels, partition.train);
    EXPECT_THAT(train.counts(), testing::Each(testing::Ge(1)));
    EXPECT_EQ(partition.test.size(), 9U);
    for (int f = 0; f < partition.folds(); ++f) {
      std::vector<Index> outside(5, 0);
      for (std::size_t i = 0; i < train.ids.size(); ++i) {
        if (partition.fold_of[i] != f) ++outside[static_cast<std::size_t>(train.ids[i])];
      }
      for (std::size_t c = 0; c < outside.size(); ++c) {
        if (train.counts()[c] >= 2) {
          EXPECT_GE(outside[c], 1);
        }
      }
    }
  }
}

TEST(Partitions, StratifiedPartsKeepTheSharesOfTheClasses) {
  const Labels labels = labels_of({50, 30, 20});
  for (const Partition& partition :
       draw_partitions(labels, {.repeats = 20, .stratify = Stratify::kYes}, RngStreams(2))) {
    EXPECT_THAT(select(labels, partition.test).counts(), testing::ElementsAre(10, 6, 4));
  }
}

TEST(Partitions, WithoutStratificationSharesVary) {
  const Labels labels = labels_of({50, 50});
  std::vector<Index> first_class;
  for (const Partition& partition :
       draw_partitions(labels, {.stratify = Stratify::kNo}, RngStreams(2))) {
    first_class.push_back(select(labels, partition.test).counts()[0]);
  }
  EXPECT_GT(*std::max_element(first_class.begin(), first_class.end()),
            *std::min_element(first_class.begin(), first_class.end()));
}

TEST(Partitions, RefuseSizesThatCannotBe) {
  const Labels labels = labels_of({4, 4});
  EXPECT_THROW((void)draw_partitions(labels, {.folds = 7}, RngStreams(1)), Error);
  EXPECT_THROW((void)draw_partitions(labels, {.folds = 2, .test_fraction = 0.01}, RngStreams(1)),
               Error);
  EXPECT_THROW((void)draw_partitions(labels, {.repeats = 0}, RngStreams(1)), Error);
}

TEST(Partitions, ChecksNameThePartitionAndTheRule) {
  const Partition good{.train = {0, 1, 2}, .test = {3}, .fold_of = {0, 1, 0}};
  check_partitions(std::vector{good}, 4);
  const auto message = [](const Partition& partition) -> std::string {
    try {
      check_partitions(std::vector{partition}, 4);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  Partition bad = good;
  bad.test = {2};
  EXPECT_EQ(message(bad), "partition 1: sample 3 stands twice");
  bad = good;
  bad.test = {4};
  EXPECT_EQ(message(bad), "partition 1: sample 5 is not among the 4 samples");
  bad = good;
  bad.fold_of = {0, 2, 0};
  EXPECT_EQ(message(bad), "partition 1: fold 2 of 3 has no sample");
  bad = good;
  bad.fold_of = {0, 0, 0};
  EXPECT_EQ(message(bad), "partition 1: its training samples are in fewer than two folds");
}

}  // namespace
}  // namespace kith::partitions_test
