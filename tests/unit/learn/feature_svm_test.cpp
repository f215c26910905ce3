// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/feature_svm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "kith/learn/svm/kernel_svm.hpp"
#include "support/fitting.hpp"

namespace kith::feature_svm_test {
namespace {

struct Task {
  TrainingSet set;
  QueryBlock queries;
};

/// `classes` classes whose members are somewhat alike; 30 to learn from, 12 new.
Task make_task(int classes, bool symmetric) {
  constexpr Index kTrain = 30;
  constexpr Index kNew = 12;
  Rng rng(7);
  RowMatrix S(kTrain + kNew, kTrain + kNew);
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j < S.cols(); ++j) {
      S(i, j) = rng.normal() + (i % classes == j % classes ? 1 : 0);
    }
  }
  if (symmetric) S = (0.5 * (S + S.transpose())).eval();
  Task task;
  std::vector<std::string> names;
  for (Index i = 0; i < kTrain; ++i) {
    names.emplace_back(1, static_cast<char>('a' + i % classes));
  }
  task.set.labels = make_labels(names);
  task.set.matrices.push_back({"s", DenseBlock(RowMatrix(S.topLeftCorner(kTrain, kTrain)))});
  task.queries.matrices.push_back(
      {.to_training = DenseBlock(RowMatrix(S.bottomLeftCorner(kNew, kTrain)))});
  return task;
}

RowMatrix training_rows(const Task& task) {
  return std::get<DenseBlock>(task.set.matrices[0].block).values();
}
RowMatrix query_rows(const Task& task) {
  return std::get<DenseBlock>(task.queries.matrices[0].to_training).values();
}

TEST(FeatureSvm, LinearOnAllColumnsIsTheSvmOnTheSquaredSpectrum) {
  for (const int classes : {2, 3}) {
    const Task task = make_task(classes, /*symmetric=*/true);
    SharedWork work(task.set);
    RunContext ctx;
    const auto features = fit(work, FeatureSvmSettings{.cost = 0.3, .tolerance = 1e-9}, ctx);
    const auto square =
        fit(work, SvmSettings{.cost = 0.3, .spectrum = Spectrum::kSquare, .tolerance = 1e-9}, ctx);
    const Prediction found = test::predict_once(features.model, task.queries);
    const Prediction expected = test::predict_once(square.model, task.queries);
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_LT((found.scores - expected.scores).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_LT((found.probabilities - expected.probabilities).cwiseAbs().maxCoeff(), 1e-4);
  }
}

TEST(FeatureSvm, LinearMinimisesThePrintedProblem) {
  const Task task = make_task(2, /*symmetric=*/false);
  SharedWork work(task.set);
  RunContext ctx;
  const double cost = 0.05;
  const auto fitted =
      fit(work, FeatureSvmSettings{.cost = cost, .probability = false, .tolerance = 1e-9}, ctx);
  const RowMatrix F = training_rows(task);
  const auto printed = [&](const Vector& w, double b) {
    double loss = 0;
    for (Index i = 0; i < F.rows(); ++i) {
      const double y = task.set.labels.ids[static_cast<std::size_t>(i)] == 0 ? 1 : -1;
      loss += std::max(0.0, 1 - y * (F.row(i).dot(w) + b));
    }
    return 0.5 * w.squaredNorm() + cost * loss;
  };
  const Vector w = fitted.model.coefficients.column(0);
  const double b = fitted.model.intercepts(0);
  const double least = printed(w, b);
  EXPECT_NEAR(fitted.info.objective(), least, 1e-9 * least);
  Rng rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    Vector step(w.size());
    for (Index j = 0; j < step.size(); ++j) step(j) = rng.normal();
    const double size = std::pow(10.0, -4 * rng.uniform()) * w.norm() / step.norm();
    EXPECT_GT(printed(w + size * step, b + size * rng.normal()), least * (1 - 1e-8));
  }
}

TEST(FeatureSvm, RbfDecidesByTheKernelOfItsSupports) {
  const Task task = make_task(2, /*symmetric=*/false);
  SharedWork work(task.set);
  RunContext ctx;
  const FeatureSvmSettings settings{
      .kernel = FeatureKernel::kRbf, .cost = 2, .gamma = 0.02, .tolerance = 1e-9};
  const auto fitted = fit(work, settings, ctx);
  const FeatureSvmModel& model = fitted.model;
  EXPECT_LE(fitted.info.kkt_residual(), 1e-9);
  const RowMatrix Q = query_rows(task);
  const Prediction found = test::predict_once(model, task.queries);
  for (Index q = 0; q < Q.rows(); ++q) {
    double f = model.intercepts(0);
    for (Index s = 0; s < model.supports.rows(); ++s) {
      const double distance = (Q.row(q) - model.supports.row(s)).squaredNorm();
      f += model.coefficients.column(0)(s) * std::exp(-settings.gamma * distance);
    }
    EXPECT_NEAR(found.scores(q, 0), f, 1e-12);
  }
}

TEST(FeatureSvm, RbfIsNotBlindedByALargeConstant) {
  Task task = make_task(2, /*symmetric=*/false);
  Task moved = task;
  moved.set.matrices[0].block = DenseBlock(RowMatrix(training_rows(task).array() + 1e6));
  moved.queries.matrices[0].to_training = DenseBlock(RowMatrix(query_rows(task).array() + 1e6));
  RunContext ctx;
  const FeatureSvmSettings settings{
      .kernel = FeatureKernel::kRbf, .gamma = 0.02, .probability = false, .tolerance = 1e-9};
  SharedWork work(task.set);
  SharedWork moved_work(moved.set);
  const Prediction plain = test::predict_once(fit(work, settings, ctx).model, task.queries);
  const Prediction shifted =
      test::predict_once(fit(moved_work, settings, ctx).model, moved.queries);
  EXPECT_LT((plain.scores - shifted.scores).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(FeatureSvm, FitsAlongAPathAsOneByOne) {
  const Task task = make_task(3, /*symmetric=*/false);
  SharedWork work(task.set);
  RunContext ctx;
  std::vector<FeatureSvmSettings> path;
  for (const FeatureKernel kernel : {FeatureKernel::kRbf, FeatureKernel::kLinear}) {
    for (const double cost : {10.0, 0.1}) {
      for (const double gamma : {0.1, 0.001}) {
        for (const std::optional<Index> prototypes :
             {std::optional<Index>(), std::optional<Index>(9)}) {
          path.push_back({.kernel = kernel,
                          .cost = cost,
                          .gamma = gamma,
                          .prototypes = prototypes,
                          .tolerance = 1e-9});
        }
      }
    }
  }
  const auto along = fit_path(work, std::span<const FeatureSvmSettings>(path), ctx);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Prediction found = test::predict_once(along[i].model, task.queries);
    const Prediction alone = test::predict_once(fit(work, path[i], ctx).model, task.queries);
    EXPECT_EQ(found.labels, alone.labels);
    EXPECT_LT((found.scores - alone.scores).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(FeatureSvm, NeedsItsPrototypesOnly) {
  const Task task = make_task(3, /*symmetric=*/false);
  SharedWork work(task.set);
  RunContext ctx;
  for (const FeatureKernel kernel : {FeatureKernel::kLinear, FeatureKernel::kRbf}) {
    const FeatureSvmModel model =
        fit(work, FeatureSvmSettings{.kernel = kernel, .gamma = 0.05, .prototypes = 8}, ctx).model;
    ASSERT_EQ(needed_columns(model).size(), 8u);
    std::vector<Index> every(static_cast<std::size_t>(task.queries.size()));
    std::iota(every.begin(), every.end(), Index{0});
    QueryBlock narrow;
    narrow.matrices.push_back({.to_training = select(task.queries.matrices[0].to_training, every,
                                                     needed_columns(model))});
    EXPECT_EQ(predict(model, narrow, ctx).scores, test::predict_once(model, task.queries).scores);
    narrow.matrices[0].to_training = DenseBlock(RowMatrix(RowMatrix::Zero(2, 7)));
    EXPECT_THROW((void)predict(model, narrow, ctx), Error);
  }
}

TEST(FeatureSvm, WeightsCountAsRepeatedSamples) {
  Task task = make_task(2, /*symmetric=*/false);
  const RowMatrix F = training_rows(task);
  Task repeated = task;
  // Sample 0 twice; its similarity as a column is all 0, so that the repeated column says nothing.
  RowMatrix narrow = F;
  narrow.col(0).setZero();
  RowMatrix wide = RowMatrix::Zero(F.rows() + 1, F.cols() + 1);
  wide.topLeftCorner(F.rows(), F.cols()) = narrow;
  wide.row(F.rows()) = wide.row(0);
  task.set.matrices[0].block = DenseBlock(narrow);
  task.set.weights = Vector::Ones(F.rows());
  task.set.weights(0) = 2;
  std::vector<std::string> names;
  for (Index i = 0; i <= F.rows(); ++i) names.emplace_back(i % 2 == 0 ? "a" : "b");
  repeated.set.labels = make_labels(names);
  repeated.set.matrices[0].block = DenseBlock(wide);
  RunContext ctx;
  const FeatureSvmSettings settings{.cost = 0.01, .probability = false, .tolerance = 1e-9};
  SharedWork work(task.set);
  SharedWork repeated_work(repeated.set);
  const auto weighted = fit(work, settings, ctx);
  const auto twice = fit(repeated_work, settings, ctx);
  EXPECT_NEAR(weighted.info.objective(), twice.info.objective(), 1e-7);
  // Columns that say nothing are left out of both.
  EXPECT_EQ(weighted.model.columns, twice.model.columns);
  const Matrix difference = weighted.model.coefficients.dense() - twice.model.coefficients.dense();
  EXPECT_LT(difference.cwiseAbs().maxCoeff(), 1e-6);
}

}  // namespace
}  // namespace kith::feature_svm_test
