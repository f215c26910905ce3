// SPDX-License-Identifier: Apache-2.0
// Experiments on raw samples: what is measured once, and what anew on each training part.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "evaluate/fold_part.hpp"
#include "kith/core/rng.hpp"
#include "kith/evaluate/experiment.hpp"
#include "kith/evaluate/selection.hpp"
#include "kith/measure/measure_rule.hpp"
#include "kith/model/fingerprint.hpp"
#include "support/raw_matrices.hpp"
#include "support/training_sets.hpp"

namespace kith::measured_experiment_test {
namespace {

constexpr Index kSamples = 40;

std::vector<int> classes() {
  std::vector<int> all(kSamples);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i % 2);
  return all;
}

/// Three columns of a few words; the first says something of the class, the others nothing.
CategoryData votes() {
  Rng rng(7);
  CategoryData data{.source = "votes.csv", .ids = {}, .values = {}};
  for (const int c : classes()) {
    std::vector<std::string> row;
    row.emplace_back(rng.normal() + c > 0.5 ? "yes" : "no");
    row.push_back(std::to_string(static_cast<int>(std::abs(2 * rng.normal()))));
    row.push_back(std::to_string(static_cast<int>(std::abs(5 * rng.normal()))));
    data.values.push_back(std::move(row));
  }
  return data;
}

ExperimentData data_of(const RawData& samples, const std::vector<int>& of, Measure measure) {
  RunContext ctx;
  const std::vector<RawMatrix> matrices = {test::raw_matrix("made", measure, samples)};
  return make_experiment_data(matrices, test::numbered_labels(of),
                              {.from_distance = FromDistance::kNegative}, ctx);
}

struct Split {
  std::vector<Index> train;
  std::vector<Index> held_out;
};
Split split() {
  Split parts;
  for (Index i = 0; i < kSamples; ++i) (i < 28 ? parts.train : parts.held_out).push_back(i);
  return parts;
}

detail::FoldPart part_of(const ExperimentData& data) {
  RunContext ctx;
  return {data, {.settings = data.input}, split().train, split().held_out, MissingPairs::kRefused,
          ctx};
}

Matrix block_of(const detail::FoldPart& part) {
  return to_dense(part.training.set.matrices.front().block).values();
}
Matrix rows_of(const detail::FoldPart& part) {
  return to_dense(part.queries.matrices.front().to_training).values();
}

std::vector<int> with_other_held_out_labels() {
  std::vector<int> other = classes();
  for (const Index i : split().held_out) {
    int& c = other[static_cast<std::size_t>(i)];
    c = i % 3 == 0 ? c : 1 - c;
  }
  return other;
}

TEST(MeasuredExperiment, ValueDifferencesOfAPartHaveSeenItsOwnLabelsAlone) {
  const ExperimentData clean = data_of(votes(), classes(), Measure::kValueDifference);
  const ExperimentData poisoned =
      data_of(votes(), with_other_held_out_labels(), Measure::kValueDifference);
  EXPECT_EQ(block_of(part_of(clean)), block_of(part_of(poisoned)));
  EXPECT_EQ(rows_of(part_of(clean)), rows_of(part_of(poisoned)));
  // The whole tables do differ: cutting the part out of them would not have passed.
  EXPECT_NE(to_dense(clean.matrices.sets[0].block).values(),
            to_dense(poisoned.matrices.sets[0].block).values());
}

TEST(MeasuredExperiment, ValueDifferencesOfAPartAreThoseOfItsSamples) {
  const ExperimentData data = data_of(votes(), classes(), Measure::kValueDifference);
  const detail::FoldPart part = part_of(data);
  const RawData samples = votes();
  RawData train = select(samples, split().train);
  std::get<CategoryData>(train).labels = select(data.labels, split().train);
  const MeasureSettings settings{.measure = Measure::kValueDifference};
  const Matrix D = to_dense(measure(train, settings, RunContext{}).block).values();
  EXPECT_EQ(block_of(part), Matrix(-D));
  const Matrix Q =
      to_dense(measure(select(samples, split().held_out), train, settings, RunContext{}).block)
          .values();
  EXPECT_EQ(rows_of(part), Matrix(-Q));
}

TEST(MeasuredExperiment, OtherMeasuresAreMeasuredOnce) {
  SetData sets{.source = "sets.tsv", .ids = {}, .values = {}};
  for (std::vector<std::string>& row : votes().values) sets.values.push_back(std::move(row));
  const ExperimentData data = data_of(sets, classes(), Measure::kJaccard);
  EXPECT_EQ(data.measured_by_part(0), nullptr);
  const Matrix whole =
      to_dense(measure(sets, {.measure = Measure::kJaccard}, RunContext{}).block).values();
  EXPECT_EQ(to_dense(data.matrices.sets.at(0).block).values(), whole);
  EXPECT_EQ(block_of(part_of(data)), Matrix(whole.topLeftCorner(28, 28)));
}

TEST(MeasuredExperiment, MeasuresEachOfSeveralTablesInItsOwnWay) {
  SetData sets{.source = "sets.tsv", .ids = {}, .values = votes().values};
  const std::vector<RawMatrix> matrices = {
      test::raw_matrix("common", Measure::kJaccard, sets),
      test::raw_matrix("learned", Measure::kValueDifference, votes(), 1)};
  RunContext ctx;
  const InputSettings input{.from_distance = FromDistance::kNegative};
  const ExperimentData both =
      make_experiment_data(matrices, test::numbered_labels(classes()), input, ctx);
  const detail::FoldPart part = part_of(both);
  const detail::FoldPart common = part_of(data_of(sets, classes(), Measure::kJaccard));
  const detail::FoldPart learned = part_of(data_of(votes(), classes(), Measure::kValueDifference));
  ASSERT_EQ(part.training.set.matrices.size(), 2U);
  EXPECT_EQ(part.training.set.matrices[0].name, "common");
  EXPECT_EQ(part.training.set.matrices[1].name, "learned");
  EXPECT_EQ(block_of(part), block_of(common));
  EXPECT_EQ(rows_of(part), rows_of(common));
  EXPECT_EQ(Matrix(to_dense(part.training.set.matrices[1].block).values()), block_of(learned));
  EXPECT_EQ(Matrix(to_dense(part.queries.matrices.at(1).to_training).values()), rows_of(learned));
}

std::vector<double> losses(const ExperimentData& data, int threads) {
  ExperimentPlan plan;
  plan.name = "votes";
  plan.protocol.partitions = {.repeats = 2, .folds = 3};
  plan.partitions = draw_partitions(data.labels, plan.protocol.partitions, RngStreams(1));
  plan.candidates = {parse_candidate("knn")};
  Store store(":memory:");
  RunContext ctx;
  ctx.threads = threads;
  const ExperimentRun done = run_experiment(data, plan, store, NewData::kRefuse, ctx);
  EXPECT_TRUE(done.failures.empty());
  std::vector<double> all;
  for (const std::int64_t c : store.candidates(done.experiment)) {
    for (int p = 0; p < 2; ++p) {
      for (int f = 0; f < 3; ++f) {
        const std::vector<double> fold = store.fold_result({c, p, f})->losses;
        all.insert(all.end(), fold.begin(), fold.end());
      }
      const TestResult tested = store.test_result({c, p, kTestFold}).value();
      all.insert(all.end(), tested.prediction.labels.begin(), tested.prediction.labels.end());
    }
  }
  return all;
}

TEST(MeasuredExperiment, GivesTheSameOnAnyNumberOfThreads) {
  const ExperimentData data = data_of(votes(), classes(), Measure::kValueDifference);
  EXPECT_EQ(losses(data, 1), losses(data, 3));
}

TEST(MeasuredExperiment, ChoosesAMethodByPartsThatHaveSeenTheirOwnLabels) {
  // A column that names each sample: over all labels it tells the class, on a part it tells nothing
  // of a sample that is not in it.
  CategoryData names{.source = "names.csv", .ids = {}, .values = {}};
  for (Index i = 0; i < kSamples; ++i) names.values.push_back({std::to_string(i)});
  const ExperimentData data = data_of(names, classes(), Measure::kValueDifference);
  const std::vector<Candidate> candidates = {parse_candidate("knn")};
  RunContext ctx;
  const SelectionSettings settings{.folds = 4, .stratify = Stratify::kYes};
  const Selection selection = select_methods(data, candidates, settings, ctx);
  EXPECT_GT(selection.entries.at(0).loss, 0.2);
  ExperimentData leaking = data;
  leaking.by_part.clear();
  EXPECT_EQ(select_methods(leaking, candidates, settings, ctx).entries.at(0).loss, 0);
}

TEST(MeasuredExperiment, IsKnownByItsSamplesToo) {
  // Two values of the same distribution: making them one leaves all pairs as they are.
  CategoryData two{.source = "two.csv", .ids = {}, .values = {}};
  CategoryData one = two;
  for (const int c : classes()) {
    const bool first = two.values.size() < 20;
    two.values.push_back({c == 1 ? "x" : first ? "u" : "v"});
    one.values.push_back({c == 1 ? "x" : "u"});
  }
  const ExperimentData a = data_of(two, classes(), Measure::kValueDifference);
  const ExperimentData b = data_of(one, classes(), Measure::kValueDifference);
  ASSERT_EQ(to_dense(a.matrices.sets[0].block).values(),
            to_dense(b.matrices.sets[0].block).values());
  EXPECT_NE(fingerprint(a), fingerprint(b));
  EXPECT_EQ(fingerprint(a), fingerprint(data_of(two, classes(), Measure::kValueDifference)));
  ExperimentData c = a;
  c.by_part.at(0)->measure.exponent = 1;
  EXPECT_NE(fingerprint(a), fingerprint(c));
}

}  // namespace
}  // namespace kith::measured_experiment_test
