// SPDX-License-Identifier: Apache-2.0
// `nca-knn` and `lmnn-knn`.
#include "kith/optim/metric/neighbour_maps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/learn/metric/metric_knn.hpp"
#include "kith/optim/linear/lbfgs.hpp"
#include "support/training_sets.hpp"

namespace kith::neighbour_maps_test {
namespace {

/// Two classes apart in the first feature, with wide noise in the others.
struct Samples {
  Matrix X;
  std::vector<int> classes;
};
Samples samples(Index n, Index features, std::uint64_t seed) {
  Rng rng(seed);
  Samples made{Matrix(n, features), {}};
  for (Index i = 0; i < n; ++i) {
    made.classes.push_back(static_cast<int>(i) % 2);
    for (Index j = 0; j < features; ++j) made.X(i, j) = rng.normal();
    made.X(i, 0) = 0.3 * made.X(i, 0) + static_cast<double>(i % 2);
  }
  return made;
}

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Rng rng(seed);
  Matrix A(rows, cols);
  for (Index i = 0; i < A.size(); ++i) A.data()[i] = rng.normal();
  return A;
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrocksValley) {
  const linear::SmoothFunction f = [](const Vector& x, Vector& g) {
    const double a = x(1) - x(0) * x(0);
    g.resize(2);
    g << -400 * a * x(0) - 2 * (1 - x(0)), 200 * a;
    return 100 * a * a + (1 - x(0)) * (1 - x(0));
  };
  const linear::LbfgsSolution found =
      linear::lbfgs(f, Vector{{-1.2, 1}}, {.gradient_tolerance = 1e-9, .decrease_tolerance = 0});
  EXPECT_EQ(found.info.status, SolveStatus::kStationary);
  EXPECT_LT((found.x - Vector::Ones(2)).norm(), 1e-6);
}

TEST(Nca, HasTheGradientOfItsObjective) {
  const Samples data = samples(15, 4, 1);
  const Matrix A = random_matrix(2, 4, 2);
  Matrix gradient, unused;
  (void)metric::nca_objective(data.X, data.classes, A, gradient);
  constexpr double kH = 1e-6;
  for (Index i = 0; i < A.size(); ++i) {
    Matrix plus = A;
    Matrix minus = A;
    plus.data()[i] += kH;
    minus.data()[i] -= kH;
    const double slope = (metric::nca_objective(data.X, data.classes, plus, unused) -
                          metric::nca_objective(data.X, data.classes, minus, unused)) /
                         (2 * kH);
    EXPECT_NEAR(gradient.data()[i], slope, 1e-7);
  }
}

TEST(Nca, IsTheExpectedShareOfRightNeighbours) {
  // Three samples, the third of another class: each of the first two draws the other with p.
  Matrix X(3, 1);
  X << 0, 1, 2;
  const std::vector<int> classes = {0, 0, 1};
  Matrix gradient;
  const double first = std::exp(-1.0) / (std::exp(-1.0) + std::exp(-4.0));
  EXPECT_NEAR(metric::nca_objective(X, classes, Matrix::Identity(1, 1), gradient),
              -(first + 0.5) / 3, 1e-12);
}

/// By its definition: neighbours are drawn among the samples of other groups.
double nca_directly(const Samples& data, const Matrix& A, const std::vector<int>& groups) {
  double right = 0;
  for (Index i = 0; i < data.X.rows(); ++i) {
    double own = 0, all = 0;
    for (Index j = 0; j < data.X.rows(); ++j) {
      const auto a = static_cast<std::size_t>(i);
      const auto b = static_cast<std::size_t>(j);
      if (groups[a] == groups[b]) continue;
      const double chance =
          std::exp(-(A * (data.X.row(i) - data.X.row(j)).transpose()).squaredNorm());
      all += chance;
      if (data.classes[a] == data.classes[b]) own += chance;
    }
    if (all > 0) right += own / all;
  }
  return -right / static_cast<double>(data.X.rows());
}

TEST(Nca, DrawsNoNeighbourOfTheSameGroup) {
  const Samples data = samples(16, 4, 1);
  const Matrix A = 0.5 * random_matrix(2, 4, 2);
  std::vector<int> groups(16);
  for (std::size_t i = 0; i < 16; ++i) groups[i] = static_cast<int>(i / 3);
  Matrix gradient, unused;
  EXPECT_NEAR(metric::nca_objective(data.X, data.classes, A, gradient, groups),
              nca_directly(data, A, groups), 1e-12);
  constexpr double kH = 1e-6;
  for (Index i = 0; i < A.size(); ++i) {
    Matrix plus = A;
    Matrix minus = A;
    plus.data()[i] += kH;
    minus.data()[i] -= kH;
    const double slope =
        (nca_directly(data, plus, groups) - nca_directly(data, minus, groups)) / (2 * kH);
    EXPECT_NEAR(gradient.data()[i], slope, 1e-7);
  }
  const std::vector<int> one(16, 0);
  EXPECT_EQ(metric::nca_objective(data.X, data.classes, A, gradient, one), 0);
  EXPECT_TRUE(gradient.isZero());
  EXPECT_EQ(metric::nca_scale(data.X, A, one) > 0, true);
}

TEST(Nca, LearnsWhichFeatureTells) {
  // One row and many samples: the other features cannot tell them apart by chance.
  const Samples data = samples(240, 4, 3);
  RunContext ctx;
  Matrix unused;
  const Matrix start = Matrix::Constant(1, 4, 0.5);
  const metric::LearnedMap learned = metric::learn_nca(data.X, data.classes, {}, start, 200, ctx);
  EXPECT_LT(learned.info.objective,
            metric::nca_objective(data.X, data.classes, start, unused) - 0.1);
  for (Index j = 1; j < 4; ++j) {
    EXPECT_GT(learned.L.col(0).norm(), 3 * learned.L.col(j).norm());
  }
}

TEST(Lmnn, HasTheGradientOfItsObjective) {
  const Samples data = samples(15, 3, 4);
  const metric::LmnnProblem problem = metric::make_lmnn(data.X, data.classes, 2, 0.5);
  const Matrix L = random_matrix(3, 3, 5);
  const Matrix direction = random_matrix(3, 3, 6);
  Matrix gradient, unused;
  (void)metric::lmnn_objective(problem, L, gradient);
  constexpr double kH = 1e-6;  // along L + h direction, M moves by h (L'd + d'L)
  const double slope = (metric::lmnn_objective(problem, L + kH * direction, unused) -
                        metric::lmnn_objective(problem, L - kH * direction, unused)) /
                       (2 * kH);
  const Matrix change = L.transpose() * direction + direction.transpose() * L;
  EXPECT_NEAR(gradient.cwiseProduct(change).sum(), slope, 1e-4 * std::abs(slope));
}

TEST(Lmnn, CountsItsTermsAsDefined) {
  // Samples 0, 1 | 3 on a line, one target: pulls 1 + 1, and 3 is nearer than 1 + 1 to neither.
  Matrix X(3, 1);
  X << 0, 1, 2;
  const metric::LmnnProblem problem = metric::make_lmnn(X, std::vector<int>{0, 0, 1}, 1, 0.5);
  Matrix gradient;
  // Sample 1: d(1, 0) = 1 and d(1, 2) = 1 violate by 1; sample 0: 1 + 1 - 4 < 0.
  EXPECT_NEAR(metric::lmnn_objective(problem, Matrix::Identity(1, 1), gradient), 0.5 * 2 + 0.5 * 1,
              1e-12);
}

TEST(Lmnn, ImprovesOnTheIdentityAndLearnsWhichFeatureTells) {
  const Samples data = samples(60, 4, 7);
  const metric::LmnnProblem problem = metric::make_lmnn(data.X, data.classes, 3, 0.5);
  RunContext ctx;
  Matrix unused;
  const metric::LearnedMap learned = metric::learn_lmnn(problem, 200, ctx);
  EXPECT_LT(learned.info.objective,
            0.9 * metric::lmnn_objective(problem, Matrix::Identity(4, 4), unused));
  EXPECT_NEAR(learned.info.objective, metric::lmnn_objective(problem, learned.L, unused),
              1e-9 * learned.info.objective);
  EXPECT_GT(learned.L.col(0).norm(), 1.5 * learned.L.col(1).norm());
}

TEST(LmnnSolver, FindsTheOptimumOfThreeSamples) {
  // Samples 0, 1 | 2 on a line, one target: m + max(0, 1 - 3m) / 2 + 1/2, least at m = 1/3.
  Matrix X(3, 1);
  X << 0, 1, 2;
  const metric::LmnnProblem problem = metric::make_lmnn(X, std::vector<int>{0, 0, 1}, 1, 0.5);
  RunContext ctx;
  const metric::LmnnSolution found =
      metric::solve_lmnn(problem, Matrix::Identity(1, 1), {.tolerance = 1e-6}, ctx);
  EXPECT_EQ(found.info.status, SolveStatus::kSolved);
  EXPECT_NEAR(found.info.objective, 5.0 / 6, 2e-6);
  EXPECT_NEAR(found.bound, 5.0 / 6, 2e-6);
  EXPECT_NEAR(found.L(0, 0) * found.L(0, 0), 1.0 / 3, 1e-5);
}

TEST(LmnnSolver, ClosesItsGapFromAnyStartAndRefusesASpoiledMetric) {
  RunContext ctx;
  Matrix unused;
  for (const double push : {0.3, 0.5}) {
    Samples data = samples(40, 4, 10);
    data.X.col(3) = 0.9 * data.X.col(2) + 0.01 * data.X.col(3);  // nearly a copy
    const metric::LmnnProblem problem = metric::make_lmnn(data.X, data.classes, 2, push);
    const metric::LmnnSolution one = metric::solve_lmnn(problem, Matrix::Identity(4, 4), {}, ctx);
    const metric::LmnnSolution two = metric::solve_lmnn(problem, random_matrix(2, 4, 11), {}, ctx);
    for (const metric::LmnnSolution& found : {one, two}) {
      EXPECT_EQ(found.info.status, SolveStatus::kSolved);
      const double value = metric::lmnn_objective(problem, found.L, unused);
      EXPECT_NEAR(found.info.objective, value, 1e-8 * value);
      EXPECT_LE(value - found.bound, 1e-3 * value);
      EXPECT_GE(value, found.bound);
      EXPECT_GT(metric::lmnn_objective(problem, 1.2 * found.L, unused) - found.bound, 1e-3 * value);
      EXPECT_GT(metric::lmnn_objective(problem, 0.8 * found.L, unused) - found.bound, 1e-3 * value);
    }
    EXPECT_LE(one.info.objective, metric::learn_lmnn(problem, 200, ctx).info.objective);
    EXPECT_LE(one.bound, two.info.objective);
    EXPECT_LE(two.bound, one.info.objective);
  }
}

/// Samples in so many features that the nearest neighbour takes all of the chance.
TEST(Nca, LearnsWhereTheFirstMapLeavesNoChanceToOthers) {
  Samples data = samples(60, 8, 21);
  data.X *= 100;
  RunContext ctx;
  const Matrix identity = Matrix::Identity(8, 8);
  Matrix gradient;
  const double flat = metric::nca_objective(data.X, data.classes, identity, gradient);
  EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT(metric::nca_scale(data.X, identity), 0.1);
  const metric::LearnedMap learned =
      metric::learn_nca(data.X, data.classes, {}, identity, 200, ctx);
  EXPECT_LT(learned.info.objective, flat - 0.1);
  EXPECT_NEAR(learned.info.objective,
              metric::nca_objective(data.X, data.classes, learned.L, gradient), 1e-9);
}

TEST(Nca, BeginsWithTheMapItIsGivenWhereThatHasASlope) {
  const Matrix A = random_matrix(3, 4, 22);
  EXPECT_EQ(metric::nca_scale(samples(40, 4, 23).X, A), 1);
  EXPECT_EQ(metric::nca_scale(Matrix::Zero(5, 4), A), 1);
}

metric::LmnnProblem three_targets(std::uint64_t seed) {
  const Samples data = samples(40, 3, seed);
  return metric::make_lmnn(data.X, data.classes, 3, 0.5);
}

TEST(LmnnSolver, HasABoundBelowEveryMetricAfterAnySteps) {
  const metric::LmnnProblem problem = three_targets(11);
  RunContext ctx;
  const metric::LmnnSolution found = metric::solve_lmnn(problem, Matrix::Identity(3, 3), {}, ctx);
  EXPECT_GT(found.bound, 0);
  Matrix unused;
  for (std::uint64_t seed = 30; seed < 50; ++seed) {
    const Matrix L = found.L + 0.3 * random_matrix(3, 3, seed);
    EXPECT_GE(metric::lmnn_objective(problem, L, unused), found.bound);
    const metric::LmnnSolution early = metric::solve_lmnn(problem, L, {.max_steps = 20}, ctx);
    EXPECT_LE(early.bound, found.info.objective);
  }
}

TEST(LmnnSolver, DoesNotChangeWithThreads) {
  const metric::LmnnProblem problem = three_targets(13);
  std::vector<Matrix> maps;
  for (const int threads : {1, 4}) {
    RunContext ctx;
    ctx.threads = threads;
    maps.push_back(metric::solve_lmnn(problem, Matrix::Identity(3, 3), {}, ctx).L);
  }
  EXPECT_EQ(maps.front(), maps.back());
}

TEST(Nca, LeavesTheGradientThatItStates) {
  const Samples data = samples(30, 3, 12);
  RunContext ctx;
  Matrix gradient;
  const metric::LearnedMap learned =
      metric::learn_nca(data.X, data.classes, {}, Matrix::Identity(3, 3), 400, ctx);
  (void)metric::nca_objective(data.X, data.classes, learned.L, gradient);
  const double left = gradient.norm() * learned.L.norm();
  EXPECT_NEAR(learned.info.kkt_residual, left, 1e-9 * left);
  EXPECT_EQ(learned.info.status == SolveStatus::kStationary, left <= 1e-3);
  Matrix at_start;
  const Matrix identity = Matrix::Identity(3, 3);
  (void)metric::nca_objective(data.X, data.classes, identity, at_start);
  EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 0.05 * at_start.cwiseAbs().maxCoeff());
  const metric::LearnedMap early = metric::learn_nca(data.X, data.classes, {}, identity, 1, ctx);
  EXPECT_GT(early.info.kkt_residual, 1e-3);
  EXPECT_EQ(early.info.status, SolveStatus::kStopped);  // nothing says that it is near one
}

TrainingSet set_of(const Samples& samples) {
  TrainingSet set;
  set.labels = test::numbered_labels(samples.classes);
  set.vectors = DenseBlock(RowMatrix(samples.X));
  return set;
}

Fitted<LmnnKnnModel> fit_lmnn(const TrainingSet& set, const LmnnKnnSettings& settings) {
  RunContext ctx;
  SharedWork work(set);
  return fit(work, settings, ctx);
}

TEST(LmnnKnn, IsCertifiedWhereAsked) {
  const TrainingSet set = set_of(samples(60, 4, 14));
  const Fitted<LmnnKnnModel> descent = fit_lmnn(set, {});
  const Fitted<LmnnKnnModel> plain = fit_lmnn(set, {.certificate = false});
  EXPECT_EQ(plain.model.map, descent.model.map);
  EXPECT_TRUE(std::isnan(plain.info.gap()));
  EXPECT_EQ(plain.info.status(), SolveStatus::kStopped);  // nothing is proved
  EXPECT_GT(descent.info.gap(), 0);
  EXPECT_LT(descent.info.gap(), 1);
  const Fitted<LmnnKnnModel> convex = fit_lmnn(set, {.solver = LmnnSolver::kConvex});
  EXPECT_EQ(convex.info.status(), SolveStatus::kSolved);
  EXPECT_LE(convex.info.gap(), 1e-3);
  EXPECT_LE(convex.info.subproblems[0].info.objective, descent.info.subproblems[0].info.objective);
}

/// Distances of the samples under the learned map, and what the method says of it.
template <class Settings>
struct InUnit {
  Matrix scores;
  SolveInfo info;
};
template <class Settings>
InUnit<Settings> in_unit(Samples data, double unit, const Settings& settings) {
  data.X *= unit;
  Samples fresh = samples(20, data.X.cols(), 99);
  fresh.X *= unit;
  const TrainingSet set = set_of(data);
  QueryBlock queries;
  queries.vectors = DenseBlock(RowMatrix(fresh.X));
  RunContext ctx;
  SharedWork work(set);
  const auto fitted = fit(work, settings, ctx);
  return {predict(fitted.model, queries, ctx).scores, fitted.info.subproblems[0].info};
}

template <class Settings>
void expect_no_unit(const Settings& settings) {
  const Samples data = samples(60, 5, 31);
  const InUnit<Settings> one = in_unit(data, 1, settings);
  EXPECT_GT(one.info.iterations, 2);
  for (const int power : {-400, -10, 1, 20, 400}) {
    const InUnit<Settings> other = in_unit(data, std::ldexp(1.0, power), settings);
    EXPECT_EQ(other.scores, one.scores) << power;
    EXPECT_EQ(other.info.objective, one.info.objective) << power;
    EXPECT_EQ(other.info.iterations, one.info.iterations) << power;
    EXPECT_EQ(other.info.status, one.info.status) << power;
    if (std::isnan(one.info.kkt_residual)) continue;
    EXPECT_EQ(other.info.kkt_residual, one.info.kkt_residual) << power;
  }
}

TEST(MetricKnn, DoesNotDependOnTheUnitOfFeaturesThatAreNotScaled) {
  expect_no_unit(NcaKnnSettings{.scaling = FeatureScaling::kNone});
  expect_no_unit(
      NcaKnnSettings{.start = metric::MapStart::kRandom, .scaling = FeatureScaling::kNone});
  expect_no_unit(LmnnKnnSettings{.scaling = FeatureScaling::kNone});
  expect_no_unit(LmnnKnnSettings{.scaling = FeatureScaling::kNone, .solver = LmnnSolver::kConvex});
}

/// Features of the values 0, 1, 2: most targets of a sample are where it is.
Samples few_values(Index n, Index features, std::uint64_t seed) {
  Samples made = samples(n, features, seed);
  made.X = made.X.unaryExpr([](double x) { return std::clamp(std::round(1 + x), 0.0, 2.0); });
  made.X.rowwise() -= Eigen::RowVectorXd(made.X.colwise().mean());
  return made;
}

TEST(LmnnSolver, SolvesFeaturesOfFewValues) {
  RunContext ctx;
  Matrix unused;
  for (const Index features : {1, 2, 3}) {
    for (std::uint64_t seed = 40; seed < 44; ++seed) {
      const Samples data = few_values(90, features, seed);
      const metric::LmnnProblem problem = metric::make_lmnn(data.X, data.classes, 3, 0.5);
      const Matrix identity = Matrix::Identity(features, features);
      const metric::LmnnSolution found =
          metric::solve_lmnn(problem, identity, {.max_steps = 5000}, ctx);
      EXPECT_EQ(found.info.status, SolveStatus::kSolved) << features << ' ' << seed;
      const double value = metric::lmnn_objective(problem, found.L, unused);
      EXPECT_NEAR(found.info.objective, value, 1e-9 * value);
      EXPECT_LE(value - found.bound, 1e-3 * value);
      for (std::uint64_t other = 60; other < 70; ++other) {
        const Matrix L = 3 * random_matrix(features, features, other);
        EXPECT_GE(metric::lmnn_objective(problem, L, unused), found.bound * (1 - 1e-12));
      }
    }
  }
}

TEST(LmnnSolver, SatisfiesForNothingWhatNoTargetIsApartIn) {
  // Two places on a line, each with both classes: samples at the other place are pushed away at no
  // cost, those at the same place violate by 1 whatever the metric.
  Matrix X(8, 1);
  X << 0, 0, 0, 1, 1, 1, 0, 1;
  const std::vector<int> classes = {0, 0, 1, 0, 0, 1, 1, 1};
  const metric::LmnnProblem problem = metric::make_lmnn(X, classes, 1, 0.5);
  RunContext ctx;
  for (const double start : {1e-3, 1.0}) {
    const metric::LmnnSolution found =
        metric::solve_lmnn(problem, Matrix::Constant(1, 1, start), {}, ctx);
    EXPECT_EQ(found.info.status, SolveStatus::kSolved);
    EXPECT_NEAR(found.info.objective, 0.5 * 8 * 2, 1e-12);  // each has two of the others with it
    EXPECT_NEAR(found.bound, found.info.objective, 1e-12);
    EXPECT_GE(found.L.squaredNorm(), 1 - 1e-12);
  }
}

TEST(LmnnSolver, ReachesZeroWhereSamplesAreFewerThanFeatures) {
  const Samples data = samples(12, 40, 45);
  const Matrix centred = data.X.rowwise() - Eigen::RowVectorXd(data.X.colwise().mean());
  const metric::LmnnProblem problem = metric::make_lmnn(centred, data.classes, 1, 0.5);
  RunContext ctx;
  const metric::LmnnSolution found = metric::solve_lmnn(problem, Matrix::Identity(40, 40), {}, ctx);
  EXPECT_EQ(found.info.status, SolveStatus::kSolved);
  Matrix unused;
  EXPECT_NEAR(metric::lmnn_objective(problem, found.L, unused), 0, 1e-9);
}

template <class Settings>
double error_of_method(const Samples& train, const Samples& test) {
  const TrainingSet set = set_of(train);
  QueryBlock queries;
  queries.vectors = DenseBlock(RowMatrix(test.X));
  RunContext ctx;
  SharedWork work(set);
  const auto fitted = fit(work, Settings{}, ctx);
  const Prediction prediction = predict(fitted.model, queries, ctx);
  double wrong = 0;
  for (std::size_t i = 0; i < test.classes.size(); ++i) {
    wrong += prediction.labels[i] != test.classes[i];
  }
  return wrong / static_cast<double>(test.classes.size());
}

TEST(MetricKnn, PredictsNewSamples) {
  const Samples train = samples(80, 6, 8);
  const Samples test = samples(80, 6, 9);
  EXPECT_LT(error_of_method<NcaKnnSettings>(train, test), 0.2);
  EXPECT_LT(error_of_method<LmnnKnnSettings>(train, test), 0.2);
}

}  // namespace
}  // namespace kith::neighbour_maps_test
