// SPDX-License-Identifier: Apache-2.0
// No group on both sides of a split, whatever the groups are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "kith/evaluate/experiment.hpp"
#include "kith/evaluate/selection.hpp"
#include "kith/pipeline/trained_model.hpp"
#include "support/experiments.hpp"
#include "support/files.hpp"

namespace kith::grouped_partitions_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// `classes[i]` and `groups[i]` of each sample.
Labels labels_of(const std::vector<int>& classes, const std::vector<int>& groups) {
  Labels labels = test::numbered_labels(classes);
  std::vector<std::string> names;
  names.reserve(groups.size());
  for (const int group : groups) names.push_back("g" + std::to_string(group));
  set_groups(labels, make_groups(names), "groups");
  return labels;
}

/// Groups of up to `most` samples, of one class or of any.
Labels random_labels(Rng& rng, int groups, int classes, std::uint64_t most, bool pure) {
  std::vector<int> of_class, of_group;
  for (int g = 0; g < groups; ++g) {
    for (std::uint64_t k = 0; k < 1 + rng.below(most); ++k) {
      of_group.push_back(g);
      of_class.push_back(pure ? g % classes
                              : static_cast<int>(rng.below(static_cast<std::uint64_t>(classes))));
    }
  }
  return labels_of(of_class, of_group);
}

std::set<int> groups_at(const Labels& labels, std::span<const Index> samples) {
  std::set<int> found;
  for (const Index i : samples) found.insert(labels.groups.ids[static_cast<std::size_t>(i)]);
  return found;
}

void expect_whole(const Labels& labels, const Partition& partition) {
  std::map<int, std::set<int>> places;
  for (const Index i : partition.test) {
    places[labels.groups.ids[static_cast<std::size_t>(i)]].insert(-1);
  }
  for (std::size_t i = 0; i < partition.train.size(); ++i) {
    places[labels.groups.ids[static_cast<std::size_t>(partition.train[i])]].insert(
        partition.fold_of[i]);
  }
  for (const auto& [group, where] : places) EXPECT_EQ(where.size(), 1U) << "group " << group;
}

TEST(GroupedPartitions, NeverPartAGroup) {
  Rng rng(1);
  for (int round = 0; round < 150; ++round) {
    const int classes = static_cast<int>(2 + rng.below(3));
    const Labels labels = random_labels(rng, static_cast<int>(24 + rng.below(40)), classes,
                                        1 + rng.below(8), round % 2 == 0);
    PartitionSettings settings{.repeats = 3, .folds = static_cast<Index>(2 + rng.below(4))};
    settings.test_fraction = 0.1 + 0.4 * rng.uniform();
    settings.stratify = round % 3 == 0   ? Stratify::kNo
                        : round % 3 == 1 ? Stratify::kAuto
                                         : Stratify::kYes;
    const std::vector<Partition> partitions = draw_partitions(labels, settings, RngStreams(7));
    check_partitions(partitions, labels.size());
    for (const Partition& partition : partitions) {
      expect_whole(labels, partition);
      EXPECT_EQ(partition.folds(), settings.folds);
      EXPECT_EQ(std::ssize(partition.train) + std::ssize(partition.test), labels.size());
    }
  }
}

TEST(GroupedPartitions, HaveTestPartsOfTheAskedSizeToHalfAGroup) {
  Rng rng(2);
  for (int round = 0; round < 100; ++round) {
    const Labels labels = random_labels(rng, 60, 2, 5, true);
    const PartitionSettings settings{.repeats = 3, .folds = 5, .test_fraction = 0.25};
    const double wanted = std::round(0.25 * static_cast<double>(labels.size()));
    for (const Partition& partition : draw_partitions(labels, settings, RngStreams(3))) {
      // The largest group has 5 samples, and what stratifies may be as far off in each class.
      EXPECT_NEAR(static_cast<double>(partition.test.size()), wanted, 5);
    }
  }
}

TEST(GroupedPartitions, MeetTheSizeExactlyWhereGroupsAreSmall) {
  std::vector<int> classes, groups;
  for (int i = 0; i < 100; ++i) {
    classes.push_back(i % 4 == 0 ? 1 : 0);
    groups.push_back(i < 60 ? i / 2 : i);  // 30 pairs, the others stand for themselves
  }
  const Labels labels = labels_of(classes, groups);
  for (const Partition& partition : draw_partitions(labels, {.folds = 5}, RngStreams(4))) {
    EXPECT_NEAR(static_cast<double>(partition.test.size()), 20, 1);
  }
}

TEST(GroupedPartitions, KeepTheSharesOfTheClassesCloserThanChance) {
  Rng rng(5);
  const auto distance = [](const Labels& labels, const Partition& partition) {
    const std::vector<Index> all = labels.counts();
    const std::vector<Index> tested = select(labels, partition.test).counts();
    double sum = 0;
    for (std::size_t c = 0; c < all.size(); ++c) {
      sum += std::pow(static_cast<double>(tested[c]) / static_cast<double>(all[c]) - 0.2, 2);
    }
    return sum;
  };
  double kept = 0, random = 0;
  for (int round = 0; round < 40; ++round) {
    const Labels labels = random_labels(rng, 60, 3, 4, round % 2 == 0);
    for (const Stratify rule : {Stratify::kAuto, Stratify::kNo}) {
      const PartitionSettings settings{.repeats = 4, .folds = 3, .stratify = rule};
      for (const Partition& one : draw_partitions(labels, settings, RngStreams(6))) {
        (rule == Stratify::kAuto ? kept : random) += distance(labels, one);
      }
    }
  }
  EXPECT_LT(kept, 0.2 * random);
}

TEST(GroupedPartitions, TestEveryGroupInTurn) {
  Rng rng(7);
  const Labels labels = random_labels(rng, 30, 2, 3, true);
  std::map<int, int> tested;
  const PartitionSettings settings{.repeats = 200, .folds = 4};
  for (const Partition& one : draw_partitions(labels, settings, RngStreams(8))) {
    for (const int group : groups_at(labels, one.test)) ++tested[group];
  }
  ASSERT_EQ(tested.size(), 30U);
  for (const auto& [group, count] : tested) {
    EXPECT_GT(count, 10) << "group " << group << " of a fifth of 200";
    EXPECT_LT(count, 80) << "group " << group;
  }
}

TEST(GroupedPartitions, KeepEveryClassForTrainingAndOutsideEveryFold) {
  Rng rng(9);
  for (int round = 0; round < 60; ++round) {
    const Labels labels = random_labels(rng, 12 + 3 * static_cast<int>(rng.below(6)), 3, 4, true);
    const PartitionSettings settings{.repeats = 3, .folds = 3, .test_fraction = 0.4};
    for (const Partition& partition : draw_partitions(labels, settings, RngStreams(10))) {
      for (int f = 0; f < 3; ++f) {
        std::vector<Index> outside;
        for (std::size_t i = 0; i < partition.train.size(); ++i) {
          if (partition.fold_of[i] != f) outside.push_back(partition.train[i]);
        }
        EXPECT_THAT(select(labels, outside).counts(), testing::Each(testing::Ge(1)));
      }
    }
  }
}

TEST(GroupedPartitions, MoreRepeatsLeaveTheFirstOnesAsTheyWere) {
  Rng rng(11);
  const Labels labels = random_labels(rng, 30, 2, 3, true);
  const auto few = draw_partitions(labels, {.repeats = 3, .folds = 4}, RngStreams(12));
  const auto many = draw_partitions(labels, {.repeats = 9, .folds = 4}, RngStreams(12));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  EXPECT_NE(many[0], many[1]);
}

TEST(GroupedPartitions, OfSingleSamplesAreThoseWithoutGroups) {
  std::vector<int> classes, groups;
  for (int i = 0; i < 40; ++i) {
    classes.push_back(i % 3 == 0 ? 1 : 0);
    groups.push_back(100 - i);
  }
  for (const Stratify rule : {Stratify::kAuto, Stratify::kYes, Stratify::kNo, Stratify::kEqual}) {
    const PartitionSettings settings{.folds = 5, .stratify = rule};
    EXPECT_EQ(draw_partitions(labels_of(classes, groups), settings, RngStreams(13)),
              draw_partitions(test::numbered_labels(classes), settings, RngStreams(13)));
  }
}

std::string refusal(const Labels& labels, const PartitionSettings& settings) {
  return error_of(ErrorCode::kInvalidArgument,
                  [&] { (void)draw_partitions(labels, settings, RngStreams(1)); });
}

TEST(GroupedPartitions, RefuseWhatCannotBe) {
  const std::vector<int> classes = {0, 1, 0, 1, 0, 1, 0, 1};
  EXPECT_THAT(refusal(labels_of(classes, {0, 0, 1, 1, 2, 2, 3, 3}), {.folds = 4}),
              AllOf(HasSubstr("4 groups"), HasSubstr("4 folds"), HasSubstr("5 or more")));
  EXPECT_THAT(refusal(labels_of(classes, {0, 0, 1, 1, 2, 2, 3, 4}),
                      {.folds = 2, .stratify = Stratify::kEqual}),
              HasSubstr("[[stratify=equal]]"));
  // The second class stands in one group: where it is held out, only the first is left.
  EXPECT_THAT(refusal(labels_of({0, 0, 0, 0, 0, 0, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 6}), {.folds = 3}),
              AllOf(HasSubstr("class \"c1\""), HasSubstr("so few groups")));
}

TEST(GroupedPartitions, NameTheGroupThatGivenOnesPart) {
  const test::Sample sample = test::make_sample(12, 0, 2, 1);
  MatchedSets tables = test::tables_of(sample.S);
  for (int i = 0; i < 12; ++i) tables.ids.push_back("s" + std::to_string(i));
  const Labels labels = labels_of(sample.classes, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  RunContext ctx;
  const ExperimentData data = make_experiment_data(tables, labels, {}, ctx);
  const TempFolder folder;
  const auto read = [&](std::initializer_list<const char*> words) {
    std::string text;
    for (const char* word : words) text += std::string(word) + "\n";
    (void)read_partitions(folder.file("p.txt", text), data, {.folds = 2}, RngStreams(1));
  };
  EXPECT_THAT(
      error_of(ErrorCode::kBadInput,
               [&] {
                 read({"test", "test", "1", "1", "2", "test", "1", "1", "2", "2", "1", "1"});
               }),
      AllOf(HasSubstr("p.txt"), HasSubstr("partition 1"), HasSubstr("\"g2\""),
            HasSubstr("sample \"s5\" in the test part"),
            HasSubstr("sample \"s4\" in the training part")));
  EXPECT_THAT(error_of(ErrorCode::kBadInput,
                       [&] {
                         read({"test", "test", "1", "2", "2", "2", "1", "1", "2", "2", "1", "1"});
                       }),
              AllOf(HasSubstr("\"g1\""), HasSubstr("two folds"),
                    HasSubstr("sample \"s2\" in fold 1, sample \"s3\" in fold 2")));
  // Folds that a file leaves open are drawn with the groups.
  read({"test", "test", "train", "train", "train", "train", "train", "train", "train", "train",
        "train", "train"});
  ExperimentPlan plan = test::plan_of(data, {"knn"}, {.repeats = 1, .folds = 2});
  std::swap(plan.partitions[0].test.front(), plan.partitions[0].train.front());
  Store store(":memory:");
  EXPECT_THROW((void)run_experiment(data, plan, store, NewData::kRefuse, ctx), Error);
}

TEST(GroupedExperiment, IsInTheFingerprintAndTheRecord) {
  const test::Sample sample = test::make_sample(40, 0, 2, 2);
  ExperimentData plain = test::data_of(sample.S, sample.classes);
  ExperimentData grouped = plain;
  std::vector<int> groups;
  groups.reserve(40);
  for (int i = 0; i < 40; ++i) groups.push_back(i / 4);
  grouped.labels = labels_of(sample.classes, groups);
  EXPECT_NE(fingerprint(plain), fingerprint(grouped));
  ExperimentData others = grouped;
  groups[0] = 9;
  others.labels = labels_of(sample.classes, groups);
  EXPECT_NE(fingerprint(others), fingerprint(grouped));
  Store store(":memory:");
  RunContext ctx;
  const ExperimentPlan plan = test::plan_of(grouped, {"knn"}, {.repeats = 2, .folds = 3});
  const std::int64_t number =
      run_experiment(grouped, plan, store, NewData::kRefuse, ctx).experiment;
  EXPECT_EQ(store.experiment(number).labels.groups.ids, grouped.labels.groups.ids);
  EXPECT_EQ(store.experiment(number).labels.groups.names, grouped.labels.groups.names);
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         const ExperimentPlan other =
                             test::plan_of(plain, {"knn"}, {.repeats = 2, .folds = 3});
                         (void)run_experiment(plain, other, store, NewData::kRefuse, ctx);
                       }),
              HasSubstr("groups in the store and none now"));
}

/// Twins of a sample, one of each pair in the other class: whoever sees a twin is misled.
TEST(GroupedSelection, HoldsOutTwinsTogether) {
  const test::Sample half = test::make_sample(40, 0, 2, 3, test::Likeness::kGaussian, 0.4);
  std::vector<Index> twice;
  std::vector<int> classes, groups;
  for (Index i = 0; i < 40; ++i) {
    for (int k = 0; k < 2; ++k) {
      twice.push_back(i);
      classes.push_back((half.classes[static_cast<std::size_t>(i)] + (i % 8 < 2 ? 1 : 0)) % 2);
      groups.push_back(static_cast<int>(i));
    }
  }
  const Matrix S = half.S(twice, twice);
  const auto loss_of = [&](bool grouped) {
    ExperimentData data = test::data_of(S, classes);
    if (grouped) data.labels = labels_of(classes, groups);
    std::vector<Candidate> methods = {parse_candidate("knn")};
    fix(methods[0], "neighbours", "1");
    RunContext ctx;
    return select_methods(data, methods, {}, ctx).entries[0].loss;
  };
  // A quarter of the labels are wrong. The twin has the same wrong one.
  EXPECT_LT(loss_of(false), 0.1);
  EXPECT_GT(loss_of(true), 0.2);
}

TEST(GroupedSelection, SaysWhichClassCannotBeHeldOut) {
  const test::Sample sample = test::make_sample(20, 0, 2, 4);
  ExperimentData data = test::data_of(sample.S, sample.classes);
  std::vector<int> groups;
  groups.reserve(20);
  for (int i = 0; i < 20; ++i) groups.push_back(i % 2 == 0 ? 0 : i);
  data.labels = labels_of(sample.classes, groups);
  RunContext ctx;
  const std::vector<Candidate> methods = {parse_candidate("knn")};
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument, [&] { (void)select_methods(data, methods, {}, ctx); }),
      AllOf(HasSubstr("10 samples of class \"c0\""), HasSubstr("so few groups")));
}

TEST(GroupedTraining, IsInTheModelAndItsFile) {
  const test::Sample sample = test::make_sample(30, 0, 2, 5);
  std::vector<int> groups;
  groups.reserve(30);
  for (int i = 0; i < 30; ++i) groups.push_back(i / 3);
  RunContext ctx;
  const PreparedTraining prepared =
      prepare_training(test::tables_of(sample.S), labels_of(sample.classes, groups), {}, ctx);
  const Training training = train(prepared, parse_method("svm-clip"), ctx);
  EXPECT_EQ(training.model.record.groups, 10);
  const TrainedModel loaded = load_trained_bytes(trained_bytes(training.model), "m");
  EXPECT_EQ(loaded.record.groups, 10);
  EXPECT_EQ(model_json(loaded).at("groups"), 10);
}

}  // namespace
}  // namespace kith::grouped_partitions_test
