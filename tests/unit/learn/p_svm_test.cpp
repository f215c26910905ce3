// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/p_svm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/optim/linear/boxed_lasso.hpp"
#include "support/fitting.hpp"

namespace kith::p_svm_test {
namespace {

using test::fit_once;
using test::make_sample;
using test::predict_once;
using test::Sample;
using test::training_set;

/// A sample whose similarities are not symmetric.
Sample asymmetric_sample(int classes, std::uint64_t seed = 5) {
  Sample sample = make_sample(36, 15, classes, seed);
  Rng rng(seed);
  for (double& v : sample.S.reshaped()) v += 0.3 * rng.normal();
  return sample;
}

/// Coefficients of pair p for all training columns.
Vector all_coefficients(const PSvmModel& model, Index p) {
  Vector a = Vector::Zero(model.samples);
  a(model.columns) = model.coefficients.column(p);
  return a;
}

struct PairRows {
  Matrix S;
  Vector y;
};

PairRows pair_rows(const Sample& sample, int first, int second) {
  std::vector<Index> rows;
  std::vector<double> y;
  for (std::size_t i = 0; i < sample.classes.size(); ++i) {
    if (sample.classes[i] != first && sample.classes[i] != second) continue;
    rows.push_back(static_cast<Index>(i));
    y.push_back(sample.classes[i] == first ? 1 : -1);
  }
  return {sample.S(rows, Eigen::all),
          Eigen::Map<const Vector>(y.data(), static_cast<Index>(y.size()))};
}

TEST(PSvm, EveryPairSolvesThePrintedProblemOnItsRowsAndAllColumns) {
  const Sample sample = asymmetric_sample(3);
  const TrainingSet set = training_set(sample.S, sample.classes);
  for (const double epsilon : {1e-4, 0.1, 3.0}) {
    for (const double cost : {0.05, 1e4}) {
      const auto fitted =
          fit_once<PSvmSettings>(set, {.epsilon = epsilon, .cost = cost, .probability = false});
      ASSERT_EQ(fitted.info.subproblems.size(), 3u);
      Index p = 0;
      for (const auto& [first, second] : {std::pair{0, 1}, {0, 2}, {1, 2}}) {
        const PairRows pair = pair_rows(sample, first, second);
        const Vector a = all_coefficients(fitted.model, p);
        const linear::LassoTerms terms{.epsilon = epsilon, .bound = cost};
        EXPECT_TRUE(linear::certify(pair.S, pair.y, terms, a).within(1e-8));
        const SolveInfo& info = fitted.info.subproblems[static_cast<std::size_t>(p)].info;
        const double printed = 0.5 * (pair.y - pair.S * a).squaredNorm() + epsilon * a.lpNorm<1>();
        EXPECT_NEAR(info.objective, printed, 1e-12 * printed);
        EXPECT_EQ(fitted.model.intercepts(p), 0);
        ++p;
      }
      EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
      EXPECT_LE(fitted.info.kkt_residual(), 1e-8);
      EXPECT_LE(fitted.info.gap(), 1e-8);
    }
  }
}

TEST(PSvm, DecidesByTheSumOfItsSimilaritiesTimesCoefficients) {
  const Sample sample = asymmetric_sample(2);
  const auto fitted =
      fit_once<PSvmSettings>(training_set(sample.S, sample.classes), {.epsilon = 1});
  const Vector expected = sample.rows * all_coefficients(fitted.model, 0);
  const Prediction found = predict_once(fitted.model, sample.rows);
  EXPECT_LT((found.scores.col(0) - expected).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((found.scores.col(1) + expected).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(PSvm, InterceptMinimisesOverTheConstantAsWell) {
  Sample sample = asymmetric_sample(2);
  for (std::size_t i = 0; i < 12; ++i) sample.classes[i] = 0;  // uneven classes
  const TrainingSet set = training_set(sample.S, sample.classes);
  const PairRows pair = pair_rows(sample, 0, 1);
  const double epsilon = 0.5;
  const auto with =
      fit_once<PSvmSettings>(set, {.epsilon = epsilon, .intercept = true, .probability = false});
  const auto without = fit_once<PSvmSettings>(set, {.epsilon = epsilon, .probability = false});
  const Vector a = all_coefficients(with.model, 0);
  const double b = with.model.intercepts(0);
  EXPECT_NE(b, 0);
  EXPECT_LT(with.info.objective(), without.info.objective());
  EXPECT_LE(with.info.kkt_residual(), 1e-8);
  const auto printed = [&](const Vector& c, double constant) {
    const Vector r = (pair.y - pair.S * c).array() - constant;
    return 0.5 * r.squaredNorm() + epsilon * c.lpNorm<1>();
  };
  const double least = printed(a, b);
  EXPECT_NEAR(with.info.objective(), least, 1e-10);
  Rng rng(4);
  for (int trial = 0; trial < 200; ++trial) {
    Vector other = a;
    const double size = std::pow(10.0, -5 * rng.uniform());
    for (double& v : other) v += size * rng.normal() * (rng.uniform() < 0.3 ? 1 : 0);
    EXPECT_GE(printed(other, b + size * rng.normal()), least * (1 - 1e-8));
  }
}

TEST(PSvm, FitsAlongTheWholeGridAsOneByOne) {
  const Sample sample = asymmetric_sample(3);
  const TrainingSet set = training_set(sample.S, sample.classes);
  std::vector<PSvmSettings> path;
  for (const bool intercept : {false, true}) {
    for (const double cost : {100.0, 0.01, 1.0}) {
      for (const double epsilon : {1e-3, 3.0, 0.1}) {
        path.push_back({.epsilon = epsilon, .cost = cost, .intercept = intercept});
      }
    }
  }
  path.push_back({.prototypes = 9, .probability = false});
  SharedWork work(set);
  RunContext ctx;
  const auto along = fit_path(work, path, ctx);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto alone = fit_once(set, path[i]);
    EXPECT_EQ(along[i].info.status(), SolveStatus::kSolved);
    const Prediction one = predict_once(along[i].model, sample.rows);
    const Prediction two = predict_once(alone.model, sample.rows);
    EXPECT_EQ(one.labels, two.labels);
    EXPECT_LT((one.scores - two.scores).cwiseAbs().maxCoeff(), 1e-5);
    for (std::size_t p = 0; p < 3; ++p) {
      const double objective = alone.info.subproblems[p].info.objective;
      EXPECT_NEAR(along[i].info.subproblems[p].info.objective, objective, 2e-8 * objective);
    }
  }
}

TEST(PSvm, NeedsOnlyTheColumnsItHasCoefficientsFor) {
  const Sample sample = asymmetric_sample(2);
  const TrainingSet set = training_set(sample.S, sample.classes);
  const PSvmModel sparse = fit_once<PSvmSettings>(set, {.epsilon = 5}).model;
  ASSERT_LT(sparse.columns.size(), 12u);
  EXPECT_TRUE((sparse.coefficients.dense().array() != 0).all());
  EXPECT_EQ(predict_once(sparse, sample.rows).scores,
            predict_once(sparse, sample.rows(Eigen::all, sparse.columns)).scores);
  RunContext ctx;
  EXPECT_THROW(
      (void)predict(sparse, test::query_block(sample.rows.leftCols(sample.rows.cols() - 1)), ctx),
      Error);
  const PSvmModel few = fit_once<PSvmSettings>(set, {.epsilon = 1e-3, .prototypes = 7}).model;
  EXPECT_LE(few.columns.size(), 7u);
}

TEST(PSvm, SaysThatAnEpsilonIsTooLargeToUseAnything) {
  const Sample sample = asymmetric_sample(2);
  const auto fitted =
      fit_once<PSvmSettings>(training_set(sample.S, sample.classes), {.epsilon = 1e6});
  EXPECT_EQ(fitted.model.columns.size(), 1u);
  EXPECT_TRUE(fitted.model.coefficients.dense().isZero(0));
  EXPECT_NEAR(fitted.info.objective(), 18, 1e-12);  // 1/2 |y|^2
  ASSERT_EQ(fitted.info.notes.size(), 1u);
  EXPECT_THAT(fitted.info.notes[0], testing::HasSubstr("epsilon"));
}

TEST(PSvm, ScaledSimilaritiesWithScaledSettingsDecideTheSame) {
  const Sample sample = asymmetric_sample(3);
  const auto plain =
      fit_once<PSvmSettings>(training_set(sample.S, sample.classes), {.epsilon = 0.2, .cost = 1});
  const double scale = 1e9;
  const auto scaled = fit_once<PSvmSettings>(training_set(scale * sample.S, sample.classes),
                                             {.epsilon = 0.2 * scale, .cost = 1 / scale});
  const Prediction one = predict_once(plain.model, sample.rows);
  const Prediction two = predict_once(scaled.model, scale * sample.rows);
  EXPECT_EQ(one.labels, two.labels);
  EXPECT_LT((one.scores - two.scores).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(PSvm, WeightsCountAsRepeatedSamples) {
  const Sample sample = asymmetric_sample(2);
  const Index n = sample.S.rows();
  // The column of the repeated sample is all 0 in both sets, so that it says nothing twice.
  Matrix narrow = sample.S;
  narrow.col(0).setZero();
  Matrix wide = Matrix::Zero(n + 1, n + 1);
  wide.topLeftCorner(n, n) = narrow;
  wide.row(n) = wide.row(0);
  TrainingSet weighted = training_set(narrow, sample.classes);
  weighted.weights = Vector::Ones(n);
  weighted.weights(0) = 2;
  std::vector<int> classes = sample.classes;
  classes.push_back(classes[0]);
  for (const bool intercept : {false, true}) {
    const PSvmSettings settings{
        .epsilon = 0.3, .cost = 0.5, .intercept = intercept, .probability = false};
    const auto one = fit_once(weighted, settings);
    const auto two = fit_once(training_set(wide, classes), settings);
    EXPECT_NEAR(one.info.objective(), two.info.objective(), 1e-7);
    EXPECT_LT((all_coefficients(one.model, 0) - all_coefficients(two.model, 0).head(n))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-6);
    EXPECT_NEAR(one.model.intercepts(0), two.model.intercepts(0), 1e-6);
  }
}

TEST(PSvm, BearsHugeAndRepeatedSimilarities) {
  Sample sample = asymmetric_sample(3);
  sample.S.row(3) = sample.S.row(0);
  sample.S.row(4) = sample.S.row(0);
  sample.S.col(7) = sample.S.col(8);
  for (const double scale : {1e-200, 1.0, 1e150}) {
    const auto fitted =
        fit_once<PSvmSettings>(training_set(scale * sample.S, sample.classes), {.epsilon = 0.01});
    EXPECT_TRUE(fitted.model.coefficients.values.allFinite());
    EXPECT_TRUE(fitted.model.sigmoids.allFinite());
  }
}

}  // namespace
}  // namespace kith::p_svm_test
