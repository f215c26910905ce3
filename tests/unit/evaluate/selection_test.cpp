// SPDX-License-Identifier: Apache-2.0
// The committee as `train --method auto` makes it, and as a row of `evaluate`.
#include "kith/evaluate/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/experiments.hpp"
#include "support/files.hpp"
#include "support/raw_matrices.hpp"

namespace kith::selection_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const InputSearch kAll{.conversions = true, .scales = true, .spread = true, .matrices = true};

struct Task {
  ExperimentData data;
  std::vector<Candidate> methods;
};

Task task_of(const test::Sample& sample, const char* methods, const InputSearch& search = kAll,
             const InputSettings& input = {}) {
  Task task{test::data_of(sample.S, sample.classes, input), parse_candidates(methods)};
  RunContext ctx;
  resolve_inputs(task.data, {}, search, task.methods, ctx);
  return task;
}

Selection selected(const Task& task, const SelectionSettings& settings = {}, int threads = 1) {
  RunContext ctx;
  ctx.threads = threads;
  return select_methods(task.data, task.methods, settings, ctx);
}

/// What is found, without the time that it took.
Json found(const Selection& selection, const ExperimentData& data) {
  Json json = selection_json(selection, data);
  for (Json& one : json["candidates"]) one.erase("seconds");
  return json;
}

TrainedModel fitted(const Selection& selection, const ExperimentData& data,
                    const DecisionSettings& decision = {},
                    std::span<const RawMatrix> samples = {}) {
  RunContext ctx;
  return train_selected(selection, data, samples, nullptr, decision, ctx).model;
}

Prediction ask(const TrainedModel& model, const QueryBlock& rows) {
  RunContext ctx;
  return predict(model, rows, ctx);
}

TEST(Selection, SeatsThoseNearTheLeastErrorWhateverTheThreads) {
  const Task task = task_of(test::make_sample(60, 0, 3, 10), "nearest-mean,svm-clip,knn,sda");
  const Selection selection = selected(task);
  ASSERT_EQ(selection.entries.size(), 4U);
  std::vector<double> errors;
  for (const SelectionEntry& entry : selection.entries) {
    errors.push_back(entry.loss);
    EXPECT_GE(entry.loss, selection.entries[selection.best].loss);
    EXPECT_EQ(entry.error, standard_error(entry.loss, 60));
  }
  const std::vector<std::size_t> expected = seats(errors, 60);
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(selection.entries[c].seated,
              std::find(expected.begin(), expected.end(), c) != expected.end());
  }
  EXPECT_EQ(selection.folds, 5);
  EXPECT_EQ(found(selected(task, {}, 7), task.data), found(selection, task.data));
}

TEST(Selection, OfOneMethodIsThatMethodWithTheSettingsOfLeastError) {
  const test::Sample sample = test::make_sample(60, 12, 3, 10);
  const Task task = task_of(sample, "svm-clip");
  const Selection selection = selected(task);
  const SelectionEntry& entry = selection.entries[0];
  const TrainedModel model = fitted(selection, task.data);
  EXPECT_FALSE(model.is_committee());
  EXPECT_EQ(model.record.settings["cost"], settings_json(entry.settings)["cost"]);
  const InputSettings& kept = model.record.matrices[0].rule.settings;
  EXPECT_EQ(kept.scale, entry.input.settings.scale);
  EXPECT_EQ(kept.rescale, entry.input.settings.rescale);
  // The same by hand.
  RunContext ctx;
  MethodChoice choice = parse_method("svm-clip");
  set(choice, "cost", settings_json(entry.settings)["cost"].dump());
  const PreparedTraining prepared =
      prepare_training(task.data.matrices, task.data.labels, entry.input.settings, ctx);
  const Prediction expected =
      ask(train(prepared, choice, ctx).model, test::query_block(sample.rows));
  const Prediction said = ask(model, test::query_block(sample.rows));
  EXPECT_EQ(said.labels, expected.labels);
}

TEST(Selection, IsPredictedWithAfterItsFileWasRead) {
  const test::Sample sample = test::make_sample(60, 12, 3, 10);
  const Task task = task_of(sample, "svm-clip,knn,ridge-flip");
  const TrainedModel model = fitted(selected(task), task.data);
  ASSERT_TRUE(model.is_committee());
  const TrainedModel back = load_trained_bytes(trained_bytes(model), "m.kith");
  const QueryBlock rows = test::query_block(sample.rows, sample.self);
  EXPECT_EQ(ask(back, rows).labels, ask(model, rows).labels);
  EXPECT_EQ(ask(back, rows).probabilities, ask(model, rows).probabilities);
  // Most new samples of well separated classes get their own.
  Index right = 0;
  const std::vector<int> labels = ask(model, rows).labels;
  for (Index q = 0; q < 12; ++q) right += labels[static_cast<std::size_t>(q)] == q % 3 ? 1 : 0;
  EXPECT_GE(right, 9);
}

TEST(Selection, WithinABudgetTheCheapestIsTriedAndTheOthersAreNamed) {
  const Task task = task_of(test::make_sample(60, 0, 3, 10), "svm-clip,knn,ridge-flip");
  const Selection none = selected(task, {.budget = 1e-9});
  EXPECT_EQ(std::ranges::count_if(none.entries, [](const auto& one) { return !one.skipped; }), 1);
  EXPECT_EQ(std::ranges::count_if(none.entries, [](const auto& one) { return one.seated; }), 1);
  EXPECT_EQ(none.folds, 1);  // the first is never left out
  const Json said = selection_json(none, task.data);
  Index reasons = 0;
  for (const Json& one : said["candidates"]) {
    if (!one.contains("skipped")) continue;
    ++reasons;
    EXPECT_THAT(one["skipped"].get<std::string>(), HasSubstr("more than is left"));
    EXPECT_FALSE(one["chosen"].get<bool>());
  }
  EXPECT_EQ(reasons, 2);
  EXPECT_FALSE(fitted(none, task.data).is_committee());
  Json enough = found(selected(task, {.budget = 1e6}), task.data);
  EXPECT_EQ(enough["budget"], 1e6);
  enough.erase("budget");
  EXPECT_EQ(enough, found(selected(task), task.data));
}

/// Two classes of the same size whose members are alike.
Task two_clear_classes(Index of_each, const char* methods) {
  const Index n = 2 * of_each;
  Matrix S = Matrix::Identity(n, n);
  std::vector<int> classes;
  for (Index i = 0; i < n; ++i) {
    classes.push_back(static_cast<int>(i % 2));
    for (Index j = 0; j < n; ++j) S(i, j) += i % 2 == j % 2 ? 1 : 0;
  }
  Task task{test::data_of(S, classes, {}), parse_candidates(methods)};
  RunContext ctx;
  resolve_inputs(task.data, {}, {}, task.methods, ctx);
  return task;
}

TEST(Selection, ATieOfVotesCountsAsAGuessAmongTheTiedClasses) {
  for (const char* method : {"knn", "affinity-knn"}) {
    Task task = two_clear_classes(10, method);
    // Of a training part of 16 all vote: 8 for each class, equally where the weights are.
    search(task.methods[0], "neighbours", std::vector<std::string>{"16"});
    const double all = selected(task, {.stratify = Stratify::kYes}).entries[0].loss;
    EXPECT_EQ(all, std::string(method) == "knn" ? 0.5 : 0);
    task.methods = parse_candidates(method);
    const Selection free = selected(task, {.stratify = Stratify::kYes});
    EXPECT_EQ(free.entries[0].loss, 0);
  }
  const Task task = two_clear_classes(10, "knn");
  const Selection free = selected(task, {.stratify = Stratify::kYes});
  EXPECT_LT(settings_json(free.entries[0].settings)["neighbours"].get<int>(), 16);
}

TEST(Selection, NamesAClassThatIsTooSmallForCrossValidation) {
  Task task = two_clear_classes(10, "knn,ridge");
  std::fill(task.data.labels.ids.begin(), task.data.labels.ids.end(), 0);
  task.data.labels.ids[3] = 1;
  const std::string said = error_of(ErrorCode::kInvalidArgument, [&] { (void)selected(task); });
  EXPECT_THAT(said, HasSubstr(task.data.labels.names[1]));
  EXPECT_THAT(said, HasSubstr("1 sample,"));
  EXPECT_THAT(said, HasSubstr("needs 2 of it"));
  EXPECT_THAT(said, HasSubstr("[[method=ridge]]"));
  task.data.labels.ids[4] = 1;  // two can always be kept apart
  EXPECT_EQ(selected(task).folds, 5);
}

TEST(Selection, CountsWhatWasSpentBeforeAndSaysWhatTheBudgetLeftOut) {
  const Task task = task_of(test::make_sample(60, 0, 3, 10), "svm-clip,knn,ridge-flip");
  const Selection late = selected(task, {.budget = 100, .spent = 200});
  EXPECT_EQ(late.folds, 1);
  EXPECT_EQ(late.folds_asked, 5);
  EXPECT_EQ(std::ranges::count_if(late.entries, [](const auto& one) { return !one.skipped; }), 1);
  const Json said = selection_json(late, task.data);
  ASSERT_EQ(said["notes"].size(), 1U);
  EXPECT_THAT(said["notes"][0].get<std::string>(), HasSubstr("spent before cross-validation"));
  EXPECT_THAT(said["notes"][0].get<std::string>(), HasSubstr("budget of 100 s"));
  EXPECT_FALSE(selection_json(selected(task, {.budget = 1e6}), task.data).contains("notes"));
}

TEST(Selection, AMemberThatCannotBeFittedIsLeftOut) {
  Task task = task_of(test::make_sample(40, 0, 2, 9), "knn,bad=svm-diffusion,affinity-knn", {});
  fix(task.methods[1], "beta", "1e9");  // whose exponentials overflow
  const Selection selection = selected(task);
  EXPECT_TRUE(selection.entries[1].skipped.has_value());
  EXPECT_FALSE(selection.entries[1].seated);
  EXPECT_NE(selection.best, 1U);
}

TEST(Selection, OfSeveralTablesGivesEachMemberItsOwn) {
  const test::Sample sample = test::make_sample(60, 9, 2, 3);
  // A second table that says nothing of the classes.
  const test::Sample noise = test::make_sample(60, 9, 2, 4, test::Likeness::kGaussian, 50);
  MatchedSets tables = test::tables_of(noise.S);
  tables.sets.front().name = "noise";
  tables.sets.push_back(test::tables_of(sample.S).sets.front());
  tables.sets.back().name = "good";
  RunContext ctx;
  ExperimentData data =
      make_experiment_data(tables, test::numbered_labels(sample.classes), InputSettings{}, ctx);
  std::vector<Candidate> methods = parse_candidates("knn,svm-clip,average-svm");
  resolve_inputs(data, {}, kAll, methods, ctx);
  const Selection selection = select_methods(data, methods, {}, ctx);
  EXPECT_EQ(variant_json(selection.entries[0].input, data)["matrix"], "good");
  const TrainedModel model = fitted(selection, data);
  QueryBlock rows;
  for (const ModelMatrix& matrix : model.record.matrices) {
    const Matrix& own = matrix.name == "noise" ? noise.rows : sample.rows;
    rows.matrices.push_back(test::query_block(own).matrices.front());
  }
  const TrainedModel back = load_trained_bytes(trained_bytes(model), "m.kith");
  EXPECT_EQ(ask(back, rows).labels, ask(model, rows).labels);
  for (const TrainedModel& member : model.members) {
    for (std::size_t m = 0; m < member.sources.size(); ++m) {
      const auto source = static_cast<std::size_t>(member.sources[m]);
      EXPECT_EQ(member.record.matrices[m].name, model.record.matrices.at(source).name);
    }
  }
}

TEST(Selection, FromRawSamplesMeasuresNewOnesByWhatWasChosen) {
  SeriesData all{.source = "t.csv", .ids = {}, .values = {}};
  Rng rng(3);
  std::vector<int> classes;
  for (int i = 0; i < 46; ++i) {
    std::vector<double> one;
    one.reserve(8);
    for (int k = 0; k < 8; ++k) one.push_back((i % 2 == 0 ? k : 8 - k) + 2 * rng.normal());
    all.values.push_back(one);
    if (i < 40) classes.push_back(i % 2);
  }
  SeriesData known = all;
  known.values.resize(40);
  SeriesData fresh = all;
  fresh.values.erase(fresh.values.begin(), fresh.values.begin() + 40);
  const std::vector<RawMatrix> samples = {test::raw_matrix("made", Measure::kDtw, known)};
  RunContext ctx;
  ExperimentData data =
      make_experiment_data(samples, test::numbered_labels(classes), InputSettings{}, ctx);
  std::vector<Candidate> methods = parse_candidates("knn,ridge-clip");
  for (Candidate& one : methods) search(one, "band", std::vector<std::string>{"0", "5"});
  resolve_inputs(data, samples, kAll, methods, ctx);
  const Selection selection = select_methods(data, methods, {.folds = 3}, ctx);
  const TrainedModel made = fitted(selection, data, {}, samples);
  const TrainedModel model = load_trained_bytes(trained_bytes(made), "m.kith");
  QueryBlock rows;
  for (const ModelMatrix& matrix : model.record.matrices) {
    ASSERT_TRUE(matrix.measure.has_value());
    rows.matrices.push_back(measure_rows(*matrix.measure, fresh, ctx));
  }
  const Prediction said = ask(model, rows);
  // By hand, member by member, from tables measured with the settings that were chosen.
  std::vector<Prediction> members;
  for (const SelectionEntry& entry : selection.entries) {
    if (!entry.seated) continue;
    const std::vector<RawMatrix> raw = with_measure(samples, entry.input);
    ASSERT_EQ(entry.input.measure.size(), 1U);
    const PreparedTraining prepared = prepare_training(raw, data.labels, entry.input.settings, ctx);
    MethodChoice choice = entry.method.choice;
    choice.settings = entry.settings;
    switch_evidence(choice, true);
    RunContext own;
    const TrainedModel one = train(prepared, choice, own).model;
    QueryBlock block;
    block.matrices.push_back(measure_rows(*one.record.matrices[0].measure, fresh, ctx));
    members.push_back(ask(one, block));
  }
  if (members.size() == 1) {
    EXPECT_EQ(said.labels, members.front().labels);
  } else {
    EXPECT_EQ(said.probabilities, combined(members, 2).probabilities);
  }
}

TEST(Selection, DroppedSamplesStayOutAndRowsOverAllGivenAreTaken) {
  test::Sample sample = test::make_sample(50, 7, 2, 8);
  sample.S(3, 5) = sample.S(5, 3) = sample.S(3, 9) = std::numeric_limits<double>::quiet_NaN();
  const Task task = task_of(sample, "knn,svm-clip", kAll, {.missing = MissingRule::kDropSample});
  ASSERT_EQ(task.data.samples(), 49);
  const TrainedModel model = fitted(selected(task), task.data);
  EXPECT_EQ(model.record.given_samples, 50);
  std::vector<Index> left;
  for (Index i = 0; i < 50; ++i) {
    if (i != 3) left.push_back(i);
  }
  const Matrix rows = sample.rows;
  EXPECT_EQ(ask(model, test::query_block(rows, sample.self)).labels,
            ask(model, test::query_block(rows(Eigen::all, left), sample.self)).labels);
}

TEST(Selection, OfMethodsOnVectorsIsTheBestOne) {
  const test::Sample sample = test::make_sample(40, 0, 2, 8);
  const VectorData vectors{
      .source = "v.csv", .ids = {}, .values = DenseBlock(RowMatrix(sample.S.leftCols(5)))};
  const ExperimentData data = make_experiment_data(vectors, test::numbered_labels(sample.classes));
  RunContext ctx;
  const std::vector<Candidate> methods = parse_candidates("a=vector-svm,b=vector-svm");
  const Selection selection = select_methods(data, methods, {.folds = 3}, ctx);
  EXPECT_EQ(std::ranges::count_if(selection.entries, [](const auto& one) { return one.seated; }),
            1);
  EXPECT_TRUE(selection.entries[selection.best].seated);
  const Training done = train_selected(selection, data, {}, &vectors, {}, ctx);
  EXPECT_EQ(done.model.record.features, 5);
}

// --- as a row of `evaluate` -------------------------------------------------------------------

Candidate small_committee() { return committee_of("auto", parse_candidates("knn,svm-clip,sda")); }

struct Outcome {
  ExperimentPlan plan;
  std::vector<std::vector<TestResult>> tests;            // of each candidate, each partition
  std::vector<std::vector<std::vector<double>>> losses;  // of each candidate, all folds
};

Outcome run_of(const ExperimentData& data, ExperimentPlan plan, Store& store) {
  RunContext ctx;
  Outcome run{.plan = std::move(plan), .tests = {}, .losses = {}};
  const std::int64_t experiment =
      run_experiment(data, run.plan, store, NewData::kRefuse, ctx).experiment;
  for (const std::int64_t c : store.candidates(experiment)) {
    run.tests.emplace_back();
    run.losses.emplace_back();
    for (std::size_t p = 0; p < run.plan.partitions.size(); ++p) {
      const int at = static_cast<int>(p);
      run.tests.back().push_back(*store.test_result({c, at, kTestFold}));
      for (int f = 0; f < run.plan.partitions[p].folds(); ++f) {
        run.losses.back().push_back(store.fold_result({c, at, f})->losses);
      }
    }
  }
  return run;
}

ExperimentPlan plan_with_auto(const ExperimentData& data) {
  ExperimentPlan plan = test::plan_of(data, {"knn", "svm-clip", "sda"}, {.repeats = 2, .folds = 3});
  plan.candidates.push_back(small_committee());
  return plan;
}

TEST(AutoRow, IsItsDefinition) {
  const test::Sample sample = test::make_sample(60, 0, 3, 6);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  Store store(":memory:");
  const Outcome run = run_of(data, plan_with_auto(data), store);
  for (std::size_t k = 0; k < run.losses[3].size(); ++k) {
    std::vector<double> joined;
    for (std::size_t m = 0; m < 3; ++m) {
      joined.insert(joined.end(), run.losses[m][k].begin(), run.losses[m][k].end());
    }
    EXPECT_EQ(run.losses[3][k], joined);
  }
  for (std::size_t p = 0; p < 2; ++p) {
    const Partition& partition = run.plan.partitions[p];
    std::vector<double> errors;
    for (std::size_t m = 0; m < 3; ++m) {
      errors.push_back(std::ranges::min(run.tests[m][p].inner_losses) /
                       static_cast<double>(partition.train.size()));
    }
    std::vector<Prediction> members;
    std::vector<std::string> names;
    for (const std::size_t m : seats(errors, std::ssize(partition.train))) {
      RunContext ctx;
      ctx.rng =
          ctx.rng.child("partition", p).child("fold", static_cast<std::uint64_t>(kTestFold) + 1);
      MethodChoice choice = run.plan.candidates[m].choice;
      for (const GridAxis& axis : run.plan.candidates[m].axes) {
        const Json& value = run.tests[m][p].chosen[axis.field];
        set(choice, axis.field, value.is_string() ? value.get<std::string>() : value.dump());
      }
      switch_probability(choice);
      const PreparedTraining prepared =
          prepare_training(select_samples(data.matrices, partition.train),
                           select(data.labels, partition.train), InputSettings{}, ctx);
      QueryBlock raw = test::query_block(
          to_dense(select(data.matrices.sets[0].block, partition.test, partition.train)).values());
      Vector self(std::ssize(partition.test));
      for (Index i = 0; i < self.size(); ++i) {
        const Index at = partition.test[static_cast<std::size_t>(i)];
        self[i] = sample.S(at, at);
      }
      raw.matrices.front().self = self;
      members.push_back(predict(train(prepared, choice, ctx).model, raw, ctx));
      names.push_back(run.plan.candidates[m].name);
    }
    const Prediction expected = combined(members, 3);
    const TestResult& own = run.tests[3][p];
    EXPECT_EQ(own.prediction.labels, expected.labels);
    // A store keeps single precision.
    EXPECT_LE((own.prediction.probabilities - expected.probabilities).cwiseAbs().maxCoeff(), 1e-7);
    ASSERT_EQ(own.chosen["members"].size(), names.size());
    for (std::size_t m = 0; m < names.size(); ++m) {
      EXPECT_EQ(own.chosen["members"][m]["method"], names[m]);
    }
  }
}

TEST(AutoRow, LeavesTheOtherRowsAndIsLeftByThem) {
  const test::Sample sample = test::make_sample(48, 0, 2, 6);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  const ExperimentPlan all = plan_with_auto(data);
  ExperimentPlan single = all;
  single.candidates.resize(3);
  ExperimentPlan committee = all;
  committee.candidates.erase(committee.candidates.begin(), committee.candidates.begin() + 3);
  EXPECT_EQ(test::run(data, all), test::run(data, single) + test::run(data, committee));
  EXPECT_EQ(test::run(data, all, 5), test::run(data, all, 1));
}

TEST(AutoRow, GoesOnWhereTheStoreEnds) {
  const test::Sample sample = test::make_sample(48, 0, 2, 6);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  const ExperimentPlan plan = plan_with_auto(data);
  Store store(":memory:");
  test::run_interrupted(data, plan, store, 6);
  RunContext rest;
  (void)run_experiment(data, plan, store, NewData::kRefuse, rest);
  EXPECT_EQ(test::everything(store, store.experiments().front()), test::run(data, plan));
}

TEST(AutoRow, DoesWithoutAMemberThatCannotBeFitted) {
  const test::Sample sample = test::make_sample(40, 0, 2, 9);
  const ExperimentData data = test::data_of(sample.S, sample.classes);
  ExperimentPlan plan = test::plan_of(data, {}, {.repeats = 1, .folds = 3});
  plan.candidates = {committee_of("auto", parse_candidates("knn,bad=svm-diffusion"))};
  fix(plan.candidates[0].members[1], "beta", "1e9");
  Store store(":memory:");
  const Outcome run = run_of(data, plan, store);
  ASSERT_EQ(run.tests[0][0].chosen["members"].size(), 1U);
  EXPECT_EQ(run.tests[0][0].chosen["members"][0]["method"], "knn");
}

TEST(Committee, DecidesByCostsWithMembersThatHaveProbabilities) {
  Candidate committee = committee_of("auto", parse_candidates("knn,svm-knn,ridge"));
  fix(committee, "costs", "c0:c1=5");
  std::vector<std::string> names;
  for (const Candidate& one : committee.members) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("knn", "ridge"));
  // As it is where a model is trained.
  Task task = task_of(test::make_sample(60, 0, 2, 10), "knn,svm-knn,ridge");
  for (Candidate& one : task.methods) {
    if (can_sit(one, {.priors = "", .costs = "c0:c1=5"})) fix(one, "costs", "c0:c1=5");
  }
  const Selection selection = selected(task);
  EXPECT_TRUE(selection.entries[1].skipped.has_value());
  EXPECT_FALSE(selection.entries[0].skipped.has_value());
  for (const SelectionEntry& entry : selection.entries) {
    EXPECT_TRUE(entry.skipped || entry.error > 0);
  }
}

TEST(Committee, SettingsAreThoseOfTheMembersThatHaveThem) {
  std::vector<Candidate> candidates = {small_committee()};
  grant({{{.candidate = "auto", .key = "neighbours", .values = {"3"}, .said = "set"},
          {.candidate = "auto", .key = "costs", .values = {"c0:c1=5"}, .said = "set"}}},
        {{{.candidate = "*", .key = "cost", .values = {"2", "3"}, .said = "grid"}}}, candidates);
  const std::vector<Candidate>& members = candidates[0].members;
  EXPECT_EQ(grid_points(members[0], 50).settings.size(), 1U);
  EXPECT_EQ(grid_points(members[1], 50).settings.size(), 2U);
  EXPECT_EQ(candidates[0].choice.decision.costs, "c0:c1=5");
  for (const Candidate& member : members) {
    EXPECT_TRUE(method_info(member.choice.settings).probabilities);
  }
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument,
               [&] {
                 grant({{{.candidate = "auto", .key = "rho", .values = {"3"}, .said = "set"}}}, {},
                       candidates);
               }),
      HasSubstr("rho"));
}

}  // namespace
}  // namespace kith::selection_test
