// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/lp_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/core/error.hpp"
#include "support/fitting.hpp"

namespace kith::lp_machine_test {
namespace {

using test::fit_once;
using test::make_sample;
using test::predict_once;
using test::Sample;
using test::training_set;

/// A similarity that is not symmetric.
Sample asymmetric(int classes) {
  Sample sample = make_sample(40, 15, classes, 3);
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < i; ++j) sample.S(i, j) += 0.3 * std::sin(static_cast<double>(i + 3 * j));
  }
  return sample;
}

/// [TR] (4) for the first two classes.
double printed(const Sample& sample, const LpMachineModel& model, double cost) {
  double value = model.coefficients.column(0).lpNorm<1>();
  for (Index i = 0; i < sample.S.rows(); ++i) {
    const int c = sample.classes[static_cast<std::size_t>(i)];
    if (c > 1) continue;
    double f = model.intercepts(0);
    for (std::size_t k = 0; k < model.columns.size(); ++k) {
      f += sample.S(i, model.columns[k]) * model.coefficients.column(0)(static_cast<Index>(k));
    }
    value += cost * std::max(0.0, 1 - (c == 0 ? f : -f));
  }
  return value;
}

TEST(LpMachine, ReportsThePrintedObjectiveOfRowsToColumns) {
  for (const int classes : {2, 3}) {
    const Sample sample = asymmetric(classes);
    for (const double cost : {0.02, 1.0, 1e3}) {
      const auto fitted = fit_once<LpMachineSettings>(training_set(sample.S, sample.classes),
                                                      {.cost = cost, .probability = false});
      const SolveInfo& first = fitted.info.subproblems.front().info;
      EXPECT_EQ(first.status, SolveStatus::kSolved);
      EXPECT_LE(first.gap, 1e-8);
      EXPECT_NEAR(first.objective, printed(sample, fitted.model, cost), 1e-9 * first.objective);
      EXPECT_EQ(std::isnan(fitted.info.objective()), classes > 2);
    }
  }
}

TEST(LpMachine, KeepsColumnsWithACoefficientOnly) {
  const Sample sample = asymmetric(3);
  const auto fitted =
      fit_once<LpMachineSettings>(training_set(sample.S, sample.classes), {.cost = 0.1});
  const LpMachineModel& model = fitted.model;
  EXPECT_LT(model.columns.size(), 40u);
  EXPECT_EQ(model.coefficients.rows, static_cast<Index>(model.columns.size()));
  for (Index k = 0; k < model.coefficients.rows; ++k) {
    EXPECT_GT(model.coefficients.dense().row(k).cwiseAbs().maxCoeff(), 0);
  }
  EXPECT_EQ(needed_columns(model), model.columns);
  const Matrix narrow = sample.rows(Eigen::all, model.columns);
  EXPECT_EQ(predict_once(model, narrow).scores, predict_once(model, sample.rows).scores);
  RunContext ctx;
  EXPECT_THROW((void)predict(model, test::query_block(Matrix::Zero(2, 39)), ctx), Error);
}

TEST(LpMachine, KeepsOneColumnWithoutWeightWhereTheCostIsTooSmall) {
  const Sample sample = asymmetric(2);
  const auto fitted =
      fit_once<LpMachineSettings>(training_set(sample.S, sample.classes), {.cost = 1e-6});
  EXPECT_EQ(fitted.model.columns, std::vector<Index>{0});
  EXPECT_TRUE(fitted.model.coefficients.dense().isZero(0));
  EXPECT_NEAR(fitted.info.objective(), 40e-6, 1e-15);
  EXPECT_EQ(predict_once(fitted.model, Matrix::Zero(3, 1)).labels.size(), 3u);
  EXPECT_EQ(predict_once(fitted.model, sample.rows).labels.size(), 15u);
}

TEST(LpMachine, ChoosesAmongItsPrototypes) {
  const Sample sample = asymmetric(3);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const auto few = fit_once<LpMachineSettings>(set, {.cost = 10, .prototypes = 8});
  const auto all = fit_once<LpMachineSettings>(set, {.cost = 10, .prototypes = 40});
  const auto none = fit_once<LpMachineSettings>(set, {.cost = 10});
  EXPECT_LE(few.model.columns.size(), 8u);
  EXPECT_EQ(all.model.columns, none.model.columns);
  EXPECT_EQ(all.model.coefficients, none.model.coefficients);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_GE(few.info.subproblems[p].info.objective,
              all.info.subproblems[p].info.objective * (1 - 1e-8));
  }
}

TEST(LpMachine, GivesAlongAPathTheObjectivesItGivesAlone) {
  const Sample sample = asymmetric(3);
  const TrainingSet set = training_set(sample.S, sample.classes);
  std::vector<LpMachineSettings> path;
  for (const double cost : {1e5, 1e-3, 1.0, 0.1, 1e3}) {
    path.push_back({.cost = cost});
    path.push_back({.cost = cost, .prototypes = 12, .probability = false});
  }
  SharedWork work(set);
  RunContext ctx;
  const auto along = fit_path(work, std::span<const LpMachineSettings>(path), ctx);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto alone = fit_once(set, path[i]);
    EXPECT_EQ(along[i].model.sigmoids.cols(), path[i].probability ? 3 : 0);
    EXPECT_LE(along[i].info.gap(), 1e-8);
    for (std::size_t p = 0; p < 3; ++p) {
      const double expected = alone.info.subproblems[p].info.objective;
      EXPECT_NEAR(along[i].info.subproblems[p].info.objective, expected, 2e-8 * expected);
    }
  }
}

TEST(LpMachine, WeightsCountAsRepeatedSamples) {
  const Sample sample = asymmetric(2);
  TrainingSet weighted = training_set(sample.S, sample.classes);
  weighted.weights = Vector::Ones(40);
  weighted.weights(0) = 3;
  // Sample 0 three times, its repetitions as columns all 0: they say nothing.
  Matrix wide = Matrix::Zero(42, 42);
  wide.topLeftCorner(40, 40) = sample.S;
  wide.row(40) = wide.row(0);
  wide.row(41) = wide.row(0);
  std::vector<int> classes = sample.classes;
  classes.insert(classes.end(), 2, classes[0]);
  const LpMachineSettings settings{.cost = 0.05, .probability = false};
  const auto one = fit_once(weighted, settings);
  const auto three = fit_once(training_set(wide, classes), settings);
  EXPECT_NEAR(one.info.objective(), three.info.objective(), 2e-8 * one.info.objective());
}

}  // namespace
}  // namespace kith::lp_machine_test
