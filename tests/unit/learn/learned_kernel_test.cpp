// SPDX-License-Identifier: Apache-2.0
// robust-svm, full-kernel-svm and what they share; learned_machine_test.cpp has their treatments of
// new samples.
#include "kith/learn/kernel_learning/learned_kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "kith/core/error.hpp"
#include "kith/learn/kernel_learning/full_kernel_svm.hpp"
#include "kith/learn/kernel_learning/robust_svm.hpp"
#include "kith/learn/kernel_learning/spectrum_svm.hpp"
#include "kith/learn/method_variants.hpp"
#include "kith/learn/svm/kernel_svm.hpp"
#include "kith/model/archive.hpp"
#include "kith/numerics/psd.hpp"
#include "support/fitting.hpp"

namespace kith::learned_kernel_test {
namespace {

using test::fit_once;
using test::make_sample;
using test::predict_once;
using test::query_block;
using test::Sample;
using test::training_set;

TEST(RobustSvm, ForLargeRhoIsTheMachineOnTheClippedMatrix) {
  const Sample sample = make_sample(40, 15, 2, 5);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const auto robust =
      fit_once(set, RobustSvmSettings{.rho = 1e9, .test_treatment = Treatment::kProject});
  const auto clipped = fit_once(set, SvmSettings{.cost = 1, .tolerance = 1e-9});
  const QueryBlock queries = query_block(sample.rows, sample.self);
  const Prediction one = predict_once(robust.model, queries);
  const Prediction two = predict_once(clipped.model, queries);
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_LT((one.scores - two.scores).cwiseAbs().maxCoeff(),
            1e-4 * two.scores.cwiseAbs().maxCoeff());
}

TEST(LearnedKernels, TakeTheMiddleWhereTheInterceptIsFree) {
  // Classes of equal size and a cost that every multiplier reaches: b has an interval to itself.
  const Sample sample = make_sample(40, 15, 2, 5);
  ASSERT_EQ(std::count(sample.classes.begin(), sample.classes.end(), 0), 20);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const QueryBlock queries = query_block(sample.rows, sample.self);
  for (const double cost : {1e-4, 1e-3}) {
    const auto clipped = fit_once(set, SvmSettings{.cost = cost, .tolerance = 1e-9});
    const Matrix expected = predict_once(clipped.model, queries).scores;
    const auto robust = fit_once(
        set, RobustSvmSettings{.cost = cost, .rho = 1e9, .test_treatment = Treatment::kProject});
    const auto full = fit_once(
        set, FullKernelSettings{
                 .eta = 1 / (2 * 40 * cost), .gamma = 1e3, .test_treatment = Treatment::kProject});
    for (const Matrix& scores :
         {predict_once(robust.model, queries).scores, predict_once(full.model, queries).scores}) {
      EXPECT_LT((scores - expected).cwiseAbs().maxCoeff(), 1e-6) << cost;
    }
  }
}

TEST(RobustSvm, HasAProvedObjectiveAndItsOffset) {
  const Sample sample = make_sample(40, 1, 2, 6);
  const auto fitted = fit_once(training_set(sample.S, sample.classes),
                               RobustSvmSettings{.rho = 0.1, .probability = false});
  EXPECT_LE(fitted.info.gap(), 1e-8);
  EXPECT_LE(fitted.info.iterations(), 25);
  const double negative = symmetric_eigenvalues(sample.S).cwiseMin(0.0).squaredNorm();
  EXPECT_NEAR(fitted.info.objective_offset(), 0.1 * negative, 1e-9 * negative);
  EXPECT_GT(fitted.info.objective(), fitted.info.objective_offset());
  EXPECT_GT(fitted.info.consistency, 0);
}

/// sqrt(sum of squares) of the negative eigenvalues among the samples of classes `first`, `second`.
double negative_part(const Sample& sample, int first, int second) {
  std::vector<Index> members;
  for (Index i = 0; i < sample.S.rows(); ++i) {
    const int own = sample.classes[static_cast<std::size_t>(i)];
    if (own == first || own == second) members.push_back(i);
  }
  return symmetric_eigenvalues(sample.S(members, members)).cwiseMin(0.0).norm();
}

TEST(LearnedPairs, HaveTheOffsetOfEachPair) {
  const Sample sample = make_sample(45, 1, 3, 13);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const auto robust = fit_once(set, RobustSvmSettings{.rho = 0.1, .probability = false});
  const auto full = fit_once(set, FullKernelSettings{.gamma = 0.2, .probability = false});
  ASSERT_EQ(robust.info.subproblems.size(), 3U);
  ASSERT_EQ(full.info.subproblems.size(), 3U);
  const std::array<std::array<int, 2>, 3> pairs = {{{0, 1}, {0, 2}, {1, 2}}};
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const double negative = negative_part(sample, pairs[p][0], pairs[p][1]);
    ASSERT_GT(negative, 0);
    const Subproblem& squared = robust.info.subproblems[p];
    EXPECT_NEAR(squared.objective_offset, 0.1 * negative * negative, 1e-9 * negative * negative);
    EXPECT_GT(squared.info.objective, squared.objective_offset);
    const Subproblem& norm = full.info.subproblems[p];
    EXPECT_NEAR(norm.objective_offset, 0.2 * negative, 1e-9 * negative);
    EXPECT_GT(norm.info.objective, norm.objective_offset);
  }
  EXPECT_TRUE(std::isnan(robust.info.objective_offset()));
}

TEST(RobustSvm, SaysWhereTheExchangeAlgorithmIsMeantForFewerSamples) {
  const Sample large = make_sample(302, 1, 2, 14);
  const Sample small = make_sample(30, 1, 2, 14);
  RobustSvmSettings settings{.iterations = 1, .probability = false};
  const auto notes = [&](const Sample& sample) {
    return fit_once(training_set(sample.S, sample.classes), settings).info.notes;
  };
  EXPECT_TRUE(notes(large).empty());
  settings.solver = RobustSolver::kExchange;
  EXPECT_THAT(notes(large), testing::ElementsAre(testing::HasSubstr("at most 300 samples")));
  EXPECT_TRUE(notes(small).empty());
}

TEST(RobustSvm, TakesARadiusWithNewtonAlone) {
  const Sample sample = make_sample(30, 1, 2, 7);
  const TrainingSet set = training_set(sample.S, sample.classes);
  RobustSvmSettings settings{.radius = 50, .probability = false};
  EXPECT_TRUE(met_tolerance(fit_once(set, settings).info.status()));
  settings.solver = RobustSolver::kExchange;
  EXPECT_THROW((void)fit_once(set, settings), Error);
  settings = {.radius = 1e-6, .probability = false};
  EXPECT_THROW((void)fit_once(set, settings), Error);
}

TEST(RobustSvm, IsNoFurtherFromTheOptimumOfABallThanItSays) {
  // K = S + radius u u' / |u|^2, of whose values radius - 1 decides.
  const TrainingSet set = training_set(Matrix{{1, 2}, {2, 1}}, std::vector<int>{0, 1});
  for (const double cost : {1e3, 1e6}) {
    for (const double radius : {1.001, 1.00001, 1.000001}) {
      const auto fitted =
          fit_once(set, RobustSvmSettings{.cost = cost, .radius = radius, .probability = false});
      const double t = std::min(cost, 1 / (radius - 1));
      const double optimum = 2 * t - (radius - 1) * t * t;
      EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << cost << " " << radius;
      EXPECT_NEAR(fitted.info.objective(), optimum, 2e-8 * optimum) << cost << " " << radius;
    }
  }
}

TEST(RobustSvm, AtTheLeastRadiusIsTheMachineOnTheClippedMatrix) {
  const Matrix S = Matrix::Ones(6, 6) - Matrix::Identity(6, 6);
  const std::vector<int> classes = {0, 1, 0, 1, 0, 1};
  const TrainingSet set = training_set(S, classes);
  const auto robust = fit_once(set, RobustSvmSettings{.radius = std::sqrt(5.0)});
  const auto clipped = fit_once(set, SvmSettings{});
  EXPECT_EQ(robust.info.status(), SolveStatus::kSolved);
  EXPECT_NEAR(robust.info.objective(), clipped.info.objective(), 1e-9);
}

/// Rank one and negative: with a large rho nothing is left for a step to gain.
TEST(RobustSvm, IsSolvedWhereItIsProvedWhateverEndedTheSolver) {
  const Vector x = Vector::LinSpaced(20, 1, 20);
  std::vector<int> classes(20);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<int>(i % 2);
  const TrainingSet set = training_set(-x * x.transpose(), classes);
  for (const double rho : {1e6, 1e8, 1e10, 1e12}) {
    const auto fitted =
        fit_once(set, RobustSvmSettings{.cost = 1e6, .rho = rho, .probability = false});
    EXPECT_LE(fitted.info.gap(), 1e-8) << rho;
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << rho;
  }
}

TEST(FullKernelSvm, IsSolvedOnTwoSamplesWhoseKernelHardlyMoves) {
  const std::vector<int> classes = {0, 1};
  for (const double across : {1.5, 2.0}) {
    const TrainingSet set = training_set(Matrix{{1, across}, {across, 1}}, classes);
    const auto fitted =
        fit_once(set, FullKernelSettings{.eta = 1e-4, .gamma = 1000, .probability = false});
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << across;
    const double own = fitted.info.objective() - fitted.info.objective_offset();
    EXPECT_NEAR(own, std::sqrt(0.8), 1e-7) << across;  // 4 eta sqrt(gamma / (2 eta))
  }
}

TEST(RobustSvm, RefusesARadiusAndARhoAtOnce) {
  const std::vector<std::string> both = {"radius=10", "rho=2"};
  const std::vector<std::string> turned = {"rho=2", "radius=10"};
  const std::vector<std::string> none = {"radius=none", "rho=2"};
  EXPECT_THROW((void)parse_method("robust-svm", both), Error);
  EXPECT_THROW((void)parse_method("robust-svm", turned), Error);
  EXPECT_NO_THROW((void)parse_method("robust-svm", none));
}

TEST(LearnedKernels, RefuseSpectraWhoseBoundsOverflow) {
  Sample sample = make_sample(30, 1, 2, 13);
  sample.S *= 1e160;
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (const spectrum::Centre centre : {spectrum::Centre::kClip, spectrum::Centre::kFlip,
                                        spectrum::Centre::kBoth, spectrum::Centre::kSimilarity}) {
    const SpectrumSvmSettings settings{.gamma = 0.01, .centre = centre, .probability = false};
    EXPECT_THROW((void)fit_once(set, settings), Error) << enum_name(centre);
  }
}

/// Scores of the queries, all numbers multiplied by `scale` and the settings with them.
template <class Settings>
Matrix scaled_scores(const Sample& sample, double scale, const Settings& settings) {
  const auto fitted = fit_once(training_set(scale * sample.S, sample.classes), settings);
  EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << scale;
  return predict_once(fitted.model, query_block(scale * sample.rows, scale * sample.self)).scores;
}

TEST(LearnedKernels, DoNotDependOnTheUnitOfTheSimilarities) {
  const Sample sample = make_sample(30, 8, 2, 14);
  const auto robust = [&](double scale) {
    return scaled_scores(sample, scale,
                         RobustSvmSettings{.cost = 1 / scale, .rho = 1 / (scale * scale * scale)});
  };
  const auto ball = [&](double scale) {
    const double radius = 1.5 * scale * symmetric_eigen(sample.S).lambda.cwiseMin(0.0).norm();
    return scaled_scores(
        sample, scale,
        RobustSvmSettings{.cost = 1 / scale, .radius = radius + scale, .probability = false});
  };
  const auto full = [&](double scale) {
    return scaled_scores(sample, scale,
                         FullKernelSettings{.eta = 0.01 * scale, .gamma = 1 / scale});
  };
  for (const double scale : {1e-60, 1e-12, 1e-6, 1e6, 1e12, 1e60}) {
    EXPECT_LT((robust(scale) - robust(1)).cwiseAbs().maxCoeff(), 1e-6) << scale;
    EXPECT_LT((ball(scale) - ball(1)).cwiseAbs().maxCoeff(), 1e-6) << scale;
    EXPECT_LT((full(scale) - full(1)).cwiseAbs().maxCoeff(), 1e-6) << scale;
  }
}

TEST(LearnedKernels, AreProvedOnLargeAndSmallSimilaritiesAtOrdinarySettings) {
  const Sample sample = make_sample(30, 1, 2, 15);
  for (const double scale : {1e-16, 1e-8, 1e8}) {
    const TrainingSet set = training_set(scale * sample.S, sample.classes);
    const double radius = 1 + 1.2 * symmetric_eigen(sample.S).lambda.cwiseMin(0.0).norm();
    const auto robust = fit_once(set, RobustSvmSettings{.probability = false});
    const auto ball =
        fit_once(set, RobustSvmSettings{.radius = scale * radius, .probability = false});
    const auto full = fit_once(set, FullKernelSettings{.probability = false});
    for (const FitInfo& info : {robust.info, ball.info, full.info}) {
      EXPECT_EQ(info.status(), SolveStatus::kSolved) << scale;
      EXPECT_LE(std::abs(info.gap()), 1e-8) << scale;
    }
  }
}

TEST(LearnedKernels, RefuseSimilaritiesThatLeaveNoRoomForTheirCubes) {
  const Sample sample = make_sample(20, 1, 2, 16);
  for (const double scale : {1e-160, 1e160}) {
    const TrainingSet set = training_set(scale * sample.S, sample.classes);
    for (const RobustSolver solver : {RobustSolver::kNewton, RobustSolver::kProjectedGradient}) {
      EXPECT_THROW((void)fit_once(set, RobustSvmSettings{.solver = solver}), Error);
    }
    EXPECT_THROW((void)fit_once(set, FullKernelSettings{}), Error);
  }
  // Ordinary similarities are not to blame.
  try {
    (void)fit_once(training_set(sample.S, sample.classes), RobustSvmSettings{.rho = 1e300});
    ADD_FAILURE() << "a rho of 1e300 is taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("1e+300"));
    EXPECT_THAT(error.what(), testing::HasSubstr("1e-150 to 1e+150"));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("divide")));
  }
}

TEST(RobustSvm, ACostBeyondReachIsTheMachineWithoutViolations) {
  const Sample sample = make_sample(30, 6, 2, 17);
  const Matrix large = scaled_scores(sample, 1, RobustSvmSettings{.cost = 1e5});
  const Matrix larger = scaled_scores(sample, 1, RobustSvmSettings{.cost = 1e12});
  EXPECT_LT((large - larger).cwiseAbs().maxCoeff(), 1e-5);
}

/// Separable in the space of S_+, so that no coefficient comes near the larger costs, whose product
/// with the rounding of margins is more than the tolerance.
TEST(RobustSvm, IsSolvedWhereCostsAreFarAboveEveryCoefficient) {
  const Matrix S{{-1, -43, 7, 46, 64, -51, -34, -26, 44, 49, 43, 107},
                 {-43, 15, -75, 62, 72, 48, 31, -57, 37, -30, 13, -12},
                 {7, -75, -28, -32, 19, -50, 103, -68, -66, -41, -51, -43},
                 {46, 62, -32, 182, 42, -74, 59, 16, 16, 134, -93, -160},
                 {64, 72, 19, 42, 98, -105, 92, 111, -55, 41, 77, 142},
                 {-51, 48, -50, -74, -105, -88, -36, -52, -109, -69, -24, 24},
                 {-34, 31, 103, 59, 92, -36, -118, 70, 42, -43, 160, 52},
                 {-26, -57, -68, 16, 111, -52, 70, -44, -47, 81, 7, -91},
                 {44, 37, -66, 16, -55, -109, 42, -47, -33, 26, -24, 66},
                 {49, -30, -41, 134, 41, -69, -43, 81, 26, 133, -8, -33},
                 {43, 13, -51, -93, 77, -24, 160, 7, -24, -8, -167, -78},
                 {107, -12, -43, -160, 142, 24, 52, -91, 66, -33, -78, 62}};
  std::vector<int> classes(12);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<int>(i % 2);
  const TrainingSet set = training_set(S, classes);
  double objective = 0;
  for (const double cost : {1.0, 3.0, 10.0, 100.0, 1e3, 1e5}) {
    const auto fitted =
        fit_once(set, RobustSvmSettings{.cost = cost, .rho = 1e3, .probability = false});
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << cost;
    EXPECT_LE(fitted.info.gap(), 1e-8) << cost;
    EXPECT_GE(fitted.info.gap(), 0) << cost;
    EXPECT_LE(fitted.info.iterations(), 45) << cost;
    const double own = fitted.info.objective() - fitted.info.objective_offset();
    if (cost > 1) {
      EXPECT_NEAR(own, objective, 1e-6);  // of 3.6e8
    }
    objective = own;
  }
}

TEST(RobustSvm, SolversAgreeNextToNoSimilarityAtAll) {
  const Sample sample = make_sample(16, 1, 2, 21);
  const TrainingSet set = training_set(1e-30 * sample.S, sample.classes);
  const double optimum = fit_once(set, RobustSvmSettings{.probability = false}).info.objective();
  for (const RobustSolver solver :
       {RobustSolver::kExchange, RobustSolver::kExchangePruned, RobustSolver::kProjectedGradient}) {
    const auto fitted = fit_once(set, RobustSvmSettings{.solver = solver, .probability = false});
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved) << enum_name(solver);
    EXPECT_NEAR(fitted.info.objective(), optimum, 1e-4 * optimum) << enum_name(solver);
  }
}

TEST(RobustSvm, ExchangeProvesNoMoreThanIsTrue) {
  const Sample sample = make_sample(16, 1, 2, 22);
  const TrainingSet set = training_set(-sample.S * sample.S, sample.classes);
  RobustSvmSettings settings{.cost = 100, .probability = false};
  const auto exact = fit_once(set, settings);
  const double optimum = exact.info.objective() - exact.info.objective_offset();
  settings.iterations = 40;
  for (const RobustSolver solver : {RobustSolver::kExchange, RobustSolver::kExchangePruned}) {
    settings.solver = solver;
    const auto fitted = fit_once(set, settings);
    const double value = fitted.info.objective() - fitted.info.objective_offset();
    EXPECT_GE(fitted.info.gap(), 0);
    // The upper bound is value / (1 - gap).
    EXPECT_GE(value, optimum * (1 - fitted.info.gap()) * (1 - 1e-7)) << enum_name(solver);
    const bool near = value >= optimum * (1 - 1.01e-5);
    EXPECT_TRUE(near || fitted.info.status() != SolveStatus::kSolved) << enum_name(solver);
  }
}

TEST(RobustSvm, EndsAtTheIterationsItIsGivenAndSaysSo) {
  const Sample sample = make_sample(30, 1, 2, 11);
  const TrainingSet set = training_set(sample.S, sample.classes);
  RobustSvmSettings settings{.rho = 0.1, .probability = false};
  const double optimum = fit_once(set, settings).info.objective();
  settings.iterations = 3;
  for (const RobustSolver solver :
       {RobustSolver::kNewton, RobustSolver::kExchange, RobustSolver::kExchangePruned,
        RobustSolver::kProjectedGradient}) {
    settings.solver = solver;
    const auto part = fit_once(set, settings);
    EXPECT_EQ(part.info.status(), SolveStatus::kIterationLimit) << enum_name(solver);
    EXPECT_EQ(part.info.iterations(), 3) << enum_name(solver);
    EXPECT_GT(part.info.gap(), 1e-4) << enum_name(solver);
    EXPECT_LT(part.info.objective(), optimum) << enum_name(solver);
  }
}

TEST(RobustSvm, RecordsTheBoundsOfEachIterationOfNewton) {
  const Sample sample = make_sample(30, 1, 2, 8);
  const auto fitted = fit_once(training_set(sample.S, sample.classes),
                               RobustSvmSettings{.cost = 10, .probability = false});
  const Subproblem& one = fitted.info.subproblems.front();
  ASSERT_GT(one.trace.size(), 3U);
  const double rest = one.info.objective - one.objective_offset;
  for (const BoundsStep& step : one.trace) {
    EXPECT_LE(step.lower, one.info.objective + 1e-6 * rest);
    EXPECT_GE(step.upper, one.info.objective - 1e-6 * rest);
  }
  EXPECT_LE(one.trace.back().gap, 1e-8 * rest * 1.01);
  EXPECT_GT(one.trace.front().gap, one.trace.back().gap);
}

TEST(RobustSvm, RecordsTheBoundsOfEachIterationOfExchange) {
  const Sample sample = make_sample(20, 1, 2, 12);
  const TrainingSet set = training_set(sample.S, sample.classes);
  RobustSvmSettings settings{.rho = 0.3, .probability = false};
  const double optimum = fit_once(set, settings).info.objective();
  for (const RobustSolver solver : {RobustSolver::kExchange, RobustSolver::kExchangePruned}) {
    settings.solver = solver;
    const auto fitted = fit_once(set, settings);
    const std::vector<BoundsStep>& trace = fitted.info.subproblems.front().trace;
    ASSERT_EQ(std::ssize(trace), fitted.info.iterations());
    ASSERT_GT(trace.size(), 3U);
    for (std::size_t i = 0; i < trace.size(); ++i) {
      const double rounding = 1e-9 * std::abs(optimum);
      EXPECT_LE(trace[i].lower, optimum + rounding);
      EXPECT_GE(trace[i].upper, optimum - rounding);
      EXPECT_GE(trace[i].set_size, 1);
      if (i == 0) continue;
      EXPECT_GE(trace[i].lower, trace[i - 1].lower);
      EXPECT_LE(trace[i].upper, trace[i - 1].upper);
    }
    EXPECT_LE(trace.back().gap, 1e-5);
  }
}

TEST(RobustSvm, NeedsSelfSimilaritiesUnlessTheDiagonalIsConstant) {
  const Sample varied = make_sample(30, 4, 2, 8);
  const auto fitted = fit_once(training_set(varied.S, varied.classes), RobustSvmSettings{});
  try {
    (void)predict_once(fitted.model, query_block(varied.rows));
    FAIL() << "no self-similarities were needed";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("[[self]]"));
  }
  const Sample unit = make_sample(30, 4, 2, 8, test::Likeness::kGaussian);
  const auto constant = fit_once(training_set(unit.S, unit.classes), RobustSvmSettings{});
  const Prediction without = predict_once(constant.model, query_block(unit.rows));
  EXPECT_EQ(without.scores,
            predict_once(constant.model, query_block(unit.rows, Vector::Ones(4))).scores);
}

TEST(FullKernelSvm, LeavesAPsdMatrixAloneAndIsThenConsistent) {
  const Sample sample = make_sample(40, 15, 2, 9, test::Likeness::kGaussian);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const auto full = fit_once(set, FullKernelSettings{.eta = 0.01, .gamma = 1e3});
  EXPECT_LT(full.info.consistency, 1e-9);
  const auto plain = fit_once(
      set,
      SvmSettings{.cost = 1 / (2 * 0.01 * 40), .spectrum = Spectrum::kNone, .tolerance = 1e-9});
  const QueryBlock queries = query_block(sample.rows, sample.self);
  const Prediction one = predict_once(full.model, queries);
  const Prediction two = predict_once(plain.model, queries);
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_LT((one.scores - two.scores).cwiseAbs().maxCoeff(),
            1e-4 * two.scores.cwiseAbs().maxCoeff());
  const double scaled = 2 * 0.01 * plain.info.objective();  // of the program with eta
  EXPECT_NEAR(full.info.objective(), scaled, 1e-6 * scaled);
}

TEST(FullKernelSvm, ItsObjectiveRisesWithGamma) {
  const Sample sample = make_sample(30, 1, 2, 10);
  const TrainingSet set = training_set(sample.S, sample.classes);
  double last = 0;
  for (const double gamma : {1e-3, 1e-2, 1e-1, 1.0, 10.0}) {
    const auto fitted =
        fit_once(set, FullKernelSettings{.eta = 0.01, .gamma = gamma, .probability = false});
    EXPECT_TRUE(met_tolerance(fitted.info.status()));
    EXPECT_GT(fitted.info.objective(), last);
    last = fitted.info.objective();
  }
}

/// Saves `model` as it is and loads it again.
RobustSvmModel reloaded(const RobustSvmModel& model) {
  TensorFile file;
  ArchiveWriter writer(file, "");
  archive(model, static_cast<SavingArchive&>(writer));
  ArchiveReader reader(file, "m.kith");
  RobustSvmModel back;
  archive(back, static_cast<LoadingArchive&>(reader));
  return back;
}

TEST(LearnedPairs, RefusesAFileWhoseMembersOrArraysDoNotFit) {
  const Sample sample = make_sample(30, 4, 3, 11);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const RobustSvmSettings settings{.probability = false};
  const RobustSvmModel model = fit_once(set, settings).model;
  const QueryBlock queries = query_block(sample.rows, sample.self);
  EXPECT_EQ(predict_once(reloaded(model), queries).scores, predict_once(model, queries).scores);
  const auto expect_refused = [&](auto change, const char* word) {
    RobustSvmModel changed = model;
    change(changed);
    try {
      (void)reloaded(changed);
      ADD_FAILURE() << "loaded although " << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_THAT(error.what(), testing::HasSubstr(word));
    }
  };
  expect_refused([](LearnedPairsModel& m) { m.members[1][0] = 30; }, "member 30");
  expect_refused([](LearnedPairsModel& m) { m.members[1][0] = -1; }, "member -1");
  expect_refused([](LearnedPairsModel& m) { m.members[0].pop_back(); }, "arrays");
  expect_refused([](LearnedPairsModel& m) { m.machines[2][0].rotated.conservativeResize(1); },
                 "arrays");
  expect_refused([](LearnedPairsModel& m) { m.tasks.first[0] = 3; }, "class 3");
}

TEST(RobustSvm, AlongAGridIsProvedAtEveryPoint) {
  const Sample sample = make_sample(40, 10, 2, 12);
  const TrainingSet set = training_set(sample.S, sample.classes);
  std::vector<RobustSvmSettings> path;
  for (double cost = 1e-3; cost < 2e3; cost *= 10) {
    for (double rho = 1e-3; rho < 2e3; rho *= 10) {
      path.push_back({.cost = cost, .rho = rho, .probability = false});
    }
  }
  RunContext ctx;
  SharedWork work(set);
  const auto along = fit_path(work, path, ctx);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const FitInfo& info = along[i].info;
    EXPECT_TRUE(met_tolerance(info.status())) << path[i].cost << " " << path[i].rho;
    EXPECT_LE(info.gap(), 1e-8) << path[i].cost << " " << path[i].rho;
    EXPECT_LE(info.kkt_residual(), 1e-6) << path[i].cost << " " << path[i].rho;
    const auto alone = fit_once(set, path[i]);
    EXPECT_NEAR(info.objective(), alone.info.objective(),
                2e-8 * (alone.info.objective() - alone.info.objective_offset()));
  }
}

}  // namespace
}  // namespace kith::learned_kernel_test
