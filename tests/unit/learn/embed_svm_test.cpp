// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/embedding/embed_svm.hpp"

#include <gtest/gtest.h>

#include "kith/core/rng.hpp"
#include "kith/learn/svm/kernel_svm.hpp"
#include "support/fitting.hpp"

namespace kith::embed_svm_test {
namespace {

/// Points as similarities: training set, queries, and the points themselves.
struct Task {
  TrainingSet set;
  QueryBlock queries;
};

Task points_task() {
  Rng rng(5);
  Matrix points(48, 4);
  std::vector<std::string> names;
  for (Index i = 0; i < points.rows(); ++i) {
    for (Index d = 0; d < 4; ++d) points(i, d) = rng.normal() + (d == i % 3 ? 2 : 0) + 1;
    if (i < 36) names.emplace_back(1, static_cast<char>('a' + i % 3));
  }
  const RowMatrix S = points * points.transpose();
  Task task;
  task.set.labels = make_labels(names);
  task.set.matrices.push_back({"s", DenseBlock(RowMatrix(S.topLeftCorner(36, 36)))});
  task.queries.matrices.push_back(
      {.to_training = DenseBlock(RowMatrix(S.bottomLeftCorner(12, 36)))});
  return task;
}

TEST(EmbedSvm, OfInnerProductsIsTheSvm) {
  // Centring adds terms that the constraint y'a = 0 removes, so that the machines are the same.
  const Task task = points_task();
  SharedWork work(task.set);
  RunContext ctx;
  const EmbedSvmSettings settings{.cost = 0.5, .probability = false, .tolerance = 1e-10};
  const SvmSettings plain{
      .cost = 0.5, .spectrum = Spectrum::kClip, .probability = false, .tolerance = 1e-10};
  const Prediction found = test::predict_once(fit(work, settings, ctx).model, task.queries);
  const Prediction expected = test::predict_once(fit(work, plain, ctx).model, task.queries);
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_LT((found.scores - expected.scores).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(EmbedSvm, TreatsATrainingSampleAsItsOwnRow) {
  const Task task = points_task();
  SharedWork work(task.set);
  RunContext ctx;
  const Fitted<EmbedSvmModel> fitted = fit(work, EmbedSvmSettings{.dimensions = 2}, ctx);
  EXPECT_LT(fitted.info.consistency, 1e-10);
}

TEST(EmbedSvm, KeepsTheLargestAxes) {
  const Task task = points_task();
  SharedWork work(task.set);
  RunContext ctx;
  const std::vector<EmbedSvmSettings> path = {{.dimensions = 4, .probability = false},
                                              {.dimensions = 99, .probability = false},
                                              {.probability = false},
                                              {.dimensions = 1, .probability = false}};
  const auto fitted = fit_path(work, std::span<const EmbedSvmSettings>(path), ctx);
  EXPECT_LT((fitted[0].model.coefficients.dense() - fitted[2].model.coefficients.dense()).norm(),
            1e-9);
  EXPECT_LT((fitted[1].model.coefficients.dense() - fitted[2].model.coefficients.dense()).norm(),
            1e-9);
  EXPECT_GT((fitted[3].model.coefficients.dense() - fitted[2].model.coefficients.dense()).norm(),
            1e-3);
}

}  // namespace
}  // namespace kith::embed_svm_test
