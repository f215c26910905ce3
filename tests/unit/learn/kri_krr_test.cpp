// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "kith/learn/neighbours/kri.hpp"
#include "kith/learn/neighbours/krr.hpp"

namespace kith::kri_krr_test {
namespace {

/// A neighbourhood that is the whole training set, in the order of `s`.
struct Example {
  TrainingPairs pairs;
  Neighbours neighbours;
};

Example example(const RowMatrix& S, const std::vector<double>& s) {
  Example result;
  result.pairs.block = DenseBlock(S);
  for (std::size_t i = 0; i < s.size(); ++i) {
    result.neighbours.samples.push_back(static_cast<Index>(i));
    result.neighbours.similarities.push_back(s[i]);
  }
  return result;
}

LocalKernel kernel_of(const Example& e) {
  return local_kernel(e.pairs.among(e.neighbours.samples), e.neighbours);
}

Vector kri(const LocalKernel& kernel, double ridge) {
  return kri_weights(kernel, KriSettings{.ridge = ridge}).w;
}

Vector krr(const LocalKernel& kernel, double ridge) {
  return krr_weights(kernel, ridge, Spectrum::kNone, Treatment::kLinear);
}

RowMatrix example_two() {
  return RowMatrix{{5., 1., 1., 1.}, {1., 5., 4., 2.}, {1., 4., 5., 2.}, {1., 2., 2., 5.}};
}

constexpr double kRidges[] = {1e-3, 0.1, 1, 10};

TEST(KriAndKrr, PreferSimilarNeighboursAsInExampleOne) {
  const LocalKernel kernel = kernel_of(example(5 * RowMatrix::Identity(4, 4), {4, 3, 2, 1}));
  for (const double ridge : kRidges) {
    for (const Vector& w : {kri(kernel, ridge), krr(kernel, ridge)}) {
      for (Index i = 0; i + 1 < 4; ++i) EXPECT_GT(w(i), w(i + 1));
    }
    // The closed form of krr on a multiple of the identity.
    EXPECT_LT((krr(kernel, ridge) - Vector{{4, 3, 2, 1}} / (5 + ridge)).norm(), 1e-12);
  }
}

TEST(KriAndKrr, PreferDiverseNeighboursAsInExampleTwo) {
  const LocalKernel kernel = kernel_of(example(example_two(), {3, 3, 3, 3}));
  for (const double ridge : kRidges) {
    for (const Vector& w : {kri(kernel, ridge), krr(kernel, ridge)}) {
      EXPECT_NEAR(w(1), w(2), 1e-10);
      EXPECT_LT(w(1), w(0));
      EXPECT_LT(w(1), w(3));
    }
  }
}

TEST(KriAndKrr, BalanceBothAsInExampleThree) {
  const LocalKernel kernel = kernel_of(example(example_two(), {2, 4, 3, 3}));
  for (const double ridge : {1e-3, 0.1, 1.0}) {
    for (const Vector& w : {kri(kernel, ridge), krr(kernel, ridge)}) EXPECT_GT(w(0), w(2));
  }
}

RowMatrix random_symmetric(Index n, std::uint64_t seed) {
  Rng rng(seed);
  RowMatrix S(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) S(i, j) = S(j, i) = rng.normal();
  }
  return S;
}

std::vector<double> random_row(Index n, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> s(static_cast<std::size_t>(n));
  for (double& value : s) value = rng.normal();
  return s;
}

TEST(Krr, OfEveryRidgeFromOneDecompositionEqualsDirectSolves) {
  const RowMatrix S = random_symmetric(12, 1);
  const std::vector<double> row = random_row(12, 2);
  const Vector s = Eigen::Map<const Vector>(row.data(), 12);
  const LocalKernel kernel = kernel_of(example(S, row));
  // The mended blocks by Eigen's own decomposition; the query as it is, so that all share s.
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen{Matrix(S)};
  const Matrix& U = eigen.eigenvectors();
  const Vector& lambda = eigen.eigenvalues();
  const double shift = -lambda.minCoeff();
  const std::vector<std::pair<Spectrum, Matrix>> blocks = {
      {Spectrum::kNone, Matrix(S)},
      {Spectrum::kClip, U * lambda.cwiseMax(0).asDiagonal() * U.transpose()},
      {Spectrum::kFlip, U * lambda.cwiseAbs().asDiagonal() * U.transpose()},
      {Spectrum::kShift, Matrix(S) + shift * Matrix::Identity(12, 12)}};
  for (const auto& [spectrum, K] : blocks) {
    for (const double ridge : kRidges) {
      const Matrix system = K + ridge * Matrix::Identity(12, 12);
      const Vector direct = system.fullPivLu().solve(s);
      const Vector w = krr_weights(kernel, ridge, spectrum, Treatment::kNone);
      EXPECT_LT((w - direct).norm(), 1e-8 * direct.norm()) << enum_name(spectrum);
    }
  }
}

TEST(Krr, TreatsTheQueryLikeTheBlock) {
  const RowMatrix S = random_symmetric(10, 3);
  const SymmetricEigen eigen = symmetric_eigen(S);
  const std::vector<double> row = random_row(10, 4);
  const Vector s = Eigen::Map<const Vector>(row.data(), 10);
  const Vector signs = eigen.lambda.unaryExpr([](double x) { return x > 0 ? 1.0 : -1.0; });
  const Matrix flipped = eigen.U * eigen.lambda.cwiseAbs().asDiagonal() * eigen.U.transpose();
  const Matrix P = eigen.U * signs.asDiagonal() * eigen.U.transpose();
  const LocalKernel kernel = kernel_of(example(S, row));
  const Matrix system = flipped + 0.5 * Matrix::Identity(10, 10);
  const Vector treated = krr_weights(kernel, 0.5, Spectrum::kFlip, Treatment::kLinear);
  const Vector raw = krr_weights(kernel, 0.5, Spectrum::kFlip, Treatment::kNone);
  EXPECT_LT((system * treated - P * s).norm(), 1e-10);
  EXPECT_LT((system * raw - s).norm(), 1e-10);
}

TEST(Kri, MeetsTheOptimalityConditionsOfItsProgram) {
  const RowMatrix S = random_symmetric(20, 5);
  const std::vector<double> row = random_row(20, 6);
  const LocalKernel kernel = kernel_of(example(S, row));
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift}) {
    for (const double ridge : {1e-6, 1e-2, 10.0, 1e6}) {
      const KriSettings settings{.ridge = ridge, .spectrum = spectrum};
      const linear::SimplexQpSolution solution = kri_weights(kernel, settings);
      EXPECT_EQ(solution.info.status, SolveStatus::kSolved);
      EXPECT_LE(solution.info.kkt_residual, 1e-9);
    }
  }
}

TEST(Kri, IsMarkedWhereItsProgramIsNotConvex) {
  const LocalKernel kernel = kernel_of(example(random_symmetric(12, 7), random_row(12, 8)));
  const linear::SimplexQpSolution solution =
      kri_weights(kernel, KriSettings{.ridge = 1e-3, .spectrum = Spectrum::kNone});
  EXPECT_LE(solution.info.kkt_residual, 1e-8);
  TrainingSet set;
  set.labels = make_labels(std::vector<std::string>{"a", "b"});
  set.matrices.push_back({"s", DenseBlock(RowMatrix(RowMatrix::Identity(2, 2)))});
  SharedWork work(set);
  RunContext ctx;
  EXPECT_FALSE(fit(work, KriSettings{.spectrum = Spectrum::kNone}, ctx).info.notes.empty());
  EXPECT_THROW(
      (void)fit(work,
                KriSettings{.spectrum = Spectrum::kNone, .regulariser = KriRegulariser::kEntropy},
                ctx),
      Error);
}

TEST(Kri, BecomesPlainNeighboursForAnEnormousRidge) {
  const LocalKernel kernel = kernel_of(example(random_symmetric(8, 9), random_row(8, 10)));
  for (const KriRegulariser regulariser : {KriRegulariser::kRidge, KriRegulariser::kEntropy}) {
    const Vector w = kri_weights(kernel, KriSettings{.ridge = 1e9, .regulariser = regulariser}).w;
    EXPECT_LT((w.array() - 1.0 / 8).abs().maxCoeff(), 1e-6);
  }
}

template <class Settings, class Model>
void expect_path_equals_single(const std::vector<Settings>& settings) {
  TrainingSet set;
  set.labels =
      make_labels(std::vector<std::string>{"a", "b", "a", "b", "c", "c", "a", "b", "c", "a"});
  set.matrices.push_back({"s", DenseBlock(random_symmetric(10, 11))});
  SharedWork work(set);
  RunContext ctx;
  RowMatrix to(15, 10);
  Rng rng(12);
  for (Index i = 0; i < to.size(); ++i) to.data()[i] = rng.normal();
  QueryBlock queries;
  queries.matrices.push_back({.to_training = DenseBlock(to)});
  std::vector<Model> models;
  for (const Fitted<Model>& one : fit_path(work, std::span<const Settings>(settings), ctx)) {
    models.push_back(one.model);
  }
  const std::vector<Prediction> along = predict_path(std::span<const Model>(models), queries, ctx);
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Prediction alone = predict(models[i], queries, ctx);
    EXPECT_EQ(along[i].labels, alone.labels);
    EXPECT_EQ(along[i].scores, alone.scores);
  }
}

TEST(Kri, PredictsAlongAPathAsOneByOne) {
  expect_path_equals_single<KriSettings, KriModel>({{.neighbours = 1},
                                                    {.neighbours = 4, .ridge = 1},
                                                    {.neighbours = 4, .ridge = 1e-3},
                                                    {.neighbours = 99, .ties = TieRule::kFile}});
}

TEST(Krr, PredictsAlongAPathAsOneByOne) {
  expect_path_equals_single<KrrSettings, KrrModel>(
      {{.neighbours = 1},
       {.neighbours = 5, .ridge = 1},
       {.neighbours = 5, .ridge = 1e-3, .spectrum = Spectrum::kShift},
       {.neighbours = 5, .ridge = 1e-3, .normalised = true},
       {.neighbours = 99, .ties = TieRule::kFile}});
}

/// Samples that are alike to themselves alone, of the given classes; a query with these
/// similarities.
Prediction krr_of(const std::vector<std::string>& classes, const std::vector<double>& row,
                  const KrrSettings& settings) {
  const auto n = std::ssize(classes);
  TrainingSet set;
  set.labels = make_labels(classes);
  set.matrices.push_back({"s", DenseBlock(RowMatrix(RowMatrix::Identity(n, n)))});
  SharedWork work(set);
  RunContext ctx;
  QueryBlock queries;
  queries.matrices.push_back(
      {.to_training = DenseBlock(RowMatrix(Eigen::Map<const Eigen::RowVectorXd>(row.data(), n)))});
  return predict(fit(work, settings, ctx).model, queries, ctx);
}

TEST(Krr, GivesTheSumOfNoWeightsToAClassWithoutNeighbours) {
  const std::vector<std::string> classes = {"a", "b", "c", "c", "b", "b"};
  // The nearest two are of classes a and c; b has no neighbour and the sum 0.
  const std::vector<double> unlike = {-1, -4, -2, -5, -6, -7};
  const KrrSettings two{.neighbours = 2, .ridge = 1};
  const Prediction negative = krr_of(classes, unlike, two);
  EXPECT_EQ(negative.labels.front(), 1);
  EXPECT_LT((negative.scores.row(0) - Eigen::RowVector3d(-0.5, 0, -1)).norm(), 1e-12);
  // A positive sum wins as ever.
  const Prediction positive = krr_of(classes, {3, -4, -2, -5, -6, -7}, two);
  EXPECT_EQ(positive.labels.front(), 0);
  EXPECT_EQ(positive.scores(0, 1), 0);
  // Of two classes without neighbours the one with more training samples wins.
  EXPECT_EQ(krr_of(classes, unlike, {.neighbours = 1, .ridge = 1}).labels.front(), 1);
  // Where every class has a neighbour the largest sum wins, negative or not.
  EXPECT_EQ(krr_of(classes, unlike, {.neighbours = 6, .ridge = 1}).labels.front(), 0);
}

TEST(Krr, ShiftsWeightsByAConstantToTheSumOne) {
  const LocalKernel kernel = kernel_of(example(example_two(), {2, 4, 3, 3}));
  const Vector w = krr(kernel, 0.1);
  // Footnote 3 as printed.
  const Matrix centring = Matrix::Identity(4, 4) - Matrix::Constant(4, 4, 0.25);
  const Vector expected = centring * w + Vector::Constant(4, 0.25);
  EXPECT_LT((normalised_weights(w) - expected).norm(), 1e-14);
  EXPECT_NEAR(normalised_weights(w).sum(), 1, 1e-14);
  EXPECT_EQ(normalised_weights(Vector()).size(), 0);
}

TEST(Krr, NormalisedWeightsCanChangeALabel) {
  // w = (-0.5, -1, -2.5), normalised by 5 / 3: sums of a, b, c are -0.5, -3.5, 0 and 1.17, -0.17,
  // 0.
  const std::vector<std::string> classes = {"a", "b", "b", "c"};
  const std::vector<double> row = {-1, -2, -5, -9};
  KrrSettings settings{.neighbours = 3, .ridge = 1};
  EXPECT_EQ(krr_of(classes, row, settings).labels.front(), 2);
  settings.normalised = true;
  const Prediction found = krr_of(classes, row, settings);
  EXPECT_EQ(found.labels.front(), 0);
  EXPECT_NEAR(found.scores.row(0).sum(), 1, 1e-12);
}

TEST(TrainingPairs, OfSparseAndDenseBlocksAgree) {
  SparseBlock sparse;
  sparse.cols = 3;
  sparse.starts = {0, 2, 3, 4};
  sparse.columns = {0, 1, 1, 2};
  sparse.values = {4, 2, 5, 6};
  const std::vector<Index> all = {0, 1, 2};
  const Matrix known = TrainingPairs{.block = sparse}.among(all);
  EXPECT_EQ(known(0, 1), 2);  // known in one direction
  EXPECT_EQ(known(0, 2), 0);  // in none
  sparse.absent = Absent::kZero;
  const Matrix zeros = TrainingPairs{.block = sparse}.among(all);
  EXPECT_EQ(zeros(0, 1), 1);
  EXPECT_EQ(zeros, TrainingPairs{.block = to_dense(sparse)}.among(all));
}

}  // namespace
}  // namespace kith::kri_krr_test
