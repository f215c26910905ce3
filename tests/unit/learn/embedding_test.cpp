// SPDX-License-Identifier: Apache-2.0
// Discriminants on rows of similarities and in pseudo-Euclidean space.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "kith/core/rng.hpp"
#include "kith/learn/embedding/discriminant.hpp"
#include "kith/learn/embedding/features_quadratic.hpp"
#include "kith/learn/embedding/nearest_mean.hpp"
#include "kith/learn/embedding/pe_fisher.hpp"

namespace kith::embedding_test {
namespace {

struct Task {
  Matrix points;  // training, then queries
  TrainingSet set;
  QueryBlock queries;
};

constexpr Index kTraining = 40;
constexpr Index kQueries = 12;

/// Points of two classes with inner products as similarities; axis 2 counts negatively on request.
Task points_task(bool indefinite) {
  Rng rng(1);
  Task task;
  task.points.resize(kTraining + kQueries, 3);
  std::vector<std::string> names;
  for (Index i = 0; i < task.points.rows(); ++i) {
    const bool first = i % 2 == 0;
    for (Index d = 0; d < 3; ++d) task.points(i, d) = rng.normal() * (1 + static_cast<double>(d));
    task.points(i, 0) += first ? 2 : -2;
    if (i < kTraining) names.emplace_back(first ? "a" : "b");
  }
  Vector signature = Vector::Ones(3);
  if (indefinite) signature(2) = -1;
  const RowMatrix S = task.points * signature.asDiagonal() * task.points.transpose();
  task.set.labels = make_labels(names);
  task.set.matrices.push_back({"s", DenseBlock(RowMatrix(S.topLeftCorner(kTraining, kTraining)))});
  task.queries.matrices.push_back(
      {.to_training = DenseBlock(RowMatrix(S.bottomLeftCorner(kQueries, kTraining)))});
  return task;
}

TEST(PooledCovariance, GivesTheLogPosteriorOfNormalClasses) {
  const Task task = points_task(false);
  const Matrix X = task.points.topRows(kTraining);
  const PooledCovariance::Rule rule = PooledCovariance(X, task.set.labels).rule(0.1);
  const ClassMeans means = class_means(X, task.set.labels);
  const Matrix centred = within_class(X, task.set.labels, means);
  Matrix covariance = centred.transpose() * centred / static_cast<double>(kTraining);
  covariance += 0.1 * covariance.trace() / 3 * Matrix::Identity(3, 3);
  const Vector x = task.points.row(kTraining).transpose();
  Vector log_density(2);
  for (Index c = 0; c < 2; ++c) {
    const Vector d = x - means.means.row(c).transpose();
    log_density(c) = -0.5 * d.dot(covariance.inverse() * d) + means.log_prior(c);
  }
  const Vector scores = rule.W.transpose() * x + rule.b;
  EXPECT_NEAR(scores(0) - scores(1), log_density(0) - log_density(1), 1e-10);
}

/// More samples than are centred at a time, in either order of rows and columns.
TEST(PooledCovariance, ReadsManySamplesInPlace) {
  constexpr Index kSamples = 600;
  Rng rng(2);
  RowMatrix X(kSamples, 4);
  std::vector<std::string> names;
  for (Index i = 0; i < kSamples; ++i) {
    names.emplace_back(i % 3 == 0 ? "a" : "b");
    for (Index d = 0; d < 4; ++d) X(i, d) = rng.normal() + static_cast<double>(i % 3);
  }
  const Labels labels = make_labels(names);
  const Eigen::Map<const Matrix, 0, SampleStride> rows(X.data(), kSamples, 4, SampleStride(1, 4));
  const PooledCovariance::Rule rule = PooledCovariance(rows, labels).rule(0.1);
  const ClassMeans means = class_means(rows, labels);
  const Matrix centred = within_class(X, labels, means);
  Matrix covariance = centred.transpose() * centred / static_cast<double>(kSamples);
  covariance += 0.1 * covariance.trace() / 4 * Matrix::Identity(4, 4);
  EXPECT_LE((covariance * rule.W - means.means.transpose()).norm(), 1e-10);
  EXPECT_LE((rule.W - PooledCovariance(Matrix(X), labels).rule(0.1).W).norm(), 1e-12);
}

TEST(FeaturesFisher, IsTheDiscriminantOnRows) {
  const Task task = points_task(true);
  SharedWork work(task.set);
  RunContext ctx;
  const FeaturesFisherModel model = fit(work, FeaturesFisherSettings{.ridge = 0.3}, ctx).model;
  const Matrix rows = std::get<DenseBlock>(task.set.matrices[0].block).values();
  const PooledCovariance::Rule rule = PooledCovariance(rows, task.set.labels).rule(0.3);
  const Prediction found = predict(model, task.queries, ctx);
  const Matrix queries = std::get<DenseBlock>(task.queries.matrices[0].to_training).values();
  const Matrix scores = (queries * rule.W).rowwise() + rule.b.transpose();
  EXPECT_LT((found.scores - scores).cwiseAbs().maxCoeff(), 1e-8);
  for (Index i = 0; i < kQueries; ++i) {
    EXPECT_NEAR(found.probabilities.row(i).sum(), 1, 1e-12);
    EXPECT_EQ(found.probabilities.row(i).maxCoeff(),
              found.probabilities(i, found.labels[static_cast<std::size_t>(i)]));
  }
}

TEST(FeaturesQuadratic, EqualsTheFullCovarianceFormula) {
  const Task task = points_task(true);
  SharedWork work(task.set);
  RunContext ctx;
  const FeaturesQuadraticModel model =
      fit(work, FeaturesQuadraticSettings{.ridge = 0.2}, ctx).model;
  const Prediction found = predict(model, task.queries, ctx);
  const Matrix X = std::get<DenseBlock>(task.set.matrices[0].block).values();
  const ClassMeans means = class_means(X, task.set.labels);
  const Matrix centred = within_class(X, task.set.labels, means);
  const Matrix queries = std::get<DenseBlock>(task.queries.matrices[0].to_training).values();
  for (Index q = 0; q < kQueries; ++q) {
    Vector direct(2);
    for (Index c = 0; c < 2; ++c) {
      Matrix covariance = model.added * Matrix::Identity(kTraining, kTraining);
      double members = 0;
      for (Index i = 0; i < kTraining; ++i) {
        members += task.set.labels.ids[static_cast<std::size_t>(i)] == c ? 1 : 0;
      }
      for (Index i = 0; i < kTraining; ++i) {
        if (task.set.labels.ids[static_cast<std::size_t>(i)] != c) continue;
        covariance += centred.row(i).transpose() * centred.row(i) / members;
      }
      const Vector d = (queries.row(q) - means.means.row(c)).transpose();
      const Eigen::LLT<Matrix> factor(covariance);
      const double log_determinant = 2 * Matrix(factor.matrixL()).diagonal().array().log().sum();
      direct(c) = -0.5 * d.dot(factor.solve(d)) - 0.5 * log_determinant + means.log_prior(c);
    }
    EXPECT_NEAR(found.scores(q, 0) - found.scores(q, 1), direct(0) - direct(1),
                1e-6 * std::max(1.0, std::abs(direct(0) - direct(1))));
  }
}

TEST(NearestMean, IsTheNearestMeanOfThePointsBehindTheSimilarities) {
  const Task task = points_task(false);
  SharedWork work(task.set);
  RunContext ctx;
  const Prediction found = predict(fit(work, NearestMeanSettings{}, ctx).model, task.queries, ctx);
  const ClassMeans means = class_means(task.points.topRows(kTraining), task.set.labels);
  for (Index q = 0; q < kQueries; ++q) {
    const auto x = task.points.row(kTraining + q);
    const double a = (x - means.means.row(0)).squaredNorm();
    const double b = (x - means.means.row(1)).squaredNorm();
    EXPECT_NEAR(found.scores(q, 0) - found.scores(q, 1), b - a, 1e-9);
  }
}

TEST(NearestMean, CountsNegativeAxesNegatively) {
  const Task task = points_task(true);
  SharedWork work(task.set);
  RunContext ctx;
  const Prediction found = predict(fit(work, NearestMeanSettings{}, ctx).model, task.queries, ctx);
  const ClassMeans means = class_means(task.points.topRows(kTraining), task.set.labels);
  const Vector signature{{1, 1, -1}};
  for (Index q = 0; q < kQueries; ++q) {
    Vector squares(2);
    for (Index c = 0; c < 2; ++c) {
      const Vector d = (task.points.row(kTraining + q) - means.means.row(c)).transpose();
      squares(c) = d.dot(signature.cwiseProduct(d));
    }
    EXPECT_NEAR(found.scores(q, 0) - found.scores(q, 1), squares(1) - squares(0), 1e-9);
  }
}

class PeFisher : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Signature, PeFisher, testing::Bool());

TEST_P(PeFisher, IsTheDiscriminantOfThePointsBehindTheSimilarities) {
  // With a negligible ridge the discriminant does not depend on the axes chosen for the same
  // points.
  const Task task = points_task(GetParam());
  SharedWork work(task.set);
  RunContext ctx;
  const PeFisherModel model = fit(work, PeFisherSettings{.ridge = 1e-9}, ctx).model;
  const Prediction found = predict(model, task.queries, ctx);
  const PooledCovariance::Rule rule =
      PooledCovariance(task.points.topRows(kTraining), task.set.labels).rule(1e-9);
  for (Index q = 0; q < kQueries; ++q) {
    const Vector scores = rule.W.transpose() * task.points.row(kTraining + q).transpose() + rule.b;
    EXPECT_NEAR(found.scores(q, 0) - found.scores(q, 1), scores(0) - scores(1), 1e-4);
  }
}

TEST(PeFisher, KeepsTheAxesOfLargestMagnitude) {
  const Task task = points_task(true);
  SharedWork work(task.set);
  RunContext ctx;
  const std::vector<PeFisherSettings> path = {{.dimensions = 1}, {.dimensions = 3}, {}};
  const auto fitted = fit_path(work, std::span<const PeFisherSettings>(path), ctx);
  EXPECT_LT((fitted[1].model.W - fitted[2].model.W).norm(), 1e-9);
  EXPECT_EQ(fitted[0].model.W, fit(work, PeFisherSettings{.dimensions = 1}, ctx).model.W);
}

TEST(Discriminants, TakeConstantSimilaritiesAndClassesOfOne) {
  TrainingSet set;
  set.labels = make_labels(std::vector<std::string>{"a", "a", "b"});
  for (const double value : {0.0, 1.0}) {
    set.matrices = {{"s", DenseBlock(RowMatrix(RowMatrix::Constant(3, 3, value)))}};
    SharedWork work(set);
    RunContext ctx;
    QueryBlock queries;
    queries.matrices.push_back(
        {.to_training = DenseBlock(RowMatrix(RowMatrix::Constant(1, 3, value)))});
    for (const Prediction& p :
         {predict(fit(work, FeaturesFisherSettings{}, ctx).model, queries, ctx),
          predict(fit(work, FeaturesQuadraticSettings{}, ctx).model, queries, ctx),
          predict(fit(work, NearestMeanSettings{}, ctx).model, queries, ctx),
          predict(fit(work, PeFisherSettings{}, ctx).model, queries, ctx)}) {
      EXPECT_EQ(p.labels[0], 0);
      EXPECT_TRUE(p.scores.allFinite());
    }
  }
}

}  // namespace
}  // namespace kith::embedding_test
