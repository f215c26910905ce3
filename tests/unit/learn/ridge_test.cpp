// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/ridge/ridge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"
#include "kith/data/folds.hpp"
#include "kith/learn/ridge/least_squares.hpp"
#include "support/files.hpp"
#include "support/fitting.hpp"

namespace kith::ridge_test {
namespace {

using test::decide;
using test::fit_once;
using test::Likeness;
using test::make_sample;
using test::predict_once;
using test::query_block;
using test::Sample;
using test::training_set;

const std::vector<Spectrum> kAll = {Spectrum::kNone,  Spectrum::kClip,   Spectrum::kFlip,
                                    Spectrum::kShift, Spectrum::kSquare, Spectrum::kDiffusion};

/// +1 for the samples of class c, -1 for the others, one column per class.
Matrix targets_of(std::span<const int> classes, int count) {
  Matrix Y = Matrix::Constant(std::ssize(classes), count, -1);
  for (std::size_t i = 0; i < classes.size(); ++i) Y(static_cast<Index>(i), classes[i]) = 1;
  return Y;
}

Conditioned kernel_of(const Matrix& S, Spectrum spectrum) {
  return condition_kernel(spectrum, DenseBlock(RowMatrix(S)), RunContext{});
}

double unit_of(const Matrix& K) { return ridge_unit(symmetric_eigenvalues(K)); }

/// a over b, from the two equations as one linear system.
Matrix solve_directly(const Matrix& K, double r, const Matrix& Y) {
  const Index n = K.rows();
  Matrix system = Matrix::Ones(n + 1, n + 1);
  system.topLeftCorner(n, n) = K;
  system.diagonal().head(n).array() += r;
  system(n, n) = 0;
  Matrix right = Matrix::Zero(n + 1, Y.cols());
  right.topRows(n) = Y;
  return system.fullPivLu().solve(right);
}

/// The values of rows that are new to the samples of S.
Matrix values_directly(const Matrix& S, const Matrix& rows, Spectrum spectrum, double r,
                       const Matrix& Y) {
  const Conditioned kernel = kernel_of(S, spectrum);
  const Matrix solution = solve_directly(kernel.kernel, r, Y);
  const Matrix treated = transform_rows(kernel.transform, RowMatrix(rows));
  const Matrix sums = treated * solution.topRows(S.rows());
  return sums.rowwise() + solution.row(S.rows());
}

/// The mean squared error on samples left out, all steps done anew.
double error_directly(const Sample& sample, const Matrix& Y, Spectrum spectrum, double r,
                      std::span<const int> fold_of, int folds) {
  double sum = 0;
  for (int fold = 0; fold < folds; ++fold) {
    const auto [inside, outside] = split_fold(fold_of, fold);
    const Matrix values = values_directly(sample.S(outside, outside), sample.S(inside, outside),
                                          spectrum, r, Y(outside, Eigen::all));
    sum += (values - Y(inside, Eigen::all)).squaredNorm();
  }
  return sum / static_cast<double>(Y.size());
}

std::vector<double> learned_errors(const FitInfo& info) {
  return info.learned.at("squared_errors").get<std::vector<double>>();
}

// --- the definition -----------------------------------------------------------------------------

TEST(Ridge, IsTheDirectSolutionForEverySpectrum) {
  const Sample sample = make_sample(40, 15, 3, 5);
  const Matrix Y = targets_of(sample.classes, 3);
  for (const Spectrum spectrum : kAll) {
    for (const double ridge : {0.3, 20.0}) {
      const Fitted<RidgeModel> fitted = fit_once<RidgeSettings>(
          training_set(sample.S, sample.classes), {.ridge = ridge, .spectrum = spectrum});
      const double r = ridge * unit_of(kernel_of(sample.S, spectrum).kernel);
      const Matrix expected = values_directly(sample.S, sample.rows, spectrum, r, Y);
      const Matrix found = decide(fitted.model, sample.rows);
      EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-8 * expected.cwiseAbs().maxCoeff())
          << enum_name(spectrum) << ' ' << ridge;
      EXPECT_EQ(fitted.model.ridge, ridge);
    }
  }
}

TEST(Ridge, HasOneMachineForTwoClasses) {
  const Sample sample = make_sample(30, 9, 2, 6);
  const Fitted<RidgeModel> fitted =
      fit_once<RidgeSettings>(training_set(sample.S, sample.classes), {.ridge = 1});
  ASSERT_EQ(fitted.model.tasks.size(), 1);
  const double r = unit_of(kernel_of(sample.S, Spectrum::kClip).kernel);
  const Matrix expected = values_directly(sample.S, sample.rows, Spectrum::kClip, r,
                                          targets_of(sample.classes, 2).leftCols(1));
  EXPECT_LT((decide(fitted.model, sample.rows) - expected).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Ridge, HasTheObjectiveOfItsProblem) {
  const Sample sample = make_sample(30, 0, 3, 7);
  const Matrix K = kernel_of(sample.S, Spectrum::kFlip).kernel;
  const Matrix Y = targets_of(sample.classes, 3);
  const double r = 0.5 * unit_of(K);
  const Matrix direct = solve_directly(K, r, Y);
  const Matrix a = direct.topRows(30);
  const FitInfo info = fit_once<RidgeSettings>(training_set(sample.S, sample.classes),
                                               {.ridge = 0.5, .spectrum = Spectrum::kFlip})
                           .info;
  for (Index c = 0; c < 3; ++c) {
    const Vector f = (K * a.col(c)).array() + direct(30, c);
    const double expected = (Y.col(c) - f).squaredNorm() + r * a.col(c).dot(K * a.col(c));
    EXPECT_NEAR(info.subproblems[static_cast<std::size_t>(c)].info.objective, expected,
                1e-9 * expected);
  }
  EXPECT_EQ(info.subproblems.front().name, "c0 | rest");
}

TEST(Ridge, TakesTheMeanOfBothDirections) {
  Sample sample = make_sample(24, 8, 3, 8);
  const Matrix symmetric = sample.S;
  Rng rng(3);
  for (Index j = 0; j < 24; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double off = 0.3 * rng.normal();
      sample.S(i, j) += off;
      sample.S(j, i) -= off;
    }
  }
  for (const Spectrum spectrum : kAll) {
    const RidgeSettings settings{.ridge = 1, .spectrum = spectrum};
    const Matrix one =
        decide(fit_once(training_set(sample.S, sample.classes), settings).model, sample.rows);
    const Matrix two =
        decide(fit_once(training_set(symmetric, sample.classes), settings).model, sample.rows);
    EXPECT_LT((one - two).cwiseAbs().maxCoeff(), 1e-9) << enum_name(spectrum);
  }
}

// --- the choice of the ridge --------------------------------------------------------------------

TEST(RidgeChoice, LeavesOneOutExactlyWhereTheKernelOfTheOthersStays) {
  const Sample definite = make_sample(25, 0, 3, 9, Likeness::kGaussian, 2);
  const Sample indefinite = make_sample(25, 0, 3, 10);
  std::vector<int> each(25);
  for (int i = 0; i < 25; ++i) each[static_cast<std::size_t>(i)] = i;
  const auto expect_exact = [&](const Sample& sample, Spectrum spectrum) {
    const FitInfo info = fit_once<RidgeSettings>(training_set(sample.S, sample.classes),
                                                 {.spectrum = spectrum, .probability = false})
                             .info;
    EXPECT_EQ(info.learned.at("left_out"), "one at a time");
    const double unit = unit_of(kernel_of(sample.S, spectrum).kernel);
    const Matrix Y = targets_of(sample.classes, 3);
    const std::vector<double> tried = ridge_values();
    const std::vector<double> errors = learned_errors(info);
    ASSERT_EQ(errors.size(), tried.size());
    for (std::size_t k = 0; k < tried.size(); ++k) {
      const double expected = error_directly(sample, Y, spectrum, tried[k] * unit, each, 25);
      EXPECT_NEAR(errors[k], expected, 1e-6 * expected) << enum_name(spectrum) << ' ' << tried[k];
    }
  };
  for (const Spectrum spectrum :
       {Spectrum::kNone, Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift}) {
    expect_exact(definite, spectrum);
  }
  expect_exact(indefinite, Spectrum::kNone);
}

/// The samples 2i and 2i + 1 stand together.
TrainingSet in_pairs(const Sample& sample) {
  TrainingSet set = training_set(sample.S, sample.classes);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sample.classes.size(); ++i) names.push_back(std::to_string(i / 2));
  set.labels.groups = make_groups(names);
  return set;
}

TEST(RidgeChoice, LeavesWholeGroupsOutWhateverTheRule) {
  const Sample definite = make_sample(44, 0, 3, 12, Likeness::kGaussian, 2);
  const Sample indefinite = make_sample(44, 0, 3, 13);
  const RunContext ctx;
  const Matrix Y = targets_of(definite.classes, 3);
  for (const auto& [sample, spectrum] : {std::pair(definite, Spectrum::kNone),
                                         {definite, Spectrum::kClip},
                                         {indefinite, Spectrum::kNone},
                                         {indefinite, Spectrum::kFlip},
                                         {definite, Spectrum::kSquare}}) {
    const TrainingSet set = in_pairs(sample);
    Rng rng = ctx.rng.stream("ridge folds", 0);
    const std::vector<int> fold_of =
        stratified_folds(set.labels.ids, set.labels.groups.ids, 5, rng);
    for (std::size_t i = 0; i < fold_of.size(); i += 2) ASSERT_EQ(fold_of[i], fold_of[i + 1]);
    const FitInfo info = fit_once<RidgeSettings>(set, {.spectrum = spectrum}).info;
    EXPECT_EQ(info.learned.at("left_out"), "in 5 folds of whole groups");
    const double unit = unit_of(kernel_of(sample.S, spectrum).kernel);
    const std::vector<double> errors = learned_errors(info);
    for (std::size_t k = 0; k < errors.size(); ++k) {
      const double expected =
          error_directly(sample, Y, spectrum, ridge_values()[k] * unit, fold_of, 5);
      EXPECT_NEAR(errors[k], expected, 1e-6 * expected) << enum_name(spectrum) << ' ' << k;
    }
  }
}

TEST(RidgeChoice, GroupsOfSingleSamplesChangeNothing) {
  const Sample sample = make_sample(30, 0, 3, 14);
  TrainingSet set = training_set(sample.S, sample.classes);
  const Json alone = fit_once<RidgeSettings>(set, {}).info.learned;
  std::vector<std::string> names;
  names.reserve(30);
  for (int i = 0; i < 30; ++i) names.push_back(std::to_string(100 - i));
  set.labels.groups = make_groups(names);
  EXPECT_EQ(fit_once<RidgeSettings>(set, {}).info.learned, alone);
}

TEST(RidgeChoice, IsByFoldsThatDecomposeTheirOwnBlockWhereItDoesNot) {
  const Sample sample = make_sample(43, 0, 3, 11);
  const Sample definite = make_sample(43, 0, 3, 9, Likeness::kGaussian, 2);
  const RunContext ctx;
  Rng rng = ctx.rng.stream("ridge folds", 0);
  const std::vector<int> fold_of = stratified_folds(sample.classes, {}, 5, rng);
  const Matrix Y = targets_of(sample.classes, 3);
  const auto expect_folds = [&](const Sample& own, Spectrum spectrum) {
    const Fitted<RidgeModel> fitted =
        fit_once<RidgeSettings>(training_set(own.S, own.classes), {.spectrum = spectrum});
    EXPECT_EQ(fitted.info.learned.at("left_out"), "in 5 folds");
    const double unit = unit_of(kernel_of(own.S, spectrum).kernel);
    const std::vector<double> tried = ridge_values();
    const std::vector<double> errors = learned_errors(fitted.info);
    std::size_t best = 0;
    for (std::size_t k = 0; k < tried.size(); ++k) {
      const double expected = error_directly(own, Y, spectrum, tried[k] * unit, fold_of, 5);
      EXPECT_NEAR(errors[k], expected, 1e-6 * expected) << enum_name(spectrum) << ' ' << tried[k];
      if (errors[k] < errors[best]) best = k;
    }
    EXPECT_EQ(fitted.model.ridge, tried[best]);
    EXPECT_EQ(fitted.info.learned.at("ridge").get<double>(), tried[best]);
  };
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift}) {
    expect_folds(sample, spectrum);
  }
  for (const Spectrum spectrum : {Spectrum::kSquare, Spectrum::kDiffusion}) {
    expect_folds(sample, spectrum);
    expect_folds(definite, spectrum);
  }
}

/// Why folds are needed: with the kernel held fixed, samples that are left out have had their part
/// in what was done to its spectrum.
TEST(RidgeChoice, OfAFixedKernelWouldBeWrongForATreatedIndefiniteMatrix) {
  const Sample sample = make_sample(25, 0, 3, 10);
  const SymmetricEigen eigen = symmetric_eigen(sample.S);
  const RuledSpectrum rule = ruled_spectrum(Spectrum::kFlip, eigen.lambda);
  const Matrix Y = targets_of(sample.classes, 3);
  const double r = 1e-3 * ridge_unit(rule.kernel);
  const Matrix values =
      leave_one_out(eigen.U, solve_ridge(rule.kernel, r, rotated_targets(eigen.U, Y)), Y);
  std::vector<int> each(25);
  for (int i = 0; i < 25; ++i) each[static_cast<std::size_t>(i)] = i;
  const double fixed = (values - Y).cwiseAbs2().mean();
  const double anew = error_directly(sample, Y, Spectrum::kFlip, r, each, 25);
  EXPECT_GT(std::abs(fixed - anew), 0.05 * anew);
}

TEST(RidgeChoice, SaysWhatItIs) {
  const Sample sample = make_sample(40, 0, 2, 12);
  const TrainingSet set = training_set(sample.S, sample.classes);
  EXPECT_THAT(fit_once<RidgeSettings>(set, {}).info.notes,
              testing::ElementsAre(testing::HasSubstr("left out in 5 folds")));
  EXPECT_TRUE(fit_once<RidgeSettings>(set, {.ridge = 1}).info.notes.empty());
  // Two samples that are twins of each other apart from noise: the less ridge the better.
  Matrix S = Matrix::Identity(20, 20);
  std::vector<int> classes;
  for (Index i = 0; i < 20; ++i) classes.push_back(static_cast<int>(i / 2) % 2);
  for (Index i = 0; i < 20; i += 2) S(i, i + 1) = S(i + 1, i) = 1 - 1e-9;
  EXPECT_THAT(fit_once<RidgeSettings>(training_set(S, classes), {}).info.notes,
              testing::ElementsAre(testing::HasSubstr("smaller one may do better")));
}

// --- the certificate ----------------------------------------------------------------------------

TEST(RidgeCertificate, HoldsAndFailsForASpoiledSolution) {
  const Sample sample = make_sample(50, 0, 3, 13);
  const Matrix Y = targets_of(sample.classes, 3);
  for (const Spectrum spectrum : kAll) {
    const Matrix K = kernel_of(sample.S, spectrum).kernel;
    const double r = 0.1 * unit_of(K);
    const Matrix direct = solve_directly(K, r, Y);
    const Matrix a = direct.topRows(50);
    const Vector b = direct.row(50).transpose();
    EXPECT_LT(ridge_residuals(K * a, a, b, r, Y).maxCoeff(), 1e-9) << enum_name(spectrum);
    const Matrix longer = (1 + 1e-4) * a;
    EXPECT_GT(ridge_residuals(K * longer, longer, b, r, Y).minCoeff(), 1e-6);
    Matrix moved = a;
    moved.row(7).array() += 1e-4 * a.cwiseAbs().maxCoeff();
    EXPECT_GT(ridge_residuals(K * moved, moved, b, r, Y).minCoeff(), 1e-6);
    const Vector higher = b.array() + 1e-4;
    EXPECT_GT(ridge_residuals(K * a, a, higher, r, Y).minCoeff(), 1e-6);
    const FitInfo info = fit_once<RidgeSettings>(training_set(sample.S, sample.classes),
                                                 {.ridge = 0.1, .spectrum = spectrum})
                             .info;
    EXPECT_LT(info.kkt_residual(), 1e-9) << enum_name(spectrum);
    EXPECT_EQ(info.status(),
              spectrum == Spectrum::kNone ? SolveStatus::kStationary : SolveStatus::kSolved);
  }
}

TEST(RidgeCertificate, TellsWhereRoundingLeavesNoSolution) {
  // Two equal rows: without a ridge to speak of their coefficients are not determined.
  Matrix S = Matrix::Identity(8, 8);
  S(0, 1) = S(1, 0) = 1;
  const std::vector<int> classes = {0, 1, 0, 1, 0, 1, 0, 1};
  const FitInfo info =
      fit_once<RidgeSettings>(training_set(S, classes), {.ridge = 1e-30, .probability = false})
          .info;
  EXPECT_EQ(info.status(), SolveStatus::kReducedAccuracy);
}

TEST(RidgeConsistency, IsThatOfTheRule) {
  const Sample sample = make_sample(50, 0, 3, 14);
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (const Spectrum spectrum : kAll) {
    const double found =
        fit_once<RidgeSettings>(set, {.ridge = 1, .spectrum = spectrum}).info.consistency;
    const double expected =
        consistency(kernel_of(sample.S, spectrum), DenseBlock(RowMatrix(sample.S)));
    EXPECT_NEAR(found, expected, 1e-9) << enum_name(spectrum);
  }
}

// --- laws ---------------------------------------------------------------------------------------

TEST(RidgeLaws, TheUnitOfSimilaritiesDoesNotMatter) {
  const Sample sample = make_sample(45, 12, 3, 15);
  for (const Spectrum spectrum : kAll) {
    const RidgeSettings settings{.spectrum = spectrum};
    const Fitted<RidgeModel> one = fit_once(training_set(sample.S, sample.classes), settings);
    const Fitted<RidgeModel> two = fit_once(training_set(1e6 * sample.S, sample.classes), settings);
    EXPECT_EQ(one.model.ridge, two.model.ridge) << enum_name(spectrum);
    const Prediction small = predict_once(one.model, sample.rows);
    const Prediction large = predict_once(two.model, Matrix(1e6 * sample.rows));
    EXPECT_TRUE(small.scores.isApprox(large.scores, 1e-7)) << enum_name(spectrum);
    EXPECT_TRUE(small.probabilities.isApprox(large.probabilities, 1e-6)) << enum_name(spectrum);
  }
}

TEST(RidgeLaws, APositiveDefiniteMatrixNeedsNoSpectrumRule) {
  const Sample sample = make_sample(45, 12, 3, 16, Likeness::kGaussian, 2);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const Matrix none =
      decide(fit_once<RidgeSettings>(set, {.spectrum = Spectrum::kNone}).model, sample.rows);
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift}) {
    const Matrix found =
        decide(fit_once<RidgeSettings>(set, {.spectrum = spectrum}).model, sample.rows);
    EXPECT_TRUE(found.isApprox(none, 1e-9)) << enum_name(spectrum);
  }
}

TEST(RidgeLaws, TheEndsAreInterpolationAndTheMean) {
  const Sample sample = make_sample(30, 6, 3, 17, Likeness::kGaussian, 2);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const Matrix Y = targets_of(sample.classes, 3);
  const Matrix fits = decide(fit_once<RidgeSettings>(set, {.ridge = 1e-9}).model, sample.S);
  EXPECT_LT((fits - Y).cwiseAbs().maxCoeff(), 1e-4);
  const Matrix means = decide(fit_once<RidgeSettings>(set, {.ridge = 1e9}).model, sample.rows);
  for (Index i = 0; i < means.rows(); ++i) {
    EXPECT_LT((means.row(i) - Y.colwise().mean()).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(RidgeLaws, ValuesOfTheClassesHaveAConstantSum) {
  const Sample sample = make_sample(40, 10, 4, 18);
  const Matrix values = decide(
      fit_once<RidgeSettings>(training_set(sample.S, sample.classes), {}).model, sample.rows);
  EXPECT_LT((values.rowwise().sum().array() + 2).abs().maxCoeff(), 1e-8);  // 1 - 3
}

TEST(RidgeLaws, APathGivesWhatEachSettingGivesAlone) {
  const Sample sample = make_sample(40, 10, 3, 19);
  const TrainingSet set = training_set(sample.S, sample.classes);
  std::vector<RidgeSettings> path;
  for (const Spectrum spectrum : kAll) {
    path.push_back({.spectrum = spectrum});
    for (const double ridge : {0.1, 10.0}) path.push_back({.ridge = ridge, .spectrum = spectrum});
    path.push_back({.ridge = 1, .spectrum = spectrum, .probability = false});
  }
  path.push_back({.ridge = 1, .spectrum = Spectrum::kDiffusion, .beta = 0.01});
  SharedWork work(set);
  RunContext ctx;
  const std::vector<Fitted<RidgeModel>> along =
      fit_path(work, std::span<const RidgeSettings>(path), ctx);
  ASSERT_EQ(along.size(), path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Prediction one = predict_once(along[i].model, sample.rows);
    const Prediction two = predict_once(fit_once(set, path[i]).model, sample.rows);
    EXPECT_EQ(one.scores, two.scores) << i;
    EXPECT_EQ(one.probabilities, two.probabilities) << i;
    EXPECT_EQ(one.probabilities.size() > 0, path[i].probability);
  }
}

// --- what it bears and what it refuses
// ------------------------------------------------------------

TEST(Ridge, BearsAsManyClassesAsPairsOfSamples) {
  const Sample sample = make_sample(60, 60, 30, 20, Likeness::kGaussian, 0.1);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const Fitted<RidgeModel> fitted = fit_once<RidgeSettings>(set, {});
  const std::vector<int> labels = predict_once(fitted.model, sample.rows).labels;
  int wrong = 0;
  for (std::size_t q = 0; q < labels.size(); ++q) wrong += labels[q] != set.labels.ids[q];
  EXPECT_LE(wrong, 2);
  EXPECT_EQ(fitted.info.subproblems.size(), 30U);
}

TEST(Ridge, RefusesWeightsAndBadSettings) {
  const Sample sample = make_sample(12, 0, 2, 21);
  TrainingSet set = training_set(sample.S, sample.classes);
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { (void)fit_once<RidgeSettings>(set, {.ridge = 0.0}); }),
              testing::HasSubstr("ridge"));
  set.weights = Vector::Ones(12);
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument, [&] { (void)fit_once<RidgeSettings>(set, {}); }),
      testing::HasSubstr("weights"));
}

}  // namespace
}  // namespace kith::ridge_test
