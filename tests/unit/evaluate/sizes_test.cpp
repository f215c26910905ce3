// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "kith/evaluate/learning_curve.hpp"
#include "support/experiments.hpp"
#include "support/files.hpp"

namespace kith::sizes_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Sizes, AreSharesOrNumbers) {
  EXPECT_EQ(parse_size("20%"), (TrainingSize{.share = 0.2}));
  EXPECT_EQ(parse_size(" 12.5 % "), (TrainingSize{.share = 0.125}));
  EXPECT_EQ(parse_size("50"), (TrainingSize{.share = 1, .samples = 50}));
  for (const char* text : {"10%", "0.1%", "12.5%", "100%", "7", "1000000"}) {
    EXPECT_EQ(size_text(parse_size(text)), text);
  }
  for (const char* text : {"", "0", "0%", "101%", "-5", "0.2", "a", "5 5", "%"}) {
    EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { (void)parse_size(text); }),
                HasSubstr("such as 20%"));
  }
  EXPECT_EQ(parse_sizes("10%,50").size(), 2U);
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [] { (void)parse_sizes("10%,50,10.0%"); }),
              HasSubstr("10% stands twice"));
}

Labels labels_of(std::initializer_list<int> counts) {
  std::vector<int> classes;
  int c = 0;
  for (const int count : counts) {
    for (int i = 0; i < count; ++i) classes.push_back(c);
    ++c;
  }
  return test::numbered_labels(classes);
}

Labels with_groups(Labels labels, int size) {
  std::vector<std::string> names;
  for (Index i = 0; i < labels.size(); ++i) names.push_back(std::to_string(i / size));
  set_groups(labels, make_groups(names), "groups");
  return labels;
}

std::vector<SizedPartitions> drawn(const std::vector<Partition>& partitions, const Labels& labels,
                                   std::string_view sizes, Stratify rule = Stratify::kAuto) {
  return draw_sizes(partitions, labels, parse_sizes(sizes), rule, RngStreams(1));
}

/// Whether one partition has some of the training samples of the other, and the same test part.
void expect_within(const Partition& small, const Partition& large) {
  EXPECT_EQ(small.test, large.test);
  EXPECT_LT(small.train.size(), large.train.size());
  EXPECT_TRUE(std::ranges::includes(large.train, small.train));
  EXPECT_TRUE(std::ranges::is_sorted(small.train));
}

TEST(Sizes, AreNestedAndOfTheNumberThatWasAskedFor) {
  const Labels labels = labels_of({70, 40, 15});
  const std::vector<Partition> partitions =
      draw_partitions(labels, {.repeats = 6, .folds = 4}, RngStreams(2));
  for (const Stratify rule : {Stratify::kAuto, Stratify::kNo}) {
    const std::vector<SizedPartitions> sizes =
        drawn(partitions, labels, "18%,25%,40,70%,100%", rule);
    ASSERT_EQ(sizes.size(), 4U);  // all training samples are there already
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
        expect_within(sizes[k].partitions[p], sizes[k + 1].partitions[p]);
      }
      expect_within(sizes.back().partitions[p], partitions[p]);
      EXPECT_EQ(sizes[0].partitions[p].train.size(), 18U);
      EXPECT_EQ(sizes[1].partitions[p].train.size(), 25U);
      EXPECT_EQ(sizes[2].partitions[p].train.size(), 40U);
      EXPECT_EQ(sizes[3].partitions[p].train.size(), 70U);
    }
    for (const SizedPartitions& one : sizes) check_partitions(one.partitions, labels.size());
  }
}

TEST(Sizes, DoNotDependOnWhichOthersAreDrawn) {
  const Labels labels = labels_of({50, 50});
  const std::vector<Partition> partitions =
      draw_partitions(labels, {.repeats = 3, .folds = 4}, RngStreams(2));
  const std::vector<SizedPartitions> all = drawn(partitions, labels, "20%,50%,70%");
  EXPECT_EQ(drawn(partitions, labels, "50%")[0].partitions, all[1].partitions);
  EXPECT_NE(draw_sizes(partitions, labels, parse_sizes("50%"), Stratify::kAuto, RngStreams(2))[0]
                .partitions,
            all[1].partitions);
  EXPECT_NE(all[1].partitions[0].train, all[1].partitions[1].train);
}

TEST(Sizes, KeepTheSharesOfTheClasses) {
  const Labels labels = labels_of({120, 60, 20});
  const std::vector<Partition> partitions =
      draw_partitions(labels, {.repeats = 4, .folds = 4}, RngStreams(3));
  for (const SizedPartitions& size : drawn(partitions, labels, "20%,35%,60%,90%")) {
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      const std::vector<Index> all = select(labels, partitions[p].train).counts();
      const Partition& own = size.partitions[p];
      const std::vector<Index> counts = select(labels, own.train).counts();
      for (std::size_t c = 0; c < all.size(); ++c) {
        const double wanted = static_cast<double>(all[c] * std::ssize(own.train)) /
                              static_cast<double>(partitions[p].train.size());
        EXPECT_NEAR(static_cast<double>(counts[c]), wanted, 2) << size.size;
      }
    }
  }
}

TEST(Sizes, KeepTwoSamplesOfEachClassThatHasThem) {
  const Labels labels = labels_of({90, 5, 5});
  const std::vector<Partition> partitions =
      draw_partitions(labels, {.repeats = 10, .folds = 3}, RngStreams(4));
  for (const SizedPartitions& size : drawn(partitions, labels, "8,10%,20%")) {
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      const std::vector<Index> there = select(labels, partitions[p].train).counts();
      const std::vector<Index> kept = select(labels, size.partitions[p].train).counts();
      for (std::size_t c = 0; c < kept.size(); ++c) {
        EXPECT_GE(kept[c], std::min<Index>(2, there[c])) << size.size;
      }
    }
  }
}

TEST(Sizes, NeverPartAGroup) {
  const Labels labels = with_groups(labels_of({60, 60}), 5);
  const std::vector<Partition> partitions =
      draw_partitions(labels, {.repeats = 5, .folds = 3}, RngStreams(5));
  const std::vector<SizedPartitions> sizes = drawn(partitions, labels, "20%,50%,80%");
  for (const SizedPartitions& size : sizes) {
    check_groups(size.partitions, labels.groups, [](Index i) { return std::to_string(i); });
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      const Partition& one = size.partitions[p];
      std::set<int> inside;
      for (const Index i : one.train) {
        inside.insert(labels.groups.ids[static_cast<std::size_t>(i)]);
      }
      for (const Index i : partitions[p].train) {  // whole: all training samples of a group
        if (inside.contains(labels.groups.ids[static_cast<std::size_t>(i)])) {
          EXPECT_TRUE(std::ranges::binary_search(one.train, i));
        }
      }
      const double share = parse_size(size.size).share;
      EXPECT_NEAR(static_cast<double>(one.train.size()),
                  share * static_cast<double>(partitions[p].train.size()), 2.5);
    }
  }
}

TEST(Sizes, AreRefusedWhereTheyCannotBe) {
  const Labels labels = labels_of({30, 30});
  const std::vector<Partition> partitions =
      draw_partitions(labels, {.repeats = 2, .folds = 5}, RngStreams(6));
  const auto refusal = [&](const Labels& own, const std::vector<Partition>& given,
                           std::string_view sizes) {
    return error_of(ErrorCode::kInvalidArgument, [&] { (void)drawn(given, own, sizes); });
  };
  EXPECT_THAT(refusal(labels, partitions, "50%,5%"),
              AllOf(HasSubstr("5% of partition 1 is 2 training samples"), HasSubstr("5 folds"),
                    HasSubstr("larger size or fewer folds")));
  EXPECT_THAT(refusal(labels, partitions, "49"),
              AllOf(HasSubstr("49 training samples"), HasSubstr("partition 1 has 48")));
  const Labels grouped = with_groups(labels, 5);
  const std::vector<Partition> of_groups =
      draw_partitions(grouped, {.repeats = 2, .folds = 5}, RngStreams(6));
  EXPECT_THAT(refusal(grouped, of_groups, "20%"), HasSubstr("of 2 groups"));
}

TEST(SizedExperiment, LeavesThePlainOneAsItIsAndSharesItsUnits) {
  const test::Sample sample = test::make_sample(60, 0, 3, 1);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  ExperimentPlan plan = test::plan_of(data, {"knn", "svm-clip", "mixture-sda"});
  const std::string plain = test::run(data, plan);
  plan.sizes = drawn(plan.partitions, data.labels, "30%,60%,100%");
  Store store(":memory:");
  RunContext ctx;
  const std::int64_t number = run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
  EXPECT_EQ(test::everything(store, number), plain);
  const LearningCurve curve = learning_curve(store, number);
  ASSERT_EQ(curve.points.size(), 3U);
  EXPECT_EQ(curve.points.back().size, "100%");
  const ExperimentRecord record = store.experiment(number);
  const std::vector<std::int64_t> candidates = store.candidates(number);
  for (std::size_t m = 0; m < candidates.size(); ++m) {
    const SizedMethod& last = curve.points.back().methods[m];
    ASSERT_EQ(last.errors.size(), plan.partitions.size());
    for (int p = 0; p < static_cast<int>(plan.partitions.size()); ++p) {
      const Partition& partition = plan.partitions[static_cast<std::size_t>(p)];
      const TestResult test = *store.test_result({candidates[m], p, kTestFold});
      Index wrong = 0;
      for (std::size_t i = 0; i < partition.test.size(); ++i) {
        wrong += test.prediction.labels[i] !=
                 record.labels.ids[static_cast<std::size_t>(partition.test[i])];
      }
      EXPECT_EQ(last.errors[static_cast<std::size_t>(p)],
                static_cast<double>(wrong) / static_cast<double>(partition.test.size()));
    }
  }
}

/// A size is what an experiment finds whose partitions have these training samples, of methods that
/// draw nothing at random.
TEST(SizedExperiment, IsThatOfItsTrainingSamplesAlone) {
  const test::Sample sample = test::make_sample(60, 0, 2, 2);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  ExperimentPlan plan = test::plan_of(data, {"knn", "svm-clip", "features-fisher"});
  plan.sizes = drawn(plan.partitions, data.labels, "40%");
  Store one(":memory:");
  Store two(":memory:");
  RunContext ctx;
  const std::int64_t a = run_experiment(data, plan, one, NewData::kRefuse, ctx).experiment;
  ExperimentPlan alone = plan;
  alone.partitions = plan.sizes[0].partitions;
  alone.sizes.clear();
  const std::int64_t b = run_experiment(data, alone, two, NewData::kRefuse, ctx).experiment;
  const int partitions = static_cast<int>(plan.partitions.size());
  for (const std::int64_t c : one.candidates(a)) {
    for (int p = 0; p < partitions; ++p) {
      const int number = unit_partition(1, p, partitions);
      for (int f = 0; f < alone.partitions[static_cast<std::size_t>(p)].folds(); ++f) {
        EXPECT_EQ(one.fold_result({c, number, f})->losses, two.fold_result({c, p, f})->losses)
            << one.candidate(c).name << " on " << p << ", fold " << f;
      }
      EXPECT_EQ(one.test_result({c, number, kTestFold})->prediction.labels,
                two.test_result({c, p, kTestFold})->prediction.labels);
    }
  }
  EXPECT_EQ(a, b);
}

std::string curve_of(const ExperimentData& data, const ExperimentPlan& plan, int threads) {
  Store store(":memory:");
  RunContext ctx;
  ctx.threads = threads;
  const std::int64_t number = run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
  return sizes_json(learning_curve(store, number)).dump();
}

TEST(SizedExperiment, GivesTheSameOnAnyNumberOfThreads) {
  const test::Sample sample = test::make_sample(60, 0, 2, 3);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  ExperimentPlan plan = test::plan_of(data, {"knn", "svm-clip", "mixture-sda", "ridge"});
  plan.sizes = drawn(plan.partitions, data.labels, "25%,50%");
  const std::string once = curve_of(data, plan, 1);
  EXPECT_EQ(curve_of(data, plan, 2), once);
  EXPECT_EQ(curve_of(data, plan, 7), once);
}

TEST(SizedExperiment, GoesOnWhereItEndedAndTakesFurtherSizes) {
  const test::Sample sample = test::make_sample(60, 0, 2, 4);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  ExperimentPlan plan = test::plan_of(data, {"knn", "svm-clip"});
  plan.sizes = drawn(plan.partitions, data.labels, "25%,50%");
  Store whole(":memory:");
  RunContext ctx;
  const auto number = run_experiment(data, plan, whole, NewData::kRefuse, ctx).experiment;
  const std::string expected = sizes_json(learning_curve(whole, number)).dump();

  Store store(":memory:");
  test::run_interrupted(data, plan, store, 40);
  const std::vector<SizedPartitions> both = plan.sizes;
  plan.sizes = {both[1]};
  (void)run_experiment(data, plan, store, NewData::kRefuse, ctx);
  EXPECT_EQ(store.sizes(number).size(), 2U);
  plan.sizes = both;
  (void)run_experiment(data, plan, store, NewData::kRefuse, ctx);
  EXPECT_EQ(sizes_json(learning_curve(store, number)).dump(), expected);
  std::swap(plan.sizes[0].partitions, plan.sizes[1].partitions);
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { (void)run_experiment(data, plan, store, NewData::kRefuse, ctx); }),
              HasSubstr("other training samples of size 25%"));
}

TEST(SizedExperiment, AFailureEndsAMethodAtItsSizeAlone) {
  const test::Sample sample = test::make_sample(60, 0, 2, 5);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  ExperimentPlan plan = test::plan_of(data, {"knn", "svm"});
  fix(plan.candidates[1], "scope", "pair");
  fix(plan.candidates[1], "test-treatment", "augmented");  // which needs scope all
  plan.sizes = drawn(plan.partitions, data.labels, "25%,50%");
  Store store(":memory:");
  RunContext ctx;
  const ExperimentRun run = run_experiment(data, plan, store, NewData::kRefuse, ctx);
  std::vector<std::string> sizes;
  for (const UnitFailure& one : run.failures) {
    EXPECT_EQ(one.name, "svm");
    sizes.push_back(one.size);
  }
  EXPECT_THAT(sizes, ElementsAre("", "25%", "50%"));
  EXPECT_EQ(failures_json(run.failures)[1].at("size"), "25%");
  for (const CurvePoint& point : learning_curve(store, run.experiment).points) {
    EXPECT_EQ(point.methods[0].partitions.size(), 3U);
    EXPECT_THAT(point.methods[1].partitions, IsEmpty());
  }
}

TEST(LearningCurve, IsThereOnlyWhereSizesWereAskedFor) {
  const test::Sample sample = test::make_sample(40, 0, 2, 6);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  const ExperimentPlan plan = test::plan_of(data, {"knn"});
  Store store(":memory:");
  RunContext ctx;
  const auto number = run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
  EXPECT_THAT(learning_curve(store, number).points, IsEmpty());
  EXPECT_TRUE(sizes_json(learning_curve(store, number)).is_null());
}

/// Two far clouds: a handful of samples is enough, and no more can help.
TEST(LearningCurve, SaysWhatTheLastStepShows) {
  const test::Sample easy = test::make_sample(100, 0, 2, 7, test::Likeness::kGaussian, 0.1);
  const ExperimentData data = test::data_of(easy.S, easy.classes);
  ExperimentPlan plan = test::plan_of(data, {"knn"}, {.repeats = 6, .folds = 3});
  plan.sizes = drawn(plan.partitions, data.labels, "30%,50%");
  Store store(":memory:");
  RunContext ctx;
  const auto number = run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
  const LearningCurve curve = learning_curve(store, number);
  EXPECT_EQ(curve.gain.method, "knn");
  EXPECT_LE(curve.gain.fall.low, 0);
  EXPECT_GE(curve.gain.fall.high, 0);
  EXPECT_THAT(curve.note, AllOf(HasSubstr("From 40 to 80 training samples"),
                                HasSubstr("does not show that more samples would help"),
                                HasSubstr("no change, 0 points, is within the interval")));
  const Json sizes = sizes_json(curve).at("sizes");
  ASSERT_EQ(sizes.size(), 3U);
  EXPECT_EQ(sizes[0].at("size"), "30%");
  EXPECT_EQ(sizes[0].at("samples"), 24);
  const Json& method = sizes[0].at("methods").at(0);
  EXPECT_EQ(method.at("method"), "knn");
  EXPECT_EQ(method.at("errors").size(), 6U);
  EXPECT_LE(method.at("low"), method.at("mean_error"));
  EXPECT_GE(method.at("high"), method.at("mean_error"));
}

/// Each class is many small clouds: a class is known where its clouds have been seen.
TEST(LearningCurve, FindsThatMoreSamplesHelp) {
  constexpr Index kClouds = 24;
  constexpr Index kSamples = 240;
  Matrix S(kSamples, kSamples);
  std::vector<int> classes;
  for (Index i = 0; i < kSamples; ++i) {
    classes.push_back(static_cast<int>(i % kClouds) % 2);
    for (Index j = 0; j < kSamples; ++j) S(i, j) = i == j ? 2 : i % kClouds == j % kClouds ? 1 : 0;
  }
  const ExperimentData data = test::data_of(S, classes);
  ExperimentPlan plan = test::plan_of(data, {"knn"}, {.repeats = 10, .folds = 3});
  fix(plan.candidates[0], "neighbours", "1");
  plan.sizes = drawn(plan.partitions, data.labels, "10%");
  Store store(":memory:");
  RunContext ctx;
  const auto number = run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
  const LearningCurve curve = learning_curve(store, number);
  EXPECT_GT(curve.points[0].methods[0].mean, curve.points[1].methods[0].mean + 0.1);
  EXPECT_GT(curve.gain.fall.low, 0);
  EXPECT_THAT(curve.note, HasSubstr("more samples would probably help"));
}

}  // namespace
}  // namespace kith::sizes_test
