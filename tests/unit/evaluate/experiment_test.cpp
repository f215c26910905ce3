// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"
#include "kith/pipeline/trained_model.hpp"
#include "support/experiments.hpp"
#include "support/training_sets.hpp"

namespace kith::experiment_test {
namespace {

using test::data_of;
using test::everything;
using test::plan_of;
using test::run;
using test::tables_of;

TEST(Experiment, FilesOfPartitionsNameTheSamplesThatWereGiven) {
  test::Sample sample = test::make_sample(12, 0, 2, 1);
  sample.S(2, 5) = sample.S(2, 7) = std::numeric_limits<double>::quiet_NaN();
  const std::string path = testing::TempDir() + "given_partitions.tsv";
  for (const bool with_ids : {false, true}) {
    MatchedSets tables = tables_of(sample.S);
    for (int i = 0; with_ids && i < 12; ++i) tables.ids.push_back("s" + std::to_string(100 - i));
    RunContext ctx;
    const ExperimentData data = make_experiment_data(tables, test::numbered_labels(sample.classes),
                                                     {.missing = MissingRule::kDropSample}, ctx);
    ASSERT_EQ(data.samples(), 11);
    const std::vector<Partition> partitions =
        draw_partitions(data.labels, {.repeats = 3, .folds = 2}, RngStreams(1));
    write_partitions(path, partitions, data);
    EXPECT_EQ(read_partitions(path, data), partitions);
    const std::vector<Partition> given = read_partitions(path, tables.ids, 12);
    for (std::size_t p = 0; p < given.size(); ++p) {
      for (std::size_t i = 0; i < given[p].train.size(); ++i) {
        const Index left = partitions[p].train[i];
        EXPECT_EQ(given[p].train[i], left < 2 ? left : left + 1);  // the third was dropped
      }
    }
    // Lines of a dropped sample are passed over.
    std::vector<Partition> whole = given;
    for (Partition& one : whole) one.test.insert(std::ranges::lower_bound(one.test, 2), 2);
    write_partitions(path, whole, tables.ids, 12);
    EXPECT_EQ(read_partitions(path, data), partitions);
  }
}

TEST(Experiment, DrawsFoldsWhereAFileSaysTrain) {
  test::Sample sample = test::make_sample(12, 0, 2, 1);
  sample.S(2, 5) = std::numeric_limits<double>::quiet_NaN();  // the sixth is dropped
  RunContext ctx;
  const ExperimentData data =
      make_experiment_data(tables_of(sample.S), test::numbered_labels(sample.classes),
                           {.missing = MissingRule::kDropSample}, ctx);
  ASSERT_EQ(data.samples(), 11);
  const std::string path = testing::TempDir() + "train_words.tsv";
  std::ofstream file(path);
  file << "sample\t1\n";
  for (int i = 1; i <= 12; ++i) file << i << (i <= 3 ? "\ttest\n" : "\ttrain\n");
  file.close();
  const PartitionSettings settings{.folds = 3};
  const std::vector<Partition> drawn = read_partitions(path, data, settings, RngStreams(7));
  ASSERT_EQ(drawn.size(), 1U);
  EXPECT_EQ(drawn[0].test.size() + drawn[0].train.size(), 11U);
  const Labels part = select(data.labels, drawn[0].train);
  EXPECT_EQ(drawn[0].fold_of, draw_folds(part, 3, settings.stratify, RngStreams(7), 0));
}

TEST(Experiment, GivesTheSameBytesOnAnyNumberOfThreads) {
  const test::Sample sample = test::make_sample(60, 0, 3, 1);
  const ExperimentData data = data_of(sample.S, sample.classes);
  const ExperimentPlan plan =
      plan_of(data, {"knn", "svm-clip", "krr-pinv", "sda", "mixture-sda", "kri-clip"});
  const std::string once = run(data, plan, 1);
  EXPECT_EQ(run(data, plan, 2), once);
  EXPECT_EQ(run(data, plan, 7), once);
}

TEST(Experiment, AFurtherMethodLeavesTheOthersAsTheyWere) {
  const test::Sample sample = test::make_sample(50, 0, 2, 2);
  const ExperimentData data = data_of(sample.S, sample.classes);
  const std::string few = run(data, plan_of(data, {"knn", "svm-flip"}));
  const std::string more = run(data, plan_of(data, {"knn", "svm-flip", "mixture-sda", "kri"}));
  EXPECT_TRUE(more.starts_with(few));
}

/// What a fit could learn from held-out samples would show in its losses or in its choice.
TEST(Experiment, PoisonedTestRowsChangeNothingThatIsFitted) {
  const test::Sample sample = test::make_sample(60, 0, 3, 3);
  for (const InputSettings& input :
       {InputSettings{}, InputSettings{.scale = ScaleRule::kUnit},
        InputSettings{.diagonal = DiagonalRule::kMaxRow, .transform = InputTransform::kRowsRbf}}) {
    const ExperimentData clean = data_of(sample.S, sample.classes, input);
    ExperimentPlan plan = plan_of(clean, {"knn", "svm-clip", "svm-shift", "krr-pinv", "sda",
                                          "local-sda", "features-svm", "nearest-mean"});
    plan.partitions.resize(1);
    Matrix S = sample.S;
    std::vector<int> classes = sample.classes;
    Rng rng(99);
    for (const Index i : plan.partitions[0].test) {
      for (Index j = 0; j < S.cols(); ++j) S(i, j) = S(j, i) = 1e3 * rng.normal();
      classes[static_cast<std::size_t>(i)] = (classes[static_cast<std::size_t>(i)] + 1) % 3;
    }
    const ExperimentData poisoned = data_of(S, classes, input);
    Store one(":memory:");
    Store two(":memory:");
    RunContext ctx;
    const std::int64_t a = run_experiment(clean, plan, one, NewData::kRefuse, ctx).experiment;
    const std::int64_t b = run_experiment(poisoned, plan, two, NewData::kRefuse, ctx).experiment;
    bool predictions_differ = false;
    for (const std::int64_t c : one.candidates(a)) {
      for (int f = 0; f < plan.partitions[0].folds(); ++f) {
        EXPECT_EQ(one.fold_result({c, 0, f})->losses, two.fold_result({c, 0, f})->losses);
      }
      const TestResult x = *one.test_result({c, 0, kTestFold});
      const TestResult y = *two.test_result({c, 0, kTestFold});
      EXPECT_EQ(x.chosen, y.chosen);
      EXPECT_EQ(x.certificate, y.certificate);
      predictions_differ = predictions_differ || x.prediction.labels != y.prediction.labels;
    }
    EXPECT_TRUE(predictions_differ);  // the poison did arrive
    EXPECT_EQ(b, a);
  }
}

TEST(Experiment, PoisonedHeldOutRowsOfAFoldLeaveTheModelOfThatFoldAlone) {
  // With one grid point the loss of fold f depends on its held-out labels only through what is
  // counted: changing a held-out label by hand changes the count by exactly that sample.
  const test::Sample sample = test::make_sample(40, 0, 2, 4);
  const ExperimentData clean = data_of(sample.S, sample.classes);
  ExperimentPlan plan = plan_of(clean, {"svm-clip", "knn"}, {.repeats = 1, .folds = 4});
  for (Candidate& candidate : plan.candidates) {
    fix(candidate, candidate.choice.method == "svm" ? "cost" : "neighbours", "1");
  }
  std::vector<int> classes = sample.classes;
  std::vector<Index> flipped;
  const Partition& partition = plan.partitions[0];
  for (std::size_t t = 0; t < partition.train.size(); ++t) {
    if (partition.fold_of[t] != 0) continue;
    const auto i = static_cast<std::size_t>(partition.train[t]);
    classes[i] = 1 - classes[i];
    flipped.push_back(partition.train[t]);
  }
  Store one(":memory:");
  Store two(":memory:");
  RunContext ctx;
  const std::int64_t a = run_experiment(clean, plan, one, NewData::kRefuse, ctx).experiment;
  (void)run_experiment(data_of(sample.S, classes), plan, two, NewData::kRefuse, ctx);
  for (const std::int64_t c : one.candidates(a)) {
    EXPECT_EQ(one.fold_result({c, 0, 0})->losses[0] + two.fold_result({c, 0, 0})->losses[0],
              static_cast<double>(flipped.size()));
  }
}

/// Its fits tune themselves.
TEST(Experiment, RidgeHasNoInnerFolds) {
  const test::Sample sample = test::make_sample(60, 0, 3, 6);
  const ExperimentData data = data_of(sample.S, sample.classes);
  Store alone(":memory:");
  Store both(":memory:");
  RunContext ctx;
  ExperimentPlan plan = plan_of(data, {"ridge", "sda", "knn"}, {.repeats = 2, .folds = 3});
  const std::int64_t a = run_experiment(data, plan, alone, NewData::kRefuse, ctx).experiment;
  const std::vector<std::int64_t> few = alone.candidates(a);
  // A committee needs the losses of its members, and leaves the rows alone.
  plan.candidates.push_back(committee_of("auto", parse_candidates("ridge,knn")));
  search(plan.candidates[0], "ridge", std::vector<std::string>{"0.1", "1"});
  plan.candidates[0].name = "searched";
  plan.candidates.push_back(parse_candidates("ridge").front());
  const std::int64_t b = run_experiment(data, plan, both, NewData::kRefuse, ctx).experiment;
  const std::vector<std::int64_t> all = both.candidates(b);
  for (int p = 0; p < 2; ++p) {
    for (int f = 0; f < 3; ++f) {
      EXPECT_TRUE(alone.fold_result({few[0], p, f})->losses.empty());
      EXPECT_EQ(alone.fold_result({few[1], p, f})->losses.size(), 1U);
      EXPECT_GT(alone.fold_result({few[2], p, f})->losses.size(), 1U);
      EXPECT_EQ(both.fold_result({all[0], p, f})->losses.size(), 2U);
      EXPECT_GT(both.fold_result({all[3], p, f})->losses.size(), 2U);
      EXPECT_TRUE(both.fold_result({all[4], p, f})->losses.empty());
    }
    const TestResult one = *alone.test_result({few[0], p, kTestFold});
    const TestResult two = *both.test_result({all[4], p, kTestFold});
    EXPECT_TRUE(one.inner_losses.empty());
    EXPECT_EQ(one.chosen, two.chosen);
    EXPECT_EQ(one.chosen.at("ridge"), "auto");
    EXPECT_EQ(one.prediction.labels, two.prediction.labels);
    EXPECT_EQ(one.prediction.scores, two.prediction.scores);
  }
}

TEST(Experiment, AgreesWithTrainingAndPredictingByHand) {
  const test::Sample sample = test::make_sample(50, 0, 2, 5);
  const InputSettings input{.scale = ScaleRule::kUnit};
  const ExperimentData data = data_of(sample.S, sample.classes, input);
  ExperimentPlan plan = plan_of(data, {"svm-clip"});
  Store store(":memory:");
  RunContext ctx;
  const std::int64_t experiment =
      run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
  const std::int64_t candidate = store.candidates(experiment).front();
  for (int p = 0; p < 3; ++p) {
    const Partition& partition = plan.partitions[static_cast<std::size_t>(p)];
    const TestResult result = *store.test_result({candidate, p, kTestFold});
    MethodChoice choice = parse_method("svm-clip");
    set(choice, "cost", result.chosen["cost"].dump());
    set(choice, "probability", "no");
    const PreparedTraining prepared =
        prepare_training(select_samples(data.matrices, partition.train),
                         select(data.labels, partition.train), input, ctx);
    QueryBlock raw;
    raw.matrices.push_back({select(data.matrices.sets[0].block, partition.test, partition.train),
                            std::nullopt, std::nullopt});
    const Training trained = train(prepared, choice, ctx);
    EXPECT_EQ(predict(trained.model, raw, ctx).labels, result.prediction.labels);
  }
}

TEST(Experiment, GoesOnWhereItWasInterrupted) {
  const test::Sample sample = test::make_sample(50, 0, 2, 6);
  const ExperimentData data = data_of(sample.S, sample.classes);
  const ExperimentPlan plan = plan_of(data, {"knn", "svm-clip"});
  const std::string undisturbed = run(data, plan);
  Store store(":memory:");
  test::run_interrupted(data, plan, store, 5);
  const std::int64_t experiment = store.experiments().front();
  int finished = 0;
  for (const std::int64_t c : store.candidates(experiment)) {
    for (int p = 0; p < 3; ++p) {
      for (int f = 0; f < 4; ++f) finished += store.has({c, p, f}) ? 1 : 0;
    }
  }
  // Before it there is the report of the start and of the beginning of each method on a fold.
  EXPECT_EQ(finished, 2);
  RunContext rest;
  (void)run_experiment(data, plan, store, NewData::kRefuse, rest);
  EXPECT_EQ(everything(store, experiment), undisturbed);
}

TEST(Experiment, WorksWithAClassThatATrainingPartLacks) {
  test::Sample sample = test::make_sample(42, 0, 2, 7);
  sample.classes[0] = 2;  // a class of one
  ExperimentData data = data_of(sample.S, sample.classes);
  data.vectors = DenseBlock(RowMatrix(sample.S));  // for methods that learn from them
  ExperimentPlan plan;
  plan.name = "made";
  Partition partition;
  for (Index i = 0; i < 42; ++i) {
    if (i % 5 == 0) {
      partition.test.push_back(i);
    } else {
      partition.train.push_back(i);
      partition.fold_of.push_back(static_cast<int>(i) % 3);
    }
  }
  plan.partitions = {partition};
  for (const MethodInfo& method : all_methods()) {
    plan.candidates.push_back(parse_candidate(method.name));
    for (const GridAxis& axis : std::vector(plan.candidates.back().axes)) {
      fix(plan.candidates.back(), axis.field, axis.values.front());
    }
  }
  Store store(":memory:");
  RunContext ctx;
  const std::int64_t experiment =
      run_experiment(data, plan, store, NewData::kRefuse, ctx).experiment;
  for (const std::int64_t c : store.candidates(experiment)) {
    const TestResult result = *store.test_result({c, 0, kTestFold});
    EXPECT_THAT(result.prediction.labels,
                testing::Each(testing::AllOf(testing::Ge(0), testing::Lt(2))))
        << store.candidate(c).name;
  }
}

TEST(Experiment, DropsSamplesWithMissingPairsOnceForAll) {
  test::Sample sample = test::make_sample(40, 0, 2, 8);
  sample.S(3, 5) = sample.S(5, 3) = std::numeric_limits<double>::quiet_NaN();
  const ExperimentData data =
      data_of(sample.S, sample.classes, {.missing = MissingRule::kDropSample});
  EXPECT_EQ(data.samples(), 39);
  EXPECT_FALSE(run(data, plan_of(data, {"svm-clip"})).empty());
}

TEST(Experiment, ABrokenInputRuleIsFoundBeforeAnyWork) {
  test::Sample sample = test::make_sample(40, 0, 2, 9);
  const ExperimentPlan plan = plan_of(data_of(sample.S, sample.classes), {"svm-clip"});
  // Between two test samples: no training part would ever meet it.
  const std::vector<Index>& test = plan.partitions[0].test;
  sample.S(test[0], test[1]) = std::numeric_limits<double>::quiet_NaN();
  Store store(":memory:");
  RunContext ctx;
  EXPECT_THROW(
      (void)run_experiment(data_of(sample.S, sample.classes), plan, store, NewData::kRefuse, ctx),
      Error);
  EXPECT_TRUE(store.experiments().empty());
}

TEST(Experiment, AMethodThatCannotBeFittedLeavesTheOthersAlone) {
  const test::Sample sample = test::make_sample(40, 0, 2, 9);
  const ExperimentData data = data_of(sample.S, sample.classes);
  ExperimentPlan plan = plan_of(data, {"knn", "bad=svm-diffusion", "affinity-knn"});
  fix(plan.candidates[1], "beta", "1e9");  // whose exponentials overflow
  Store store(":memory:");
  RunContext ctx;
  const ExperimentRun done = run_experiment(data, plan, store, NewData::kRefuse, ctx);
  ASSERT_EQ(done.failures.size(), 1U);
  EXPECT_EQ(done.failures[0].name, "bad");
  EXPECT_EQ(done.failures[0].partition, 0);
  const Json said = failures_json(done.failures);
  EXPECT_EQ(said[0]["method"], "bad");
  EXPECT_EQ(said[0]["partition"], 1);  // counted as people do
  const std::vector<std::int64_t> candidates = store.candidates(done.experiment);
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(store.has({candidates[0], p, kTestFold}));
    EXPECT_FALSE(store.has({candidates[1], p, kTestFold}));
    EXPECT_TRUE(store.has({candidates[2], p, kTestFold}));
  }
}

TEST(Experiment, OneNameStandsForOneMethodInAWholeStore) {
  const test::Sample sample = test::make_sample(40, 0, 2, 9);
  const ExperimentData data = data_of(sample.S, sample.classes);
  ExperimentPlan plan = plan_of(data, {"knn"}, {.repeats = 1, .folds = 2});
  Store store(":memory:");
  RunContext ctx;
  (void)run_experiment(data, plan, store, NewData::kRefuse, ctx);
  plan.name = "another";
  plan.candidates.push_back(parse_candidate("sda"));
  fix(plan.candidates[0], "neighbours", "3");
  EXPECT_THROW((void)run_experiment(data, plan, store, NewData::kAppend, ctx), Error);
  EXPECT_EQ(store.experiments().size(), 1U);  // nothing was left behind
  EXPECT_EQ(store.candidates(store.experiments()[0]).size(), 1U);
}

TEST(Experiment, SeveralTablesAreNotLeftUnreadInSilence) {
  const test::Sample sample = test::make_sample(40, 0, 2, 9);
  ExperimentData data = data_of(sample.S, sample.classes);
  data.matrices.sets.push_back(data.matrices.sets.front());
  data.symmetric.push_back(true);
  EXPECT_THROW((void)run(data, plan_of(data, {"knn"})), Error);
}

TEST(Experiment, WhereTheWorkBeginsLeavesNoTrace) {
  const test::Sample sample = test::make_sample(40, 0, 2, 9);
  const ExperimentData data = data_of(sample.S, sample.classes);
  ExperimentPlan plan = plan_of(data, {"knn", "svm-clip"});
  const std::string once = run(data, plan);
  plan.first_task = 7;
  EXPECT_EQ(run(data, plan), once);
}

TEST(Experiment, TheProtocolOfCgrScalesAndShortensTheGrids) {
  InputSettings input;
  apply(ProtocolName::kCgr, input);
  EXPECT_EQ(input.scale, ScaleRule::kUnit);
  Candidate svm = parse_candidate("svm-clip");
  apply(ProtocolName::kCgr, svm);
  EXPECT_EQ(svm.axes[0].values.size(), 7U);
  Candidate knn = parse_candidate("knn");
  apply(ProtocolName::kCgr, knn);
  EXPECT_EQ(knn.axes[0].values.back(), "32");
}

TEST(Experiment, TheProtocolOfCyFixesTheCostAndSearchesRho) {
  Candidate robust = parse_candidate("robust-svm");
  apply(ProtocolName::kCy, robust);
  ASSERT_EQ(robust.axes.size(), 1U);
  EXPECT_EQ(robust.axes[0].field, "rho");
  EXPECT_EQ(robust.axes[0].values.size(), 7U);
  fix(robust, "test-treatment", "none");
  EXPECT_EQ(robust.axes.size(), 1U) << "a further setting brings the cost back";
  Candidate knn = parse_candidate("knn");
  apply(ProtocolName::kCy, knn);
  EXPECT_EQ(knn.axes[0].field, "neighbours");
  PartitionSettings partitions;
  apply(ProtocolName::kCy, partitions);
  EXPECT_EQ(partitions.repeats, 10);
  EXPECT_LT(partitions.folds, 10);
}

TEST(Experiment, TheProtocolOfKtbbHasFivePartitionsOfEqualClasses) {
  PartitionSettings partitions;
  apply(ProtocolName::kKtbb, partitions);
  EXPECT_EQ(partitions.repeats, 5);
  EXPECT_EQ(partitions.folds, 5);
  EXPECT_EQ(partitions.stratify, Stratify::kEqual);
  Candidate svm = parse_candidate("svm-clip");
  apply(ProtocolName::kKtbb, svm);
  EXPECT_EQ(svm.axes[0].values.back(), "1000");
  Candidate knn = parse_candidate("knn");
  apply(ProtocolName::kKtbb, knn);
  EXPECT_EQ(knn.axes[0].values.back(), "128");
}

/// Stops the run once so many units are finished.
class StopAfter : public ProgressSink {
 public:
  StopAfter(double units, StopSource& source) : units_(units), source_(source) {}
  void progress(std::string_view /*stage*/, double done, double /*total*/,
                std::string_view /*at_hand*/) override {
    if (done >= units_) source_.request_stop();
  }
  void message(std::string_view /*text*/) override {}

 private:
  double units_;
  StopSource& source_;
};

int units_in(const Store& store, const std::vector<Partition>& partitions) {
  int units = 0;
  for (const std::int64_t candidate : store.candidates(store.experiments().at(0))) {
    for (int p = 0; p < static_cast<int>(partitions.size()); ++p) {
      for (int f = kTestFold; f < partitions[static_cast<std::size_t>(p)].folds(); ++f) {
        units += store.has({candidate, p, f}) ? 1 : 0;
      }
    }
  }
  return units;
}

TEST(Experiment, StoresEachMethodOfAFoldAsItIsFinished) {
  const test::Sample sample = test::make_sample(40, 0, 2, 2);
  const ExperimentData data = data_of(sample.S, sample.classes);
  const ExperimentPlan plan = plan_of(data, {"knn", "svm-flip", "kri"}, {.repeats = 2, .folds = 2});
  const std::string undisturbed = run(data, plan);
  for (const int units : {1, 2, 3, 5, 7, 8, 17}) {  // the seventh to the ninth are tests
    Store store(":memory:");
    StopSource source;
    StopAfter sink(units, source);
    RunContext ctx;
    ctx.sink = &sink;
    ctx.stop = StopToken(source);
    EXPECT_THROW((void)run_experiment(data, plan, store, NewData::kRefuse, ctx), Error);
    EXPECT_EQ(units_in(store, plan.partitions), units);
    RunContext again;
    EXPECT_EQ(
        everything(store, run_experiment(data, plan, store, NewData::kRefuse, again).experiment),
        undisturbed);
  }
}

}  // namespace
}  // namespace kith::experiment_test
