// SPDX-License-Identifier: Apache-2.0
// `eskl`, `emkl` and `rekl`: the known optima, what they are for one matrix, their laws, and what
// they refuse. The optimisers have tests of their own (optim/trace/kernel).
#include "kith/learn/kernel_learning/trace_pairs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kith/core/error.hpp"
#include "kith/learn/kernel_learning/rekl.hpp"
#include "kith/learn/kernel_learning/robust_svm.hpp"
#include "kith/learn/kernel_learning/trace_svm.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "support/files.hpp"
#include "support/views.hpp"

namespace kith::trace_pairs_test {
namespace {

using test::fit_views;
using test::make_views;
using test::Views;

constexpr trace::KernelLoss kSquared = trace::KernelLoss::kSquared;

template <class Settings>
Matrix decisions(const Views& views, const Settings& settings) {
  return decision_values(fit_views(views, settings).model, views.queries(), {});
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
  const auto solved = [&](trace::KernelLoss loss, double rho) {
    const EsklSettings settings{{.rho = rho, .loss = loss, .probability = false}};
    const Fitted<EsklModel> fitted = fit_views(views, settings);
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
    EXPECT_LE(fitted.info.gap(), loss == trace::KernelLoss::kAbsolute ? 1e-3 : 1e-6);
    return fitted.info.objective();
  };
  EXPECT_NEAR(solved(trace::KernelLoss::kNorm, 1), 15.168919, 1e-5);
  EXPECT_NEAR(solved(trace::KernelLoss::kSquared, 0.1), 15.498655, 1e-5);
  EXPECT_LE(solved(trace::KernelLoss::kAbsolute, 0.01), 8.776);
}

TEST(Eskl, IsTheRobustMachineForOneMatrixAndItsTrace) {
  const Views views = only(make_views(40, 2, 3), 1);
  const RobustSvmSettings settings{.cost = 2, .rho = 0.5, .probability = false};
  const Fitted<RobustSvmModel> robust = fit_views(views, settings);
  const double trace = robust.model.machines[0][0].values.sum();
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
  for (const trace::KernelLoss loss : {trace::KernelLoss::kNorm, trace::KernelLoss::kSquared}) {
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
  const Matrix found = decision_values(fitted.model, views.queries(), {});
  const Matrix expected = decision_values(fitted.model, mean.queries(), {});
  EXPECT_LE((found - expected).norm(), 1e-10 * expected.norm());
}

/// Every pair of a path is proved, and has the value that it has alone.
template <class Settings>
void expect_proved(const Views& views, const std::vector<Settings>& path, double gap = 1e-6) {
  const TrainingSet set = views.set();
  RunContext ctx;
  SharedWork work(set);
  const auto fitted = fit_path(work, std::span<const Settings>(path), ctx);
  ASSERT_EQ(fitted.size(), path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    SCOPED_TRACE(settings_json(path[i]));
    EXPECT_EQ(fitted[i].info.status(), SolveStatus::kSolved);
    EXPECT_LE(fitted[i].info.gap(), gap);
    const auto alone = fit_views(views, path[i]);
    ASSERT_EQ(fitted[i].info.subproblems.size(), 3U);
    for (std::size_t p = 0; p < 3; ++p) {
      const double value = alone.info.subproblems[p].info.objective;
      EXPECT_NEAR(fitted[i].info.subproblems[p].info.objective, value, 2 * gap * value);
    }
  }
}

TEST(TracePairs, ProveEveryPairAndEveryPointOfAPath) {
  const Views views = make_views(36, 3, 8);
  std::vector<EsklSettings> shared;
  std::vector<EmklSettings> separate;
  std::vector<ReklSettings> spectra;
  std::vector<ReklSettings> squared;
  for (const double rho : {1.0, 1e-2}) {
    for (const double cost : {1e3, 1e-2, 1.0}) {
      shared.push_back({{.cost = cost, .rho = rho, .probability = false}});
      separate.push_back({{.cost = cost, .rho = rho, .probability = false}});
      spectra.push_back({.cost = cost, .rho = rho, .probability = false});
      squared.push_back({.cost = cost, .rho = rho, .loss = kSquared, .probability = false});
    }
  }
  expect_proved(views, shared);
  expect_proved(views, separate);
  expect_proved(views, spectra, 1e-4);
  expect_proved(views, squared);
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
  expect_weights_that_follow(ReklSettings{.rho = 0.5, .loss = kSquared, .probability = false});
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

/// K_i = U_i diag(mu_i) U_i' and the primal of the machine, from what `train --json` shows.
TEST(Rekl, MinimisesTheDistanceItselfWithLossL2AndItsSquareWithL3) {
  const Views views = only(make_views(24, 2, 15), 0);
  const SymmetricEigen eigen = symmetric_eigen(views.matrices[0]);
  const auto distance = [&](trace::KernelLoss loss, double rho) {
    const auto fitted =
        fit_views(views, ReklSettings{.rho = rho, .loss = loss, .probability = false});
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
    const Json& kernel = fitted.info.learned.at(0).at("kernels").at(0);
    const auto mu = kernel.at("eigenvalues").get<std::vector<double>>();
    const Vector apart = Eigen::Map<const Vector>(mu.data(), std::ssize(mu)) - eigen.lambda;
    return std::pair(apart.norm(), fitted.info.objective());
  };
  // At mu the slopes of rho |x| and c |x|^2 agree where rho = 2 c |x|: one solution for both.
  const double c = 0.3;
  const auto [length, squared] = distance(kSquared, c);
  const auto [same, norm] = distance(trace::KernelLoss::kNorm, 2 * c * length);
  EXPECT_NEAR(same, length, 1e-2 * length);
  EXPECT_NEAR(norm, squared + c * length * length, 2e-4 * norm);
}

std::shared_ptr<const trace::ConvexLoss> log_cosh() {
  return std::make_shared<const trace::ConvexLoss>(
      trace::ConvexLoss{[](const Matrix& X) { return X.array().cosh().log().sum(); },
                        [](const Matrix& X) -> Matrix { return X.array().tanh(); }});
}

template <class Settings>
void expect_a_loss_of_ones_own(Settings settings) {
  const Views views = make_views(30, 3, 17);
  settings.loss = trace::KernelLoss::kOwn;
  settings.own_loss = log_cosh();
  settings.rho = 0.1;
  for (const Multiclass rule : {Multiclass::kOneVsOne, Multiclass::kOneVsRest}) {
    settings.multiclass = rule;
    settings.probability = rule == Multiclass::kOneVsOne;
    const auto fitted = fit_views(views, settings);
    EXPECT_EQ(fitted.info.status(), SolveStatus::kSolved);
    EXPECT_LE(fitted.info.gap(), 1e-4);
    EXPECT_TRUE(decision_values(fitted.model, views.queries(), {}).allFinite());
  }
  settings.own_loss = nullptr;
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { (void)fit_views(views, settings); }),
              testing::HasSubstr("C++ and Python"));
}

TEST(TracePairs, TakeALossOfOnesOwn) {
  expect_a_loss_of_ones_own(EsklSettings{});
  expect_a_loss_of_ones_own(EmklSettings{});
  expect_a_loss_of_ones_own(ReklSettings{});
}

TEST(Rekl, RefusesTheSumOfAbsoluteDifferences) {
  const ReklSettings settings{.loss = trace::KernelLoss::kAbsolute};
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { validate(settings, "rekl"); }),
              testing::HasSubstr("l2"));
}

TEST(Rekl, SaysWhereRepeatedEigenvaluesMakeTheAnswerOneOfSeveral) {
  Views views = make_views(20, 2, 12);
  for (Matrix& S : views.matrices) {  // eigenvalues that are clearly apart
    const SymmetricEigen eigen = symmetric_eigen(S);
    const double step = 0.01 * eigen.lambda.cwiseAbs().maxCoeff();
    const Vector apart = eigen.lambda + Vector::LinSpaced(20, 0, 19 * step);
    S = eigen.U * apart.asDiagonal() * eigen.U.transpose();
    S = (0.5 * (S + S.transpose())).eval();
  }
  const ReklSettings settings{.rho = 1e-3, .probability = false};
  EXPECT_TRUE(fit_views(views, settings).info.notes.empty());
  views.matrices[1] = Matrix::Constant(20, 20, 0.5) + 0.5 * Matrix::Identity(20, 20);
  const auto fitted = fit_views(views, settings);
  ASSERT_EQ(fitted.info.notes.size(), 1U);
  EXPECT_THAT(fitted.info.notes.front(),
              testing::AllOf(testing::HasSubstr("eigenvalues repeat"), testing::HasSubstr("matrix"),
                             testing::HasSubstr("order of the samples")));
  // Far from the machine, the spectra stay with those of the matrices, equal where they are equal.
  EXPECT_TRUE(fit_views(views, ReklSettings{.rho = 1e6, .probability = false}).info.notes.empty());
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
  learn.update = papers::MirrorUpdate::kPrinted;
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

Views with_scaled(Views views, std::size_t i, double scale) {
  views.matrices[i] *= scale;
  views.rows[i] *= scale;
  views.self[i] *= scale;
  return views;
}

Views two_views(std::uint64_t seed) {
  Views views = make_views(30, 2, seed);
  views.matrices.pop_back();
  views.rows.pop_back();
  views.self.pop_back();
  return views;
}

/// What similarities that are `scale` times as large make of the settings.
template <class Settings>
Settings in_unit(Settings settings, double scale) {
  settings.cost /= scale;
  settings.rho /= scale * scale * (settings.loss == kSquared ? scale : 1.0);
  return settings;
}

/// Calls check(settings) for each of the methods, without probabilities.
template <class Check>
void for_each_method(const Check& check) {
  check(EsklSettings{{.probability = false}});
  check(EmklSettings{{.probability = false}});
  ReklSettings rekl;
  rekl.probability = false;
  check(rekl);
  rekl.loss = kSquared;
  check(rekl);
}

template <class Settings>
void expect_the_same_in_every_unit(const Settings& settings) {
  const Views views = two_views(8);
  const Matrix expected = decisions(views, settings);
  for (const double scale : {1e-40, 1e-9, 1e9, 1e40}) {
    const Settings scaled = in_unit(settings, scale);
    const Views other = with_scaled(with_scaled(views, 0, scale), 1, scale);
    EXPECT_EQ(fit_views(other, scaled).info.status(), SolveStatus::kSolved) << scale;
    EXPECT_LE((decisions(other, scaled) - expected).norm(), 1e-4 * expected.norm()) << scale;
  }
}

TEST(TracePairs, DoNotDependOnTheUnitOfTheSimilarities) {
  for_each_method([](const auto& settings) { expect_the_same_in_every_unit(settings); });
}

/// Powers of two change no digit of anything that a solver sees.
template <class Settings>
void expect_the_same_digits_in_other_units(const Settings& settings) {
  const Views views = two_views(12);
  const Matrix expected = decisions(views, settings);
  const double scale = 0x1p40;
  const Settings scaled = in_unit(settings, scale);
  const Views other = with_scaled(with_scaled(views, 0, scale), 1, scale);
  EXPECT_LE((decisions(other, scaled) - expected).norm(), 1e-12 * expected.norm());
}

TEST(TracePairs, HaveTheSameDigitsInUnitsOfPowersOfTwo) {
  for_each_method([](const auto& settings) { expect_the_same_digits_in_other_units(settings); });
}

TEST(TracePairs, SolveTheirDefaultsForSimilaritiesOfAnySize) {
  ReklSettings rekl;
  rekl.probability = false;
  for (const double scale : {1e-12, 1e-3, 3e2, 3e4, 1e12}) {
    Views views = two_views(13);
    // A cost of 1e12 asks for classes that can be told apart, as those of alignment scores can.
    for (Matrix& S : views.matrices) S.diagonal().array() += 5;
    views = with_scaled(with_scaled(views, 0, scale), 1, scale);
    const TraceSettings plain{.probability = false};
    EXPECT_EQ(fit_views(views, EsklSettings{plain}).info.status(), SolveStatus::kSolved) << scale;
    EXPECT_EQ(fit_views(views, EmklSettings{plain}).info.status(), SolveStatus::kSolved) << scale;
    EXPECT_EQ(fit_views(views, rekl).info.status(), SolveStatus::kSolved) << scale;
  }
}

TEST(TracePairs, MeasureTheGapWithoutWhatNoKernelChanges) {
  // One matrix is so much larger that its distance from the kernels is all of the objective.
  for (const double scale : {1e3, 1e5}) {
    const Views views = with_scaled(two_views(9), 1, scale);
    const Fitted<EmklModel> fitted = fit_views(views, EmklSettings{{.probability = false}});
    const Subproblem& one = fitted.info.subproblems[0];
    EXPECT_TRUE(one.objective_offset > 0.9 * one.info.objective) << scale;
    EXPECT_TRUE(one.info.status != SolveStatus::kSolved || one.info.kkt_residual <= 0.1)
        << scale << ": " << one.info.kkt_residual;
    EXPECT_GE(one.info.gap, 0);
  }
}

TEST(TracePairs, RefuseOrBearNumbersNearTheEndOfTheirRange) {
  const Views views = two_views(10);
  const auto bear = [&](const Views& input, const TraceSettings& settings) {
    try {
      const Matrix values = decisions(input, EmklSettings{settings});
      EXPECT_TRUE(values.allFinite());
      EXPECT_TRUE(decisions(input, EsklSettings{settings}).allFinite());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(error.what(), testing::HasSubstr("beyond what can be computed with"));
    }
  };
  for (const trace::KernelLoss loss :
       {trace::KernelLoss::kAbsolute, trace::KernelLoss::kNorm, trace::KernelLoss::kSquared}) {
    const TraceSettings plain{.loss = loss, .probability = false};
    for (const double scale : {1e-160, 1e-70, 1e70, 1e160}) {
      TraceSettings settings = plain;
      settings.cost = scale;
      bear(views, settings);
      settings = plain;
      settings.trace = scale;
      bear(views, settings);
      bear(with_scaled(views, 1, scale), plain);
    }
  }
}

TEST(TracePairs, ListEveryEigenvalueOfAKernel) {
  const Views views = two_views(11);
  const Fitted<EsklModel> fitted = fit_views(views, EsklSettings{{.probability = false}});
  const Json& kernel = fitted.info.learned[0]["kernels"][0];
  const auto values = kernel["eigenvalues"].get<std::vector<double>>();
  EXPECT_EQ(values.size(), views.classes.size());
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(values.front(), 0);
}

}  // namespace
}  // namespace kith::trace_pairs_test
