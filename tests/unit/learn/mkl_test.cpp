// SPDX-License-Identifier: Apache-2.0
// `mkl` and `average-svm`: the printed problems, their laws, and what they refuse.
#include "kith/learn/kernel_learning/mkl.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/learn/kernel_learning/average_svm.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "support/files.hpp"
#include "support/fitting.hpp"
#include "support/training_sets.hpp"
#include "support/views.hpp"

namespace kith::mkl_test {
namespace {

using test::fit_views;
using test::make_views;
using test::Views;

Matrix decisions(const Views& views, const MklSettings& settings) {
  const KernelSumModel sum = fit_views(views, settings).model;
  return decision_values(sum, over_columns(views.queries(), sum.columns), {});
}

Matrix clipped(const Matrix& S) {
  const SymmetricEigen eigen = symmetric_eigen(0.5 * (S + S.transpose()));
  return eigen.U * eigen.lambda.cwiseMax(0).asDiagonal() * eigen.U.transpose();
}

/// Dual and primal of the printed problems, from the matrices and the model's coefficients alone.
struct Proof {
  double lower = 0;
  double upper = 0;
  [[nodiscard]] double gap() const { return (upper - lower) / std::abs(upper); }
};

/// kind simple for two classes and full-rank kernels, where c_i = beta_i Y a; `spoil` is added to
/// every coefficient, relative to the largest.
Proof prove_simple(const Views& views, const KernelSumModel& model, double cost, double tau,
                   double spoil) {
  const Index n = std::ssize(views.classes);
  Vector y(n);
  for (Index j = 0; j < n; ++j) y[j] = views.classes[static_cast<std::size_t>(j)] == 0 ? 1 : -1;
  const auto m = std::ssize(views.matrices);
  Vector u = Vector::Zero(n);
  for (Index i = 0; i < m; ++i) {
    const auto s = static_cast<std::size_t>(i);
    if (model.weights(i, 0) == 0) continue;
    u(model.columns) = model.coefficients[s].column(0) / model.weights(i, 0);
  }
  Vector alpha = y.cwiseProduct(u);
  const double largest = alpha.maxCoeff();
  for (Index j = 0; j < n; ++j) alpha[j] += (j % 3 == 0 ? spoil : -spoil) * largest;
  u = y.cwiseProduct(alpha);
  double worst = 0;  // max_i q_i / trace(K_i): the combination that is hardest for this a
  Vector f = Vector::Constant(n, model.intercepts[0]);
  double squares = 0;
  for (Index i = 0; i < m; ++i) {
    const auto s = static_cast<std::size_t>(i);
    const Matrix K = clipped(views.matrices[s]);
    const Vector Ku = K * u;
    worst = std::max(worst, u.dot(Ku) / K.trace());
    squares += model.weights(i, 0) * u.dot(Ku);
    f += model.weights(i, 0) * Ku;
  }
  const double loss = (1 - y.cwiseProduct(f).array()).max(0.0).sum();
  return {alpha.sum() - 0.5 * tau * worst, 0.5 * squares + cost * loss};
}

Views full_rank_views(std::uint64_t seed) {
  Views views = make_views(40, 2, seed);
  for (Matrix& S : views.matrices) S = clipped(S) + 0.05 * Matrix::Identity(40, 40);
  return views;
}

TEST(Mkl, SolvesThePrintedProblem) {
  const Views views = full_rank_views(3);
  for (const double cost : {1e-3, 1.0, 1e3}) {
    const MklSettings settings{.cost = cost, .trace = 7, .probability = false};
    const Fitted<MklModel> fitted = fit_views(views, settings);
    ASSERT_EQ(fitted.info.status(), SolveStatus::kSolved);
    EXPECT_LE(fitted.info.gap(), 1e-8);
    double trace = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double weight = fitted.model.weights(static_cast<Index>(i), 0);
      EXPECT_GE(weight, 0);
      EXPECT_EQ(fitted.info.subproblems[0].kernel_weights[i].weight, weight);
      trace += weight * views.matrices[i].trace();
    }
    EXPECT_NEAR(trace, 7, 1e-9);
    const Proof proof = prove_simple(views, fitted.model, cost, 7, 0);
    EXPECT_LE(proof.gap(), 2e-8) << cost;
    EXPECT_NEAR(fitted.info.objective(), proof.upper, 2e-8 * proof.upper);
    EXPECT_GT(std::abs(prove_simple(views, fitted.model, cost, 7, 1e-4).gap()), 1e-7) << cost;
  }
}

TEST(Mkl, IsTheMachineOnItsKernelForOneMatrix) {
  Views views = make_views(40, 2, 5);
  views.matrices.resize(2);
  views.rows.resize(2);
  views.matrices.erase(views.matrices.begin());
  views.rows.erase(views.rows.begin());
  for (const MklKind kind : {MklKind::kSimple, MklKind::kMixed}) {
    for (const std::optional<double> trace : {std::optional<double>(), std::optional(50.0)}) {
      const double scale = trace ? *trace / clipped(views.matrices[0]).trace() : 1;
      Views scaled = views;
      scaled.matrices[0] *= scale;
      scaled.rows[0] *= scale;
      const SvmSettings svm{.cost = 2, .probability = false, .tolerance = 1e-9};
      const Fitted<SvmModel> machine = fit_views(scaled, svm);
      const MklSettings settings{.kind = kind, .cost = 2, .trace = trace, .probability = false};
      const Fitted<MklModel> fitted = fit_views(views, settings);
      EXPECT_NEAR(fitted.info.objective(), machine.info.objective(),
                  1e-7 * machine.info.objective());
      EXPECT_NEAR(fitted.model.weights(0, 0), scale, 1e-9 * scale);
      const Matrix expected = test::decide(machine.model, scaled.queries());
      EXPECT_LE((decisions(views, settings) - expected).cwiseAbs().maxCoeff(),
                1e-5 * expected.cwiseAbs().maxCoeff());
    }
  }
}

TEST(Mkl, DecidesTheSameForEqualMatrices) {
  Views views = make_views(40, 3, 8);
  Views equal = views;
  equal.matrices = {views.matrices[0], views.matrices[0], views.matrices[0]};
  equal.rows = {views.rows[0], views.rows[0], views.rows[0]};
  Views one = equal;
  one.matrices.resize(1);
  one.rows.resize(1);
  const Matrix expected = decisions(one, {.cost = 3, .probability = false});
  EXPECT_LE((decisions(equal, {.cost = 3, .probability = false}) - expected).norm(),
            1e-5 * expected.norm());
}

TEST(Mkl, PermutesItsWeightsWithTheMatrices) {
  const Views views = make_views(40, 2, 9);
  Views turned = views;
  std::rotate(turned.matrices.begin(), turned.matrices.begin() + 1, turned.matrices.end());
  std::rotate(turned.rows.begin(), turned.rows.begin() + 1, turned.rows.end());
  for (const MklKind kind : {MklKind::kSimple, MklKind::kMixed}) {
    const MklSettings settings{.kind = kind, .cost = 0.1, .probability = false};
    const Matrix one = fit_views(views, settings).model.weights;
    const Matrix two = fit_views(turned, settings).model.weights;
    for (Index i = 0; i < 3; ++i)
      EXPECT_NEAR(two(i, 0), one((i + 1) % 3, 0), 1e-4 * one.maxCoeff());
    const Matrix expected = decisions(views, settings);
    EXPECT_LE((decisions(turned, settings) - expected).norm(), 1e-4 * expected.norm());
  }
}

TEST(Mkl, DoesNotDependOnTheScaleOfAMatrixAtAGivenTrace) {
  const Views views = make_views(40, 2, 10);
  Views scaled = views;
  scaled.matrices[1] *= 1000;
  scaled.rows[1] *= 1000;
  for (const MklKind kind : {MklKind::kSimple, MklKind::kMixed}) {
    const MklSettings settings{.kind = kind, .trace = 40, .probability = false};
    const Matrix expected = decisions(views, settings);
    EXPECT_LE((decisions(scaled, settings) - expected).norm(), 1e-5 * expected.norm());
    const Matrix one = fit_views(views, settings).model.weights;
    const Matrix two = fit_views(scaled, settings).model.weights;
    EXPECT_NEAR(1000 * two(1, 0), one(1, 0), 1e-4 * one.maxCoeff());
  }
}

TEST(Mkl, BalancesTheScaleOfAllMatricesByTheCost) {
  const Views views = make_views(40, 2, 12);
  Views scaled = views;
  for (Matrix& S : scaled.matrices) S *= 64;
  for (Matrix& rows : scaled.rows) rows *= 64;
  for (const MklKind kind : {MklKind::kSimple, MklKind::kMixed}) {
    const Matrix expected = decisions(views, {.kind = kind, .cost = 2, .probability = false});
    const Matrix other = decisions(scaled, {.kind = kind, .cost = 2.0 / 64, .probability = false});
    EXPECT_LE((other - expected).norm(), 1e-6 * expected.norm());
  }
}

TEST(Mkl, GivesNoWeightToAMatrixOfZeros) {
  Views views = make_views(30, 2, 13);
  views.matrices[1].setZero();
  views.rows[1].setZero();
  for (const MklKind kind : {MklKind::kSimple, MklKind::kMixed}) {
    const Fitted<MklModel> fitted = fit_views(views, MklSettings{.kind = kind});
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
    EXPECT_EQ(fitted.model.weights(1, 0), 0);
  }
}

TEST(Mkl, ProvesEveryPairAndEveryCostOfAPath) {
  const Views views = make_views(60, 3, 14);
  const TrainingSet set = views.set();
  for (const MklKind kind : {MklKind::kSimple, MklKind::kMixed}) {
    std::vector<MklSettings> path;
    for (const double cost : {1e3, 1e-3, 1e2, 1e-1, 1.0, 10.0, 1e-2}) {
      path.push_back({.kind = kind, .cost = cost, .probability = false});
    }
    RunContext ctx;
    SharedWork work(set);
    const std::vector<Fitted<MklModel>> fitted = fit_path(work, path, ctx);
    for (std::size_t i = 0; i < path.size(); ++i) {
      EXPECT_EQ(fitted[i].info.status(), SolveStatus::kSolved) << path[i].cost;
      EXPECT_LE(fitted[i].info.gap(), 1e-8);
      ASSERT_EQ(fitted[i].info.subproblems.size(), 3U);
      const Fitted<MklModel> alone = fit_views(views, path[i]);
      for (std::size_t p = 0; p < 3; ++p) {
        const double value = alone.info.subproblems[p].info.objective;
        EXPECT_NEAR(fitted[i].info.subproblems[p].info.objective, value, 2e-8 * value);
        EXPECT_EQ(fitted[i].info.subproblems[p].kernel_weights.size(), 3U);
      }
    }
  }
}

TEST(Mkl, NeedsTheSupportVectorsAloneWhereRowsStayAsTheyAre) {
  const Views views = make_views(60, 2, 15);
  const MklSettings settings{.cost = 100, .spectrum = Spectrum::kShift, .probability = false};
  const Fitted<MklModel> fitted = fit_views(views, settings);
  EXPECT_LT(needed_columns(fitted.model).size(), 60U);
}

TEST(Mkl, RefusesQueriesOfAnotherNumberOfMatrices) {
  const Views views = make_views(30, 2, 16);
  const Fitted<MklModel> fitted = fit_views(views, MklSettings{.probability = false});
  QueryBlock queries = views.queries();
  queries.matrices.pop_back();
  RunContext ctx;
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument, [&] { (void)predict(fitted.model, queries, ctx); }),
      testing::HasSubstr("2 matrices; the model was trained on 3"));
}

TEST(AverageSvm, IsTheMachineOnTheMeanOfTheMatrices) {
  const Views views = make_views(40, 3, 20);
  Views mean = views;
  mean.matrices = {(views.matrices[0] + views.matrices[1] + views.matrices[2]) / 3};
  mean.rows = {(views.rows[0] + views.rows[1] + views.rows[2]) / 3};
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kSquare}) {
    const auto several = fit_views(views, AverageSvmSettings{.cost = 2, .spectrum = spectrum});
    const auto one = fit_views(mean, SvmSettings{.cost = 2, .spectrum = spectrum});
    const Prediction expected = test::predict_once(one.model, mean.queries());
    const Prediction found = test::predict_once(several.model, views.queries());
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_TRUE(found.scores.isApprox(expected.scores, 1e-6));
  }
}

TEST(AverageSvm, TakesTheMeanOfBothDirections) {
  QueryBlock queries;
  QueryMatrix one = test::query_block(Matrix::Constant(2, 3, 4.0), Vector::Ones(2)).matrices[0];
  queries.matrices = {one, one};
  queries.matrices[1].from_training = DenseBlock(RowMatrix(Matrix::Constant(2, 3, 8.0)));
  const QueryMatrix mean = average(queries);
  EXPECT_EQ(to_dense(mean.to_training)(1, 2), 4);
  EXPECT_EQ(to_dense(*mean.from_training)(1, 2), 6);
  EXPECT_EQ(*mean.self, Vector::Ones(2));
  queries.matrices[0].self.reset();
  EXPECT_FALSE(average(queries).self);
}

TEST(Mkl, RefusesWhatLeavesTheRangeOfNumbers) {
  const Views views = make_views(30, 2, 12);
  const auto message = [](const Views& input, const MklSettings& settings) -> std::string {
    try {
      (void)fit_views(input, settings);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "";
  };
  for (const MklKind kind : {MklKind::kSimple, MklKind::kMixed}) {
    const MklSettings plain{.kind = kind, .probability = false};
    Views large = views;
    for (Matrix& S : large.matrices) S *= 1e200;
    EXPECT_THAT(message(large, plain), testing::HasSubstr("divide them by that"));
    MklSettings costly = plain;
    costly.cost = 1e160;
    EXPECT_THAT(message(views, costly), testing::HasSubstr("beyond what can be computed with"));
    MklSettings tiny = plain;
    tiny.trace = 1e-300;
    EXPECT_THAT(message(views, tiny), testing::HasSubstr("beyond what can be computed with"));
  }
}

TEST(Mkl, BearsAMatrixFarSmallerThanTheOthers) {
  for (const double scale : {1e-12, 1e-16, 1e-20, 1e-40}) {
    Views views = make_views(30, 2, 13);
    views.matrices[1] *= scale;
    views.rows[1] *= scale;
    const MklSettings settings{.kind = MklKind::kMixed, .probability = false};
    const Fitted<MklModel> fitted = fit_views(views, settings);
    EXPECT_TRUE(std::isfinite(fitted.info.gap())) << scale;
    EXPECT_LE(fitted.info.gap(), 1e-6) << scale;
    EXPECT_TRUE(decisions(views, settings).allFinite()) << scale;
  }
}

}  // namespace
}  // namespace kith::mkl_test
