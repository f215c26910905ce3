// SPDX-License-Identifier: Apache-2.0
// `linear-msvm`, `nonlinear-msvm` and `vector-svm`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/learn/method_variants.hpp"
#include "kith/optim/metric/margin_radius.hpp"
#include "support/files.hpp"
#include "support/fitting.hpp"
#include "support/training_sets.hpp"

namespace kith::metric_test {
namespace {

/// Two or three overlapping clouds; features of different units.
struct Clouds {
  Matrix train;
  std::vector<int> classes;
  Matrix queries;
};

Clouds clouds(Index n, Index features, int classes, std::uint64_t seed) {
  Rng rng(seed);
  Clouds made{Matrix(n, features), {}, Matrix(30, features)};
  const auto fill = [&](Matrix& X) {
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < features; ++j) {
        const double centre = j == i % classes ? 1.2 : 0;
        X(i, j) = (1 + static_cast<double>(j % 4)) * (centre + rng.normal());
      }
    }
  };
  fill(made.train);
  fill(made.queries);
  for (Index i = 0; i < n; ++i) made.classes.push_back(static_cast<int>(i) % classes);
  return made;
}

TrainingSet set_of(const Matrix& X, std::span<const int> classes) {
  TrainingSet set;
  set.labels = test::numbered_labels(classes);
  set.vectors = DenseBlock(RowMatrix(X));
  return set;
}

QueryBlock queries_of(const Matrix& X) {
  QueryBlock block;
  block.vectors = DenseBlock(RowMatrix(X));
  return block;
}

template <class Settings>
auto fit_once(const TrainingSet& set, const Settings& settings) {
  RunContext ctx;
  SharedWork work(set);
  return fit(work, settings, ctx);
}

template <class Model>
Prediction predict_once(const Model& model, const Matrix& X) {
  RunContext ctx;
  return predict(model, queries_of(X), ctx);
}

Vector signs_of(std::span<const int> classes) {
  Vector y(std::ssize(classes));
  for (Index i = 0; i < y.size(); ++i) y(i) = classes[static_cast<std::size_t>(i)] == 0 ? 1 : -1;
  return y;
}

Matrix rotation(Index size, std::uint64_t seed) {
  Rng rng(seed);
  Matrix A(size, size);
  for (Index i = 0; i < A.size(); ++i) A.data()[i] = rng.normal();
  return Eigen::HouseholderQR<Matrix>(A).householderQ();
}

TEST(FeatureScale, IsMeasuredPerFeature) {
  RowMatrix X(4, 3);
  X << 1, 7, -2, 3, 7, 2, 5, 7, -2, 7, 7, 2;
  const FeatureScale standard = learn_scale(DenseBlock(X), FeatureScaling::kStandard);
  const Matrix Z = scaled(standard, DenseBlock(X));
  EXPECT_LT(Z.colwise().mean().norm(), 1e-14);
  EXPECT_NEAR(Z.col(0).squaredNorm(), 4, 1e-12);
  EXPECT_EQ(Z.col(1), Vector::Zero(4));
  const Matrix R = scaled(learn_scale(DenseBlock(X), FeatureScaling::kRange), DenseBlock(X));
  EXPECT_EQ(R.col(0).minCoeff(), 0);
  EXPECT_NEAR(R.col(0).maxCoeff(), 1, 1e-15);
  EXPECT_EQ(scaled(learn_scale(DenseBlock(X), FeatureScaling::kNone), DenseBlock(X)), X);
}

TEST(FeatureScale, RefusesVectorsOfAnotherWidth) {
  const FeatureScale scale =
      learn_scale(DenseBlock(RowMatrix(Matrix::Identity(3, 3))), FeatureScaling::kStandard);
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { (void)scaled(scale, DenseBlock(RowMatrix(Matrix::Ones(2, 4)))); }),
              testing::AllOf(testing::HasSubstr("4 features"), testing::HasSubstr("3")));
}

TEST(LinearMsvm, StatesTheObjectiveOfItsMapAndMachine) {
  const Clouds data = clouds(60, 5, 2, 1);
  for (const MetricSolver solver : {MetricSolver::kProjection, MetricSolver::kConvex}) {
    const Fitted<LinearMsvmModel> fitted =
        fit_once(set_of(data.train, data.classes),
                 LinearMsvmSettings{.metric = {.cost = 0.5, .solver = solver}});
    const MetricPairs& pairs = fitted.model.pairs;
    const Matrix X = scaled(fitted.model.scale, DenseBlock(RowMatrix(data.train)));
    const Matrix images = (X.rowwise() - pairs.centres.row(0)) * pairs.maps.transpose();
    EXPECT_NEAR(images.rowwise().norm().maxCoeff(), 1, 1e-9);
    // The shortest w with L'w = v is the machine's, and the objective is [ZGZZ] (5).
    const Vector w =
        pairs.maps.transpose().colPivHouseholderQr().solve(Vector(pairs.directions.col(0)));
    const Vector slack = (1 - signs_of(data.classes).array() *
                                  ((X * pairs.directions.col(0)).array() + pairs.intercepts(0)))
                             .max(0);
    const double objective = 0.5 * w.squaredNorm() + 0.5 * slack.squaredNorm();
    EXPECT_LE(objective, fitted.info.objective() * (1 + 1e-7));
    EXPECT_NEAR(objective, fitted.info.objective(), 0.05 * objective);
  }
}

TEST(LinearMsvm, IsNeverBelowItsConvexEquivalent) {
  const Clouds data = clouds(60, 5, 2, 2);
  const TrainingSet set = set_of(data.train, data.classes);
  for (const double cost : {0.01, 1.0, 100.0}) {
    const auto objective = [&](MetricSolver solver) {
      return fit_once(set, LinearMsvmSettings{.metric = {.cost = cost, .solver = solver}}).info;
    };
    const FitInfo projection = objective(MetricSolver::kProjection);
    const FitInfo convex = objective(MetricSolver::kConvex);
    EXPECT_EQ(convex.status(), SolveStatus::kSolved);
    EXPECT_LE(convex.gap(), 1e-8);
    EXPECT_LE(convex.objective(), projection.objective() * (1 + 1e-8));
    EXPECT_GE(projection.gap(), 0);
    EXPECT_NEAR(projection.objective() * (1 - projection.gap()), convex.objective(),
                1e-6 * convex.objective());
    ASSERT_FALSE(projection.subproblems.front().trace.empty());
    EXPECT_EQ(std::ssize(projection.subproblems.front().trace), projection.iterations() + 1);
  }
}

TEST(LinearMsvm, DoesNotDependOnARotationOfUnscaledFeatures) {
  const Clouds data = clouds(50, 4, 2, 3);
  const Matrix Q = rotation(4, 4);
  const LinearMsvmSettings settings{.metric = {}, .scaling = FeatureScaling::kNone};
  const Prediction one =
      predict_once(fit_once(set_of(data.train, data.classes), settings).model, data.queries);
  const Prediction two = predict_once(
      fit_once(set_of(data.train * Q, data.classes), settings).model, data.queries * Q);
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_LT((one.scores - two.scores).cwiseAbs().maxCoeff(), 1e-5);
}

TEST(LinearMsvm, DoesNotDependOnTheUnitsOfScaledFeatures) {
  const Clouds data = clouds(50, 4, 3, 5);
  const Vector units{{1e-3, 7, 400, 1}};
  const Prediction one = predict_once(
      fit_once(set_of(data.train, data.classes), LinearMsvmSettings{}).model, data.queries);
  const Prediction two = predict_once(
      fit_once(set_of(data.train * units.asDiagonal(), data.classes), LinearMsvmSettings{}).model,
      data.queries * units.asDiagonal());
  EXPECT_EQ(one.labels, two.labels);
}

/// Every second feature in a unit that makes it small.
Matrix in_other_units(Matrix X, double unit) {
  for (Index j = 0; j < X.cols(); j += 2) X.col(j) *= unit;
  return X;
}

TEST(LinearMsvm, FindsTheOptimumInAnyUnits) {
  const LinearMsvmSettings settings{
      .metric = {.solver = MetricSolver::kConvex, .probability = false},
      .scaling = FeatureScaling::kNone};
  for (const Index features : {6, 90}) {  // fewer than samples, and more
    const Clouds data = clouds(60, features, 2, 14);
    const Fitted<LinearMsvmModel> one = fit_once(set_of(data.train, data.classes), settings);
    for (const double unit : {1e-4, 1e-8, 1e-10}) {
      const Matrix X = in_other_units(data.train, unit);
      const Fitted<LinearMsvmModel> two = fit_once(set_of(X, data.classes), settings);
      EXPECT_EQ(two.info.status(), SolveStatus::kSolved);
      EXPECT_NEAR(two.info.objective(), one.info.objective(), 2e-8 * one.info.objective());
      // What the model says of its samples has that objective.
      const Vector f =
          (X * two.model.pairs.directions.col(0)).array() + two.model.pairs.intercepts(0);
      const Vector slack = (1 - signs_of(data.classes).array() * f.array()).max(0);
      const Vector F = f.array() - f.mean();
      EXPECT_NEAR(0.5 * F.cwiseAbs2().maxCoeff() + slack.squaredNorm(), two.info.objective(),
                  1e-5 * two.info.objective());
    }
  }
}

/// Features that are nearly those of a few: what is left of each is small beside it.
Matrix nearly_collinear(Matrix X, double rest) {
  X.rightCols(X.cols() - 3) *= rest;
  return X * rotation(X.cols(), 18);
}

TEST(LinearMsvm, SeesWhatIsSmallInEveryFeature) {
  const MetricSettings metric{.solver = MetricSolver::kConvex, .probability = false};
  for (const Index features : {20, 60}) {  // fewer than samples, and more
    const Clouds data = clouds(40, features, 2, 17);
    const auto solved = [&](const Matrix& X) {
      return fit_once(set_of(X, data.classes),
                      LinearMsvmSettings{.metric = metric, .scaling = FeatureScaling::kNone})
          .info;
    };
    const double optimum = solved(data.train).objective();
    for (const double rest : {1e-5, 1e-7, 3e-8, 1e-9}) {
      const Matrix X = nearly_collinear(data.train, rest);
      const FitInfo linear = solved(X);
      EXPECT_EQ(linear.status(), SolveStatus::kSolved)
          << features << " features, " << rest << ": gap " << linear.gap();
      EXPECT_NEAR(linear.objective(), optimum, 1e-5 * optimum);
      const FitInfo nonlinear =
          fit_once(set_of(X, data.classes),
                   NonlinearMsvmSettings{.metric = metric,
                                         .kernel = {.kernel = VectorKernel::kLinear},
                                         .scaling = FeatureScaling::kNone})
              .info;
      const double off = std::abs(nonlinear.objective() - optimum);
      EXPECT_LE(off, nonlinear.gap() * std::max(nonlinear.objective(), optimum) + 1e-5 * optimum);
    }
  }
}

/// Rounding of the mean leaves something of a constant that no binary fraction is.
TEST(LinearMsvm, TakesNoNoticeOfConstantFeatures) {
  const Clouds data = clouds(40, 3, 2, 18);
  const auto with_constants = [](const Matrix& X, double first) {
    Matrix wide(X.rows(), X.cols() + 3);
    wide << X, Vector::Constant(X.rows(), first), Vector::Constant(X.rows(), 7 * first),
        Vector::Constant(X.rows(), 1e6 * first);
    return wide;
  };
  for (const MetricSolver solver : {MetricSolver::kProjection, MetricSolver::kConvex}) {
    const LinearMsvmSettings settings{.metric = {.solver = solver, .probability = false},
                                      .scaling = FeatureScaling::kNone};
    const auto narrow = fit_once(set_of(data.train, data.classes), settings);
    const auto wide = fit_once(set_of(with_constants(data.train, 0.1), data.classes), settings);
    const Matrix expected = predict_once(narrow.model, data.queries).scores;
    // Also where new samples have other values there.
    for (const double value : {0.1, 0.7}) {
      const Matrix found = predict_once(wide.model, with_constants(data.queries, value)).scores;
      EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-6 * expected.cwiseAbs().maxCoeff());
    }
  }
}

TEST(LinearMsvm, MeasuresADescentByTheOptimumOfAllFeatures) {
  const Clouds data = clouds(60, 6, 2, 15);
  const Matrix X = in_other_units(data.train, 1e-9);
  const auto fitted = [&](MetricSolver solver) {
    return fit_once(set_of(X, data.classes),
                    LinearMsvmSettings{.metric = {.solver = solver, .probability = false},
                                       .scaling = FeatureScaling::kNone})
        .info;
  };
  const FitInfo descent = fitted(MetricSolver::kProjection);
  EXPECT_NEAR(descent.objective() * (1 - descent.gap()), fitted(MetricSolver::kConvex).objective(),
              1e-7 * descent.objective());
  EXPECT_NE(descent.status(), SolveStatus::kSolved);
}

TEST(LinearMsvm, LearnsAMapOfTheRowsItIsAskedFor) {
  const Clouds data = clouds(40, 6, 2, 6);
  const TrainingSet set = set_of(data.train, data.classes);
  const auto rows = [&](const std::string& dimensions) {
    return fit_once(set, LinearMsvmSettings{.metric = {.dimensions = dimensions}})
        .model.pairs.maps.rows();
  };
  EXPECT_EQ(rows("all"), 6);
  EXPECT_EQ(rows("2"), 2);
  EXPECT_EQ(rows("99"), 6);
  EXPECT_EQ(rows("energy:1"), 6);
  EXPECT_LT(rows("energy:0.5"), 6);
}

TEST(LinearMsvm, RefusesDimensionsThatAreNone) {
  const Clouds data = clouds(20, 3, 2, 7);
  const TrainingSet set = set_of(data.train, data.classes);
  for (const char* text : {"0", "some", "energy:0", "energy:1.5", "-3", ""}) {
    EXPECT_THAT(
        error_of(ErrorCode::kInvalidArgument,
                 [&] { (void)fit_once(set, LinearMsvmSettings{.metric = {.dimensions = text}}); }),
        testing::HasSubstr("energy:SHARE"))
        << text;
  }
}

TEST(LinearMsvm, RefusesACostBeyondWhatCanBeComputedWith) {
  const Clouds data = clouds(20, 3, 2, 7);
  const TrainingSet set = set_of(data.train, data.classes);
  for (const double cost : {0.0, 1e-300, 1e-21, 1e21, 1e160, 1e300}) {
    EXPECT_THAT(
        error_of(ErrorCode::kInvalidArgument,
                 [&] { (void)fit_once(set, LinearMsvmSettings{.metric = {.cost = cost}}); }),
        testing::HasSubstr("between 1e-20 and 1e+20"));
  }
}

TEST(NonlinearMsvm, SaysThatFeaturesAreTooLarge) {
  const Clouds data = clouds(20, 3, 2, 7);
  for (const double unit : {1e8, 1e16}) {  // the squares of kernel values overflow, and they do
    const TrainingSet set = set_of(unit * data.train, data.classes);
    EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                         [&] {
                           (void)fit_once(set, NonlinearMsvmSettings{
                                                   .metric = {},
                                                   .kernel = {.kernel = VectorKernel::kPolynomial,
                                                              .degree = 10},
                                                   .scaling = FeatureScaling::kNone});
                         }),
                testing::HasSubstr("features are so large"));
  }
}

/// What a certificate may say at any cost there is, of both solvers.
TEST(LinearMsvm, IsHonestAtEveryCost) {
  const Clouds data = clouds(30, 3, 2, 7);
  const TrainingSet set = set_of(data.train, data.classes);
  for (const MetricSolver solver : {MetricSolver::kProjection, MetricSolver::kConvex}) {
    for (int power = -20; power <= 20; power += 5) {
      const LinearMsvmSettings settings{
          .metric = {.cost = std::pow(10.0, power), .solver = solver, .probability = false}};
      const FitInfo info = fit_once(set, settings).info;
      EXPECT_GE(info.gap(), 0) << power;
      EXPECT_LE(info.gap(), 1) << power;
      EXPECT_GE(info.kkt_residual(), 0) << power;
      EXPECT_LE(info.kkt_residual(), 1) << power;
      if (info.status() == SolveStatus::kSolved) {
        EXPECT_LE(info.gap(), 1e-8) << power;
      }
      if (info.status() == SolveStatus::kStationary) {
        EXPECT_LE(info.kkt_residual(), 1e-3) << power;
      }
    }
  }
}

TEST(LinearMsvm, WorksInTheSpanOfTheSamples) {
  const Clouds data = clouds(30, 4000, 2, 8);
  const Fitted<LinearMsvmModel> fitted =
      fit_once(set_of(data.train, data.classes), LinearMsvmSettings{.metric = {.dimensions = "5"}});
  EXPECT_EQ(fitted.model.pairs.maps.rows(), 5);
  EXPECT_EQ(predict_once(fitted.model, data.train).labels, data.classes);
}

TEST(LinearMsvm, GivesASimilarityThatIsTheInnerProductOfImages) {
  const Clouds data = clouds(30, 4, 3, 9);
  const Fitted<LinearMsvmModel> fitted =
      fit_once(set_of(data.train, data.classes), LinearMsvmSettings{});
  RunContext ctx;
  const Matrix S = learned_similarity(fitted.model, DenseBlock(RowMatrix(data.train)), ctx);
  EXPECT_LT((S - S.transpose()).norm(), 1e-12);
  EXPECT_LE(S.diagonal().maxCoeff(), 1 + 1e-9);
  EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix>(S).eigenvalues().minCoeff(), -1e-10);
  EXPECT_TRUE(learns_metric(parse_method("linear-msvm").settings));
  EXPECT_FALSE(learns_metric(parse_method("vector-svm").settings));
}

TEST(LinearMsvm, NeedsVectors) {
  const Clouds data = clouds(20, 3, 2, 10);
  const TrainingSet set =
      test::training_set(Matrix(data.train * data.train.transpose()), data.classes);
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument, [&] { (void)fit_once(set, LinearMsvmSettings{}); }),
      testing::HasSubstr("vectors"));
}

TEST(NonlinearMsvm, WithALinearKernelIsTheLinearMethodUnderTheConvexSolver) {
  const Clouds data = clouds(60, 5, 2, 11);
  const TrainingSet set = set_of(data.train, data.classes);
  const MetricSettings metric{.cost = 1, .solver = MetricSolver::kConvex, .probability = false};
  const Fitted<LinearMsvmModel> linear = fit_once(set, LinearMsvmSettings{.metric = metric});
  const Fitted<NonlinearMsvmModel> nonlinear = fit_once(
      set, NonlinearMsvmSettings{.metric = metric, .kernel = {.kernel = VectorKernel::kLinear}});
  EXPECT_NEAR(linear.info.objective(), nonlinear.info.objective(), 1e-6 * linear.info.objective());
  EXPECT_LT((predict_once(linear.model, data.queries).scores -
             predict_once(nonlinear.model, data.queries).scores)
                .cwiseAbs()
                .maxCoeff(),
            1e-3);
}

/// A kernel matrix holds the squares of lengths: small features lose their digits in it.
TEST(NonlinearMsvm, SaysHowFarRoundingOfALinearKernelKeepsItFromTheOptimum) {
  const Clouds data = clouds(60, 5, 2, 16);
  const MetricSettings metric{.solver = MetricSolver::kConvex, .probability = false};
  for (const double unit : {1e-3, 1e-6, 1e-7, 1e-9}) {
    const TrainingSet set = set_of(in_other_units(data.train, unit), data.classes);
    const FitInfo linear =
        fit_once(set, LinearMsvmSettings{.metric = metric, .scaling = FeatureScaling::kNone}).info;
    const FitInfo nonlinear =
        fit_once(set, NonlinearMsvmSettings{.metric = metric,
                                            .kernel = {.kernel = VectorKernel::kLinear},
                                            .scaling = FeatureScaling::kNone})
            .info;
    const double off = std::abs(nonlinear.objective() / linear.objective() - 1);
    EXPECT_EQ(nonlinear.status() == SolveStatus::kSolved, nonlinear.gap() <= 1e-8);
    EXPECT_LE(off, 2 * nonlinear.gap() + 2e-8);
    EXPECT_TRUE(off <= 1e-4 || unit < 1e-6);
    EXPECT_TRUE(nonlinear.status() == SolveStatus::kReducedAccuracy || unit > 1e-9);
  }
}

/// Why `solver=convex` makes no sense with a kernel of full rank: it fits any labels equally well.
TEST(NonlinearMsvm, FitsAnyLabelsUnderTheConvexSolverOfAFullRankKernel) {
  const Clouds data = clouds(40, 3, 2, 12);
  Rng rng(13);
  std::vector<int> shuffled = data.classes;
  rng.shuffle(std::span<int>(shuffled));
  const NonlinearMsvmSettings settings{
      .metric = {.solver = MetricSolver::kConvex, .probability = false},
      .kernel = {.kernel = VectorKernel::kRbf, .gamma = 10}};
  const double real = fit_once(set_of(data.train, data.classes), settings).info.objective();
  const double random = fit_once(set_of(data.train, shuffled), settings).info.objective();
  EXPECT_NEAR(real, random, 1e-6 * real);
}

TEST(NonlinearMsvm, LearnsWhatNoLineSeparates) {
  Rng rng(14);
  Matrix X(80, 2);
  std::vector<int> classes;
  for (Index i = 0; i < 80; ++i) {
    const double radius = i % 2 == 0 ? 1 : 3;
    const double angle = 6.283185307179586 * rng.uniform();
    X.row(i) << radius * std::cos(angle), radius * std::sin(angle);
    classes.push_back(static_cast<int>(i) % 2);
  }
  const TrainingSet set = set_of(X, classes);
  const auto wrong = [&](const Prediction& prediction) {
    int count = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) count += prediction.labels[i] != classes[i];
    return count;
  };
  EXPECT_LE(wrong(predict_once(fit_once(set, NonlinearMsvmSettings{}).model, X)), 2);
  EXPECT_GT(wrong(predict_once(fit_once(set, LinearMsvmSettings{}).model, X)), 15);
}

TEST(VectorSvm, AgreesWithTheMachineOnItsKernel) {
  const Clouds data = clouds(60, 5, 2, 15);
  const TrainingSet set = set_of(data.train, data.classes);
  for (const VectorKernel kernel :
       {VectorKernel::kLinear, VectorKernel::kRbf, VectorKernel::kPolynomial}) {
    const VectorSvmSettings settings{.kernel = {.kernel = kernel, .gamma = 0.1},
                                     .cost = 2,
                                     .probability = false,
                                     .tolerance = 1e-9};
    const Fitted<VectorSvmModel> fitted = fit_once(set, settings);
    const Matrix X = scaled(fitted.model.scale, DenseBlock(RowMatrix(data.train)));
    const Matrix Q = scaled(fitted.model.scale, DenseBlock(RowMatrix(data.queries)));
    const auto K = [&](const Matrix& a) {
      return kernel_of_table(settings.kernel, kernel_table(kernel, a, X, 1));
    };
    const TrainingSet pairs = test::training_set(K(X), data.classes);
    const Fitted<SvmModel> svm =
        fit_once(pairs, SvmSettings{.cost = 2, .spectrum = Spectrum::kNone, .tolerance = 1e-9});
    EXPECT_LT((test::predict_once(svm.model, test::query_block(K(Q))).scores -
               predict_once(fitted.model, data.queries).scores)
                  .cwiseAbs()
                  .maxCoeff(),
              1e-5);
    EXPECT_NEAR(fitted.info.objective(), svm.info.objective(), 1e-6 * svm.info.objective());
  }
}

TEST(VectorSvm, RefusesADegreeThatLeavesDoublePrecision) {
  const Clouds data = clouds(20, 3, 2, 7);
  const TrainingSet set = set_of(data.train, data.classes);
  const KernelRule rule{.kernel = VectorKernel::kPolynomial, .degree = 1000000000};
  const std::vector<std::string> messages = {
      error_of(ErrorCode::kInvalidArgument,
               [&] { (void)fit_once(set, VectorSvmSettings{.kernel = rule}); }),
      error_of(ErrorCode::kInvalidArgument,
               [&] { (void)fit_once(set, NonlinearMsvmSettings{.metric = {}, .kernel = rule}); })};
  EXPECT_THAT(messages, testing::Each(testing::HasSubstr("between 1 and 100")));
}

TEST(VectorSvm, WithSquaredLossMeetsItsOptimalityConditions) {
  const Clouds data = clouds(60, 5, 2, 16);
  const TrainingSet set = set_of(data.train, data.classes);
  const Vector y = signs_of(data.classes);
  for (const VectorKernel kernel : {VectorKernel::kLinear, VectorKernel::kRbf}) {
    const Fitted<VectorSvmModel> fitted =
        fit_once(set, VectorSvmSettings{.kernel = {.kernel = kernel, .gamma = 0.1},
                                        .loss = MarginLoss::kSquared,
                                        .cost = 2,
                                        .probability = false,
                                        .tolerance = 1e-10});
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
    // a_i = 2 C max(0, 1 - y_i f_i), sum y_i a_i = 0, and f is the expansion in a.
    const Vector f = predict_once(fitted.model, data.train).scores.col(0);
    const Vector a = 4 * (1 - y.array() * f.array()).max(0);
    EXPECT_NEAR(y.dot(a), 0, 1e-5 * a.sum());
    const Matrix X = scaled(fitted.model.scale, DenseBlock(RowMatrix(data.train)));
    const Matrix K =
        kernel_of_table({.kernel = kernel, .gamma = 0.1}, kernel_table(kernel, X, X, 1));
    const Vector expansion = (K * y.cwiseProduct(a)).array() + fitted.model.intercepts(0);
    EXPECT_LT((expansion - f).cwiseAbs().maxCoeff(), 1e-5);
  }
}

/// Kernels of large features have more digits than a double holds.
TEST(VectorSvm, StatesTheObjectiveOfTheModelThatItKeeps) {
  int solved = 0;
  for (const VectorKernel kernel : {VectorKernel::kLinear, VectorKernel::kPolynomial}) {
    for (const double mean : {0.0, 1e3, 1e6}) {
      for (const double cost : {1e-2, 1.0, 1e3}) {
        const Clouds data = clouds(60, 5, 2, 18);
        const Matrix X = 100 * data.train.array() + mean;
        const Fitted<VectorSvmModel> fitted =
            fit_once(set_of(X, data.classes), VectorSvmSettings{.kernel = {.kernel = kernel},
                                                                .loss = MarginLoss::kSquared,
                                                                .cost = cost,
                                                                .scaling = FeatureScaling::kNone,
                                                                .probability = false});
        const Vector f = predict_once(fitted.model, X).scores.col(0);
        const Vector slack = (1 - signs_of(data.classes).array() * f.array()).max(0);
        if (fitted.info.status() != SolveStatus::kSolved) continue;
        EXPECT_LE(cost * slack.squaredNorm(), fitted.info.objective() * (1 + 1e-5));
        EXPECT_LE(fitted.info.gap(), 1e-6);
        ++solved;
      }
    }
  }
  EXPECT_GE(solved, 6);  // where there are digits enough
}

TEST(VectorSvm, GivesProbabilitiesThatFollowItsScores) {
  const Clouds data = clouds(60, 5, 2, 17);
  for (const MarginLoss loss : {MarginLoss::kHinge, MarginLoss::kSquared}) {
    const Prediction prediction = predict_once(
        fit_once(set_of(data.train, data.classes), VectorSvmSettings{.loss = loss}).model,
        data.queries);
    for (Index i = 0; i < 30; ++i) {
      for (Index j = 0; j < 30; ++j) {
        if (prediction.scores(i, 0) > prediction.scores(j, 0)) {
          EXPECT_GE(prediction.probabilities(i, 0), prediction.probabilities(j, 0) - 1e-12);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::metric_test
