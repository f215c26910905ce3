// SPDX-License-Identifier: Apache-2.0
// `eskl`, `emkl` and `rekl`: the known optima, what they are for one matrix, their laws, and what
// they refuse. The optimisers have tests of their own (optim/trace_kernel).
#include "kith/learn/kernel_learning/trace_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kith/core/error.hpp"
#include "kith/learn/kernel_learning/emkl.hpp"
#include "kith/learn/kernel_learning/eskl.hpp"
#include "kith/learn/kernel_learning/rekl.hpp"
#include "kith/learn/kernel_learning/robust_svm.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "support/files.hpp"
#include "support/views.hpp"

namespace kith {
namespace {

using test::fit_views;
using test::make_views;
using test::Views;

template <class Settings>
Matrix decisions(const Views& views, const Settings& settings) {
  return decision_values(fit_views(views, settings).model.learned, views.queries(), {});
}

Views only(const Views& views, std::size_t i) {
  return {{views.matrices[i]}, {views.rows[i]}, views.classes, {views.self[i]}};
}

/// S.csv and y.txt of a folder as one matrix.
Views read_views(const std::filesystem::path& folder) {
  std::vector<double> values;
  std::ifstream similarities(folder / "S.csv");
  for (std::string line; std::getline(similarities, line);) {
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) values.push_back(std::stod(cell));
  }
  Views views;
  std::ifstream labels(folder / "y.txt");
  for (double label = 0; labels >> label;) views.classes.push_back(label > 0 ? 0 : 1);
  const auto n = std::ssize(views.classes);
  views.matrices.emplace_back(Eigen::Map<const RowMatrix>(values.data(), n, n));
  return views;
}

TEST(Eskl, ReachesTheKnownOptima) {
  const std::filesystem::path folder =
      std::filesystem::path(KITH_TEST_SHARED) / "problems" / "eskl60";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the shared problem is not there";
  const Views views = read_views(folder);
  // The trace that the optima are for is the default: that of the matrix.
  const auto solved = [&](KernelLoss loss, double rho) {
    const EsklSettings settings{{.rho = rho, .loss = loss, .probability = false}};
    const Fitted<EsklModel> fitted = fit_views(views, settings);
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
    EXPECT_LE(fitted.info.gap(), loss == KernelLoss::kAbsolute ? 1e-3 : 1e-6);
    return fitted.info.objective();
  };
  EXPECT_NEAR(solved(KernelLoss::kNorm, 1), 15.168919, 1e-5);
  EXPECT_NEAR(solved(KernelLoss::kSquared, 0.1), 15.498655, 1e-5);
  EXPECT_LE(solved(KernelLoss::kAbsolute, 0.01), 8.776);
}

TEST(Eskl, IsTheRobustMachineForOneMatrixAndItsTrace) {
  const Views views = only(make_views(40, 2, 3), 1);
  const RobustSvmSettings settings{.cost = 2, .rho = 0.5, .probability = false};
  const Fitted<RobustSvmModel> robust = fit_views(views, settings);
  const double trace = robust.model.learned.machines[0].values.sum();
  const TraceSettings learn{.cost = 2, .rho = 0.5, .trace = trace, .probability = false};
  const Fitted<EsklModel> shared = fit_views(views, EsklSettings{learn});
  const double value = robust.info.objective();
  EXPECT_NEAR(shared.info.objective(), value, 2e-6 * value);
  EXPECT_NEAR(fit_views(views, EmklSettings{learn}).info.objective(), value, 2e-6 * value);
  RunContext ctx;
  const Vector expected = predict(robust.model, views.queries(), ctx).scores.col(0);
  const Matrix found = decisions(views, EsklSettings{learn});
  EXPECT_LE((found.col(0) - expected).norm(), 1e-2 * expected.norm());
}

TEST(Eskl, TakesAMatrixGivenTwiceAsTwiceTheRho) {
  const Views once = only(make_views(30, 2, 5), 1);
  Views twice = once;
  twice.matrices.push_back(once.matrices[0]);
  twice.rows.push_back(once.rows[0]);
  twice.self.push_back(once.self[0]);
  for (const KernelLoss loss : {KernelLoss::kNorm, KernelLoss::kSquared}) {
    const EsklSettings one{{.rho = 0.6, .loss = loss, .probability = false}};
    const EsklSettings two{{.rho = 0.3, .loss = loss, .probability = false}};
    const double value = fit_views(once, one).info.objective();
    EXPECT_NEAR(fit_views(twice, two).info.objective(), value, 3e-6 * value);
    const Matrix expected = decisions(once, one);
    EXPECT_LE((decisions(twice, two) - expected).norm(), 1e-2 * expected.norm());
  }
}

TEST(Eskl, SeesTheMeanOfTheRowsOfNewSamples) {
  const Views views = make_views(30, 2, 6);
  Views mean = views;
  const Matrix rows = (views.rows[0] + views.rows[1] + views.rows[2]) / 3;
  const Vector self = (views.self[0] + views.self[1] + views.self[2]) / 3;
  mean.rows = {rows, rows, rows};
  mean.self = {self, self, self};
  const Fitted<EsklModel> fitted = fit_views(views, EsklSettings{{.probability = false}});
  const Matrix found = decision_values(fitted.model.learned, views.queries(), {});
  const Matrix expected = decision_values(fitted.model.learned, mean.queries(), {});
  EXPECT_LE((found - expected).norm(), 1e-10 * expected.norm());
}

/// Every pair of a path is proved, and has the value that it has alone.
template <class Settings>
void expect_proved(const Views& views, const std::vector<Settings>& path) {
  const TrainingSet set = views.set();
  RunContext ctx;
  SharedWork work(set);
  const auto fitted = fit_path(work, std::span<const Settings>(path), ctx);
  ASSERT_EQ(fitted.size(), path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    SCOPED_TRACE(settings_json(path[i]));
    EXPECT_EQ(fitted[i].info.status(), SolveStatus::kSolved);
    EXPECT_LE(fitted[i].info.gap(), 1e-6);
    const auto alone = fit_views(views, path[i]);
    ASSERT_EQ(fitted[i].info.subproblems.size(), 3U);
    for (std::size_t p = 0; p < 3; ++p) {
      const double value = alone.info.subproblems[p].info.objective;
      EXPECT_NEAR(fitted[i].info.subproblems[p].info.objective, value, 2e-6 * value);
    }
  }
}

TEST(TracePairs, ProveEveryPairAndEveryPointOfAPath) {
  const Views views = make_views(36, 3, 8);
  std::vector<EsklSettings> shared;
  std::vector<EmklSettings> separate;
  std::vector<ReklSettings> spectra;
  for (const double rho : {1.0, 1e-2}) {
    for (const double cost : {1e3, 1e-2, 1.0}) {
      shared.push_back({{.cost = cost, .rho = rho, .probability = false}});
      separate.push_back({{.cost = cost, .rho = rho, .probability = false}});
      spectra.push_back({.cost = cost, .rho = rho, .probability = false});
    }
  }
  expect_proved(views, shared);
  expect_proved(views, separate);
  expect_proved(views, spectra);
}

double sum_of(const Json& numbers) {
  double sum = 0;
  for (const Json& one : numbers) sum += one.get<double>();
  return sum;
}

TEST(TracePairs, LearnKernelsOfTheTrace) {
  const Views views = make_views(30, 2, 9);
  double mean = 0;
  for (const Matrix& S : views.matrices) mean += S.trace() / 3;
  const auto expect_trace = [&](const FitInfo& info, std::size_t kernels, double trace) {
    const Json& learned = info.learned.at(0);
    EXPECT_NEAR(learned.at("trace").get<double>(), trace, 1e-12 * trace);
    ASSERT_EQ(learned.at("kernels").size(), kernels);
    for (const Json& kernel : learned.at("kernels")) {
      EXPECT_NEAR(sum_of(kernel.at("eigenvalues")), trace, 1e-9 * trace);
    }
  };
  for (const std::optional<double> given : {std::optional<double>(), std::optional(7.0)}) {
    const TraceSettings learn{.trace = given, .probability = false};
    const double trace = given.value_or(mean);
    expect_trace(fit_views(views, EsklSettings{learn}).info, 1, trace);
    expect_trace(fit_views(views, EmklSettings{learn}).info, 3, trace);
    const ReklSettings spectra{.trace = given, .probability = false};
    expect_trace(fit_views(views, spectra).info, 3, trace);
  }
}

TEST(TracePairs, TakeThePositivePartOfTheMeanWhereItsTraceIsNotPositive) {
  Views views = only(make_views(20, 2, 10), 1);
  views.matrices[0].diagonal().setZero();
  const auto trace_of = [](const Views& own) {
    const Fitted<EsklModel> fitted = fit_views(own, EsklSettings{{.probability = false}});
    return fitted.info.learned.at(0).at("trace").get<double>();
  };
  const double positive = symmetric_eigenvalues(views.matrices[0]).cwiseMax(0.0).sum();
  EXPECT_NEAR(trace_of(views), positive, 1e-9 * positive);
  views.matrices[0].setZero();
  EXPECT_EQ(trace_of(views), 20);
}

template <class Settings>
void expect_weights_that_follow(const Settings& settings) {
  const Views views = make_views(30, 2, 11);
  Views turned = views;
  std::rotate(turned.matrices.begin(), turned.matrices.begin() + 1, turned.matrices.end());
  std::rotate(turned.rows.begin(), turned.rows.begin() + 1, turned.rows.end());
  std::rotate(turned.self.begin(), turned.self.begin() + 1, turned.self.end());
  const auto one = fit_views(views, settings).info.subproblems[0].kernel_weights;
  const auto two = fit_views(turned, settings).info.subproblems[0].kernel_weights;
  ASSERT_EQ(one.size(), 3U);
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(1 / two[i].weight, 1 / one[(i + 1) % 3].weight, 5e-3);
    sum += 1 / one[i].weight;
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  const Matrix expected = decisions(views, settings);
  EXPECT_LE((decisions(turned, settings) - expected).norm(), 2e-2 * expected.norm());
}

TEST(TracePairs, HaveWeightsThatFollowTheMatrices) {
  expect_weights_that_follow(EmklSettings{{.rho = 0.5, .probability = false}});
  expect_weights_that_follow(ReklSettings{.rho = 0.5, .probability = false});
}

TEST(Rekl, MapsTrainingRowsToTheirRowsOfTheKernel) {
  Views views = make_views(30, 2, 12);
  for (Matrix& S : views.matrices) {  // no eigenvalue is small enough to be cut
    S += 0.02 * symmetric_eigenvalues(S).cwiseAbs().maxCoeff() * Matrix::Identity(30, 30);
    const SymmetricEigen eigen = symmetric_eigen(S);
    const double floor = 0.01 * eigen.lambda.maxCoeff();
    S = eigen.U * eigen.lambda.cwiseAbs().cwiseMax(floor).asDiagonal() * eigen.U.transpose();
    S = (0.5 * (S + S.transpose())).eval();
  }
  EXPECT_LE(fit_views(views, ReklSettings{.probability = false}).info.consistency, 1e-8);
}

TEST(TracePairs, ThePrintedUpdateDoesNotArriveAndTheCorrectOneDoes) {
  const Views views = only(make_views(20, 2, 13), 1);
  TraceSettings learn{.rho = 0.1, .probability = false};
  const double optimum = fit_views(views, EsklSettings{learn}).info.objective();
  learn.tolerance = 0.2;
  learn.solver = TraceSolver::kMirrorDescent;
  const Fitted<EsklModel> correct = fit_views(views, EsklSettings{learn});
  EXPECT_EQ(correct.info.status(), SolveStatus::kSolved);
  EXPECT_LE(correct.info.objective(), 1.25 * optimum);
  EXPECT_GE(correct.info.objective(), (1 - 1e-6) * optimum);
  learn.tolerance = 1e-3;
  learn.iterations = 100;
  const Fitted<EsklModel> early = fit_views(views, EsklSettings{learn});
  learn.solver = TraceSolver::kExact;  // which the printed update takes no notice of
  learn.iterations.reset();
  learn.update = MirrorUpdate::kPrinted;
  const Fitted<EsklModel> printed = fit_views(views, EsklSettings{learn});
  EXPECT_EQ(printed.info.status(), SolveStatus::kIterationLimit);
  EXPECT_EQ(printed.info.iterations(), 100);
  EXPECT_GT(printed.info.objective(), early.info.objective());
}

TEST(TracePairs, RefuseWhatTheyCannotPredict) {
  const Views views = make_views(20, 2, 14);
  const Fitted<EmklModel> fitted = fit_views(views, EmklSettings{{.probability = false}});
  RunContext ctx;
  QueryBlock queries = views.queries();
  queries.matrices[1].self.reset();
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument, [&] { (void)predict(fitted.model, queries, ctx); }),
      testing::HasSubstr("test-treatment sample needs the self-similarity"));
  queries.matrices.pop_back();
  EXPECT_THAT(
      error_of(ErrorCode::kInvalidArgument, [&] { (void)predict(fitted.model, queries, ctx); }),
      testing::HasSubstr("2 matrices; the model was trained on 3"));
}

}  // namespace
}  // namespace kith
