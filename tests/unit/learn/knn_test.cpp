// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/neighbours/knn.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/error.hpp"

namespace kith::knn_test {
namespace {

TrainingSet training(const std::vector<std::string>& names) {
  TrainingSet set;
  set.labels = make_labels(names);
  const Index n = set.labels.size();
  set.matrices.push_back({"s", DenseBlock(RowMatrix(RowMatrix::Identity(n, n)))});
  return set;
}

QueryBlock queries(const RowMatrix& to) {
  QueryBlock block;
  block.matrices.push_back({.to_training = DenseBlock(to)});
  return block;
}

Prediction predicted(const std::vector<std::string>& names, Index k, const RowMatrix& to,
                     TieRule ties = TieRule::kRandom, std::uint64_t seed = 1) {
  const TrainingSet set = training(names);
  SharedWork work(set);
  RunContext ctx;
  ctx.rng = RngStreams(seed);
  const KnnModel model = fit(work, KnnSettings{.neighbours = k, .ties = ties}, ctx).model;
  return predict(model, queries(to), ctx);
}

TEST(Knn, CountsTheClassesOfTheNearest) {
  const Prediction p = predicted({"a", "b", "b", "a"}, 3, RowMatrix{{9., 8., 7., 1.}});
  EXPECT_EQ(p.labels[0], 1);
  EXPECT_NEAR(p.probabilities(0, 1), 2.0 / 3, 1e-15);
}

TEST(Knn, GivesEqualVotesToTheClassWithTheNearestMember) {
  EXPECT_EQ(predicted({"a", "b"}, 2, RowMatrix{{1., 2.}}).labels[0], 1);
  EXPECT_EQ(predicted({"a", "b"}, 2, RowMatrix{{2., 1.}}).labels[0], 0);
}

TEST(Knn, OrdersEquallySimilarSamplesBySeedAndNotByFile) {
  const RowMatrix equal = RowMatrix::Ones(1, 2);
  int first = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    first += predicted({"a", "b"}, 1, equal, TieRule::kRandom, seed).labels[0] == 0 ? 1 : 0;
  }
  EXPECT_NEAR(first, 100, 36);  // five standard deviations
  EXPECT_EQ(predicted({"a", "b"}, 1, equal, TieRule::kFile).labels[0], 0);
}

TEST(Knn, TakesMoreNeighboursThanThereAreSamples) {
  const Prediction p = predicted({"a", "b", "b"}, 100, RowMatrix{{3., 2., 1.}});
  EXPECT_EQ(p.labels[0], 1);
  EXPECT_NEAR(p.probabilities(0, 0), 1.0 / 3, 1e-15);
}

TEST(Knn, UsesBothDirectionsOfAnAsymmetricSimilarity) {
  QueryBlock block = queries(RowMatrix{{3., 2.}});
  block.matrices[0].from_training = DenseBlock(RowMatrix{{0., 2.}});
  const TrainingSet set = training({"a", "b"});
  SharedWork work(set);
  RunContext ctx;
  EXPECT_EQ(predict(fit(work, KnnSettings{.neighbours = 1}, ctx).model, block, ctx).labels[0], 1);
}

SparseBlock sparse_row(Absent absent) {
  SparseBlock sparse;
  sparse.cols = 3;
  sparse.starts = {0, 2};
  sparse.columns = {0, 2};
  sparse.values = {-1, 5};
  sparse.absent = absent;
  return sparse;
}

TEST(Knn, LeavesUnknownPairsOutAndTakesAbsentZerosIn) {
  const TrainingSet set = training({"a", "b", "c"});
  SharedWork work(set);
  RunContext ctx;
  const KnnModel model = fit(work, KnnSettings{.neighbours = 2}, ctx).model;
  QueryBlock block;
  block.matrices.push_back({.to_training = sparse_row(Absent::kMissing)});
  Prediction p = predict(model, block, ctx);
  EXPECT_EQ(p.probabilities(0, 0), 0.5);  // the two known ones
  block.matrices[0].to_training = sparse_row(Absent::kZero);
  p = predict(model, block, ctx);
  EXPECT_EQ(p.probabilities(0, 0), 0);  // -1 is further than the absent 0
  EXPECT_EQ(p.probabilities(0, 1), 0.5);
}

TEST(Knn, SaysTheTrainingSharesWhereNothingIsKnown) {
  const TrainingSet set = training({"a", "b", "b"});
  SharedWork work(set);
  RunContext ctx;
  QueryBlock block;
  SparseBlock nothing;
  nothing.cols = 3;
  nothing.starts = {0, 0};
  block.matrices.push_back({.to_training = nothing});
  const Prediction p = predict(fit(work, KnnSettings{}, ctx).model, block, ctx);
  EXPECT_EQ(p.labels[0], 1);
  EXPECT_NEAR(p.probabilities(0, 0), 1.0 / 3, 1e-15);
}

TEST(Knn, PredictsAlongAPathAsOneByOne) {
  const TrainingSet set = training({"a", "b", "a", "b", "c", "c"});
  SharedWork work(set);
  RunContext ctx;
  Rng rng(4);
  RowMatrix to(40, 6);
  for (Index i = 0; i < to.size(); ++i) to.data()[i] = static_cast<double>(rng.below(4));
  std::vector<KnnModel> models;
  for (const Index k : {1, 2, 3, 5, 6}) {
    models.push_back(fit(work, KnnSettings{.neighbours = k}, ctx).model);
  }
  const std::vector<Prediction> along = predict_path(models, queries(to), ctx);
  for (std::size_t i = 0; i < models.size(); ++i) {
    EXPECT_EQ(along[i].labels, predict(models[i], queries(to), ctx).labels);
  }
}

TEST(Knn, RefusesRowsOfAnotherWidth) {
  EXPECT_THROW((void)predicted({"a", "b"}, 1, RowMatrix::Ones(1, 3)), Error);
}

TEST(AffinityKnn, WeighsByPositiveSimilarity) {
  const TrainingSet set = training({"a", "b", "b", "a"});
  SharedWork work(set);
  RunContext ctx;
  const AffinityKnnModel model = fit(work, AffinityKnnSettings{.neighbours = 4}, ctx).model;
  const Prediction p = predict(model, queries(RowMatrix{{5., 1., 2., -9.}}), ctx);
  EXPECT_EQ(p.labels[0], 0);
  EXPECT_NEAR(p.probabilities(0, 0), 5.0 / 8, 1e-15);  // the negative one has no weight
}

TEST(AffinityKnn, FallsBackToEqualWeightsWithoutAPositiveSimilarity) {
  const TrainingSet set = training({"a", "b", "b"});
  SharedWork work(set);
  RunContext ctx;
  const AffinityKnnModel model = fit(work, AffinityKnnSettings{.neighbours = 3}, ctx).model;
  for (const RowMatrix& row : {RowMatrix(RowMatrix::Zero(1, 3)), RowMatrix{{-1., -2., -3.}}}) {
    const Prediction p = predict(model, queries(row), ctx);
    EXPECT_NEAR(p.probabilities(0, 1), 2.0 / 3, 1e-15);
    EXPECT_EQ(p.labels[0], 1);
  }
}

}  // namespace
}  // namespace kith::knn_test
