// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/multiclass/fit_tasks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "kith/learn/multiclass/machines.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/learn/svm/kernel_svm.hpp"
#include "support/fitting.hpp"

namespace kith::fit_tasks_threads_test {
namespace {

using test::fit_once;
using test::make_sample;
using test::predict_once;
using test::query_block;
using test::Sample;
using test::training_set;

struct Step {
  double slope = 1;
  bool probability = true;
};

/// Tells numbers apart by the middle between two means.
struct ToyLearner {
  struct Machine : BinaryMachine {
    double middle = 0;
    double slope = 1;
  };
  struct Block {
    Vector x;
    Vector y;
    int solved = 0;
  };

  Vector numbers;
  std::span<const Step> path;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return Rng(7 + static_cast<std::uint64_t>(number));
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t /*number*/) const {
    return {.x = numbers(task.samples), .y = task.y()};
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    return {.x = whole.x(samples), .y = whole.y(samples)};
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    EXPECT_EQ(request.calibrates(), std::ssize(request.samples) == block.y.size());
    double sums[2] = {0, 0};
    double counts[2] = {0, 0};
    for (Index i = 0; i < block.y.size(); ++i) {
      sums[block.y(i) > 0 ? 1 : 0] += block.x(i);
      counts[block.y(i) > 0 ? 1 : 0] += 1;
    }
    const double low = sums[0] / counts[0];
    const double high = sums[1] / counts[1];
    Machine machine;
    machine.middle = (low + high) / 2;
    machine.slope = path[request.step].slope * (high > low ? 1 : -1);
    machine.evidence.info.iterations = ++block.solved;  // the block is that of the step before
    machine.consistency = request.calibrates() ? 1e9 : std::abs(machine.middle);
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> /*trained_on*/) const {
    return machine.slope * (whole.x(rows).array() - machine.middle);
  }
};

Labels three_classes() {
  std::vector<std::string> names;
  names.reserve(30);
  for (int i = 0; i < 30; ++i) names.emplace_back(i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c");
  return make_labels(names);
}

Vector numbers_of(const Labels& labels) {
  Rng rng(5);
  Vector numbers(labels.size());
  for (Index i = 0; i < numbers.size(); ++i) {
    numbers(i) = 3.0 * labels.ids[static_cast<std::size_t>(i)] + rng.normal();
  }
  return numbers;
}

TEST(FitTasks, NamesTasksAndGathersTheirEvidence) {
  const Labels labels = three_classes();
  const std::vector<Step> path = {{1, true}, {2, false}, {3, true}};
  const ToyLearner learner{numbers_of(labels), path};
  const std::vector<BinaryTask> tasks = binary_tasks(labels);
  const RunContext ctx;
  const auto fitted = fit_tasks(tasks, labels, std::span<const Step>(path), learner, ctx);
  ASSERT_EQ(fitted.size(), 3U);
  EXPECT_EQ(fitted[0].info.subproblems[1].name, "a | c");
  EXPECT_EQ(fitted[2].info.subproblems[1].info.iterations, 3);
  double worst = 0;
  for (const auto& machine : fitted[0].machines) {
    worst = std::max(worst, std::abs(machine.middle));
  }
  EXPECT_EQ(fitted[0].info.consistency, worst);
  EXPECT_EQ(fitted[0].sigmoids.cols(), 3);
  EXPECT_EQ(fitted[1].sigmoids.size(), 0);
  // Decision values that are three times as large have a slope of a third.
  EXPECT_NEAR(fitted[2].sigmoids(0, 0), fitted[0].sigmoids(0, 0) / 3, 1e-6);
  EXPECT_LT(fitted[0].sigmoids(0, 0), 0);
}

/// Notes which samples each machine was trained on that gave held-out values.
struct WatchingLearner : ToyLearner {
  WatchingLearner(const ToyLearner& toy, std::span<const int> watched)
      : ToyLearner(toy), groups(watched) {}
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const {
    std::set<int> known;
    for (const Index i : trained_on) known.insert(groups[static_cast<std::size_t>(i)]);
    for (const Index i : rows) {
      ++asked;
      if (known.contains(groups[static_cast<std::size_t>(i)])) ++seen;
    }
    return ToyLearner::decisions(whole, machine, rows, trained_on);
  }
  std::span<const int> groups;  // of the samples of the only task
  mutable std::atomic<int> asked = 0;
  mutable std::atomic<int> seen = 0;
};

TEST(FitTasks, CalibrateByMachinesThatHaveSeenNoneOfTheGroup) {
  std::vector<std::string> classes, groups;
  for (int i = 0; i < 60; ++i) {
    classes.emplace_back(i % 4 < 2 ? "a" : "b");
    groups.push_back(std::to_string(i / 4 + (i % 2) * 20));
  }
  Labels labels = make_labels(classes);
  const std::vector<Step> path = {{1, true}};
  const ToyLearner toy{numbers_of(labels), path};
  const std::vector<BinaryTask> tasks = binary_tasks(labels);
  const RunContext ctx;
  labels.groups = make_groups(groups);
  const WatchingLearner watching(toy, labels.groups.ids);
  const auto fitted = fit_tasks(tasks, labels, std::span<const Step>(path), watching, ctx);
  EXPECT_EQ(watching.asked, 60);
  EXPECT_EQ(watching.seen, 0);
  EXPECT_TRUE(fitted[0].info.notes.empty());
  // Without groups the same learner sees them.
  const std::vector<int> ids = labels.groups.ids;
  labels.groups = {};
  const WatchingLearner blind(toy, ids);
  (void)fit_tasks(tasks, labels, std::span<const Step>(path), blind, ctx);
  EXPECT_GT(blind.seen, 10);
}

TEST(FitTasks, SayWhereGroupsLeaveNothingToCalibrateBy) {
  Labels labels = three_classes();
  std::vector<std::string> groups;
  groups.reserve(30);
  for (int i = 0; i < 30; ++i) groups.push_back(i % 3 == 0 ? "all of a" : std::to_string(i));
  labels.groups = make_groups(groups);
  const std::vector<Step> path = {{1, true}, {2, false}};
  const ToyLearner learner{numbers_of(labels), path};
  const auto fitted =
      fit_tasks(binary_tasks(labels), labels, std::span<const Step>(path), learner, RunContext());
  ASSERT_EQ(fitted[0].info.notes.size(), 1U);
  EXPECT_NE(fitted[0].info.notes[0].find("a | b and a | c"), std::string::npos);
  EXPECT_EQ(fitted[0].info.notes[0].find("b | c"), std::string::npos);
  EXPECT_TRUE(fitted[1].info.notes.empty());
}

TEST(FitTasks, IsTheSameOnSeveralThreads) {
  const Labels labels = three_classes();
  const std::vector<Step> path = {{1, true}};
  const ToyLearner learner{numbers_of(labels), path};
  for (const Multiclass rule : {Multiclass::kOneVsOne, Multiclass::kOneVsRest}) {
    const std::vector<BinaryTask> tasks = binary_tasks(labels, rule);
    RunContext ctx;
    ctx.threads = 1;
    const auto one = fit_tasks(tasks, labels, std::span<const Step>(path), learner, ctx);
    ctx.threads = 5;  // more than tasks: folds run beside each other as well
    const auto five = fit_tasks(tasks, labels, std::span<const Step>(path), learner, ctx);
    EXPECT_EQ(one[0].sigmoids, five[0].sigmoids);
    EXPECT_EQ(one[0].machines[2].middle, five[0].machines[2].middle);
  }
}

TEST(PathGroups, GiveResultsInTheOrderOfThePath) {
  const std::vector<std::pair<int, int>> path = {{2, 9}, {1, 5}, {2, 3}, {1, 1}};
  const auto first = [](const std::pair<int, int>& s) { return s.first; };
  const auto second = [](const std::pair<int, int>& s) { return s.second; };
  const std::vector<int> found =
      fit_in_groups(std::span<const std::pair<int, int>>(path), first, second,
                    [](std::span<const std::pair<int, int>> group) {
                      std::vector<int> results;
                      for (const auto& one : group) {
                        EXPECT_EQ(one.first, group.front().first);
                        if (!results.empty()) {
                          EXPECT_GT(one.second, results.back());
                        }
                        results.push_back(one.second);
                      }
                      return results;
                    });
  EXPECT_EQ(found, (std::vector<int>{9, 5, 3, 1}));
}

TEST(SparseColumns, HoldTheSameNumbersAsAMatrix) {
  Matrix dense = Matrix::Zero(6, 4);
  dense(1, 0) = 2;
  dense(5, 0) = -1;
  dense(3, 2) = 4;
  const SparseColumns sparse(dense);
  EXPECT_EQ(sparse.values.size(), 3);
  EXPECT_EQ(sparse.dense(), dense);
  EXPECT_EQ(sparse.used_rows(), (std::vector<Index>{1, 3, 5}));
  EXPECT_EQ(sparse.with_rows(sparse.used_rows()).dense(), dense({1, 3, 5}, Eigen::all));
  const RowMatrix rows = RowMatrix::Random(3, 6);
  EXPECT_LT((product(rows, sparse) - rows * dense).cwiseAbs().maxCoeff(), 1e-15);
}

TEST(MapColumns, KeepTheMapWhereThatIsSmaller) {
  const Matrix map = Matrix::Random(7, 5);
  const auto times = [&](const MatrixRef& X) -> Matrix { return map * X; };
  const RowMatrix rows = RowMatrix::Random(4, 7);
  for (const Index tasks : {2, 40}) {
    Matrix c = Matrix::Random(5, tasks);
    c.row(3).setZero();
    const MappedColumns found = map_columns(SparseColumns(c), times);
    EXPECT_EQ(found.map.size() > 0, tasks == 40);
    EXPECT_EQ(std::ssize(found.columns), 7);
    const RowMatrix seen = found.map.size() > 0 ? RowMatrix(rows * found.map) : rows;
    EXPECT_LT((product(seen, found.coefficients) - rows * map * c).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(OneVsRest, OfSvmIsAMachineForEachClassAgainstTheRest) {
  const Sample sample = make_sample(40, 12, 3, 21);
  const SvmSettings settings{.cost = 2, .multiclass = Multiclass::kOneVsRest};
  const Fitted<SvmModel> fitted = fit_once(training_set(sample.S, sample.classes), settings);
  ASSERT_EQ(fitted.model.tasks.size(), 3);
  RunContext ctx;
  const QueryBlock queries = query_block(sample.rows);
  const Matrix decisions = decision_values(fitted.model, queries, ctx);
  for (int c = 0; c < 3; ++c) {
    std::vector<int> own;
    for (const int id : sample.classes) own.push_back(id == c ? 0 : 1);
    const SvmSettings two_classes{.cost = 2, .probability = false};
    const Fitted<SvmModel> alone = fit_once(training_set(sample.S, own), two_classes);
    EXPECT_NEAR(fitted.info.subproblems[static_cast<std::size_t>(c)].info.objective,
                alone.info.objective(), 1e-5 * alone.info.objective());
    const Vector expected = decision_values(alone.model, queries, ctx).col(0);
    EXPECT_LT((decisions.col(c) - expected).cwiseAbs().maxCoeff(), 1e-3) << c;
  }
  const Prediction found = predict_once(fitted.model, queries);
  for (Index i = 0; i < decisions.rows(); ++i) {
    Index best = 0;
    decisions.row(i).maxCoeff(&best);
    EXPECT_EQ(found.labels[static_cast<std::size_t>(i)], best);
    EXPECT_NEAR(found.probabilities.row(i).sum(), 1, 1e-12);
  }
}

TEST(ManyClasses, KeepTheirOwnSupportVectorsAlone) {
  // Two samples of each of 30 classes: 435 tasks of 4 samples.
  const Sample sample = make_sample(60, 10, 30, 4);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const SvmModel model = fit_once(set, SvmSettings{.probability = false}).model;
  EXPECT_GT(model.map.size(), 0);  // of clip
  EXPECT_LE(model.coefficients.values.size(), 4 * model.tasks.size());
  // With nothing done to rows the same machines have no map.
  SvmSettings settings{.spectrum = Spectrum::kShift, .probability = false};
  const SvmModel plain = fit_once(set, settings).model;
  EXPECT_EQ(plain.map.size(), 0);
  EXPECT_LE(plain.coefficients.values.size(), 4 * plain.tasks.size());
}

}  // namespace
}  // namespace kith::fit_tasks_threads_test
