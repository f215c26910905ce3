// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/generative/sda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kith/core/rng.hpp"
#include "kith/learn/generative/local_sda.hpp"
#include "kith/learn/generative/medoids.hpp"
#include "kith/learn/generative/mixture_sda.hpp"
#include "kith/learn/generative/statistics.hpp"
#include "support/fitting.hpp"

namespace kith::sda_test {
namespace {

TrainingSet training(const RowMatrix& S, const std::vector<std::string>& names) {
  TrainingSet set;
  set.labels = make_labels(names);
  set.matrices.push_back({"s", DenseBlock(S)});
  return set;
}

QueryBlock queries(const RowMatrix& to) {
  QueryBlock block;
  block.matrices.push_back({.to_training = DenseBlock(to)});
  return block;
}

template <class Settings>
Prediction predicted(const TrainingSet& set, const Settings& settings, const QueryBlock& block) {
  SharedWork work(set);
  RunContext ctx;
  return test::predict_once(fit(work, settings, ctx).model, block);
}

/// Three noisy groups of points on a line; similarities fall with distance.
struct Line {
  std::vector<double> at;
  std::vector<std::string> names;

  [[nodiscard]] RowMatrix against(const std::vector<double>& others) const {
    RowMatrix S(static_cast<Index>(others.size()), static_cast<Index>(at.size()));
    for (Index i = 0; i < S.rows(); ++i) {
      for (Index j = 0; j < S.cols(); ++j) {
        S(i, j) = std::exp(
            -std::abs(others[static_cast<std::size_t>(i)] - at[static_cast<std::size_t>(j)]));
      }
    }
    return S;
  }
  [[nodiscard]] TrainingSet set() const { return training(against(at), names); }
};

Line three_groups() {
  Line line;
  Rng rng(3);
  for (int i = 0; i < 45; ++i) {
    line.at.push_back(3.0 * (i % 3) + 0.5 * rng.normal());
    line.names.emplace_back(1, static_cast<char>('a' + i % 3));
  }
  return line;
}

const std::vector<double> kNewPlaces = {-0.3, 0.4, 1.4, 2.9, 3.2, 4.6, 5.8, 6.5};

void expect_proper(const Prediction& p) {
  EXPECT_TRUE(p.scores.allFinite());
  EXPECT_TRUE(p.probabilities.allFinite());
  for (Index q = 0; q < p.probabilities.rows(); ++q) {
    EXPECT_NEAR(p.probabilities.row(q).sum(), 1, 1e-12);
    EXPECT_GE(p.probabilities.row(q).minCoeff(), 0);
  }
}

template <class Settings>
class EveryModel : public testing::Test {};
using AllSettings = testing::Types<SdaSettings, LocalSdaSettings, MixtureSdaSettings>;
TYPED_TEST_SUITE(EveryModel, AllSettings);

TYPED_TEST(EveryModel, TellsSeparateGroupsApart) {
  const Line line = three_groups();
  const Prediction p = predicted(line.set(), TypeParam{}, queries(line.against({0, 3, 6})));
  EXPECT_EQ(p.labels, (std::vector<int>{0, 1, 2}));
  expect_proper(p);
}

TYPED_TEST(EveryModel, DoesNotDependOnTheOrderOfSamples) {
  const Line line = three_groups();
  Line shuffled;
  for (const Index i : Rng(5).permutation(45)) {
    shuffled.at.push_back(line.at[static_cast<std::size_t>(i)]);
    shuffled.names.push_back(line.names[static_cast<std::size_t>(i)]);
  }
  const Prediction a = predicted(line.set(), TypeParam{}, queries(line.against(kNewPlaces)));
  const Prediction b =
      predicted(shuffled.set(), TypeParam{}, queries(shuffled.against(kNewPlaces)));
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_LT((a.probabilities - b.probabilities).cwiseAbs().maxCoeff(), 1e-8);
}

TYPED_TEST(EveryModel, DoesNotDependOnTheNamesOfClasses) {
  const Line line = three_groups();
  Line renamed = line;
  for (std::string& name : renamed.names) name = name == "a" ? "z" : name;
  const Prediction a = predicted(line.set(), TypeParam{}, queries(line.against(kNewPlaces)));
  const Prediction b = predicted(renamed.set(), TypeParam{}, queries(line.against(kNewPlaces)));
  const std::vector<Index> now = {2, 0, 1};
  EXPECT_LT((a.probabilities - b.probabilities(Eigen::all, now)).cwiseAbs().maxCoeff(), 1e-8);
}

TYPED_TEST(EveryModel, DoesNotDependOnTheUnitOfSimilarity) {
  const Line line = three_groups();
  const RowMatrix S = line.against(line.at);
  const RowMatrix to = line.against(kNewPlaces);
  const Prediction a = predicted(training(S, line.names), TypeParam{}, queries(to));
  const Prediction b = predicted(training((8 * S.array() - 4).matrix(), line.names), TypeParam{},
                                 queries((8 * to.array() - 4).matrix()));
  EXPECT_LT((a.probabilities - b.probabilities).cwiseAbs().maxCoeff(), 1e-8);
}

TYPED_TEST(EveryModel, TakesConstantSimilarities) {
  for (const double value : {0.0, 3.0}) {
    const TrainingSet set =
        training(RowMatrix::Constant(7, 7, value), {"a", "a", "a", "b", "b", "b", "b"});
    const Prediction p = predicted(set, TypeParam{}, queries(RowMatrix::Constant(2, 7, value)));
    expect_proper(p);
    EXPECT_EQ(p.labels[0], 1);  // nothing is known but that b is more common
    EXPECT_NEAR(p.probabilities(0, 1), 4.0 / 7, 1e-12);
  }
}

TYPED_TEST(EveryModel, TakesClassesOfOneMemberAndOfNone) {
  const RowMatrix S = RowMatrix::Identity(5, 5);
  expect_proper(predicted(training(S, {"a", "b", "b", "b", "b"}), TypeParam{}, queries(S)));
  expect_proper(predicted(training(S, {"a", "a", "a", "a", "a"}), TypeParam{}, queries(S)));
  TrainingSet missing = training(S, {"a", "b", "c", "c", "a"});
  missing.labels = select(missing.labels, std::vector<Index>{0, 2, 3, 4, 0});
  const Prediction p = predicted(missing, TypeParam{}, queries(S));
  expect_proper(p);
  EXPECT_EQ(p.probabilities.col(1).maxCoeff(), 0);
}

TYPED_TEST(EveryModel, UsesTheMeanOfBothDirections) {
  const Line line = three_groups();
  const RowMatrix S = line.against(line.at);
  const RowMatrix to = line.against(kNewPlaces);
  RowMatrix skew(45, 45);
  RowMatrix skew_to(to.rows(), 45);
  for (Index i = 0; i < 45; ++i) {
    for (Index j = 0; j < 45; ++j) skew(i, j) = 0.125 * static_cast<double>(i - j);
  }
  skew_to.setConstant(0.25);
  QueryBlock both = queries(to + skew_to);
  both.matrices[0].from_training = DenseBlock(RowMatrix(to - skew_to));
  const Prediction a = predicted(training(S, line.names), TypeParam{}, queries(to));
  const Prediction b = predicted(training(S + skew, line.names), TypeParam{}, both);
  EXPECT_LT((a.probabilities - b.probabilities).cwiseAbs().maxCoeff(), 1e-8);
}

TYPED_TEST(EveryModel, NeedsOnlyTheColumnsItNames) {
  const Line line = three_groups();
  const TrainingSet set = line.set();
  SharedWork work(set);
  RunContext ctx;
  const auto model = fit(work, TypeParam{}, ctx).model;
  const RowMatrix to = line.against(kNewPlaces);
  std::vector<Index> needed = all_positions(set.size());
  if constexpr (requires { needed_columns(model); }) needed = needed_columns(model);
  const RowMatrix some = to(Eigen::all, needed);
  EXPECT_EQ(test::predict_once(model, queries(to)).probabilities,
            predict(model, queries(some), ctx).probabilities);
}

TEST(Sda, MatchesTheAveragesOfEveryClassAndStatistic) {
  const Line line = three_groups();
  const TrainingSet set = line.set();
  const RowMatrix S = line.against(line.at);
  SharedWork work(set);
  RunContext ctx;
  for (const SdaStatistics statistics : {SdaStatistics::kCentroids, SdaStatistics::kSamples}) {
    for (const SupportRule rule : {SupportRule::kDiscrete, SupportRule::kInterval}) {
      const SdaModel model =
          fit(work, SdaSettings{.statistics = statistics, .support = rule}, ctx).model;
      for (Index g = 0; g < 3; ++g) {
        for (std::size_t m = 0; m < model.columns.size(); ++m) {
          double mean = 0;
          for (Index z = g; z < 45; z += 3) mean += model.support.unit(S(z, model.columns[m])) / 15;
          const double fitted = moments(model.support, model.lambda(static_cast<Index>(m), g)).mean;
          EXPECT_NEAR(fitted, mean, 1e-10);
        }
      }
    }
  }
}

TEST(Sda, IsBayesRuleOnTwoValues) {
  // Similarities 0 and 1: each density is the share of ones, so the posterior has a closed form.
  RowMatrix S = RowMatrix::Zero(8, 8);
  const std::vector<std::pair<Index, Index>> ones = {{0, 1}, {0, 2}, {4, 5},
                                                     {4, 6}, {0, 5}, {3, 4}};
  for (Index i = 0; i < 8; ++i) S(i, i) = 1;
  for (const auto& [i, j] : ones) S(i, j) = S(j, i) = 1;
  const TrainingSet set = training(S, {"a", "a", "a", "a", "b", "b", "b", "b"});
  // Centroids 0 and 4. Shares of ones: a has 3/4 and 1/4, b has 1/4 and 3/4.
  RowMatrix to = RowMatrix::Zero(2, 8);
  to(0, 0) = 1;
  to(1, 0) = to(1, 4) = 1;
  const Prediction p = predicted(set, SdaSettings{}, queries(to));
  EXPECT_NEAR(p.probabilities(0, 0), 9.0 / 10, 1e-12);
  EXPECT_NEAR(p.probabilities(1, 0), 0.5, 1e-12);
}

TEST(LocalSda, FallsBackToTheNearestCentroidWhereAnyClassHasFewerThanThree) {
  // The query's five neighbours: a b b a b. Centroid of a is sample 3, of b sample 1.
  RowMatrix S = RowMatrix::Constant(6, 6, 0.1);
  S.diagonal().setOnes();
  S(3, 3) = 1.5;
  S(1, 2) = S(2, 1) = S(1, 4) = S(4, 1) = 0.8;
  const TrainingSet set = training(S, {"a", "b", "b", "a", "b", "a"});
  const LocalSdaSettings settings{.neighbours = 5};
  RowMatrix to{{0.9, 0.6, 0.5, 0.4, 0.3, 0.0}};
  Prediction p = predicted(set, settings, queries(to));
  EXPECT_EQ(p.labels[0], 1);
  EXPECT_NEAR(p.probabilities(0, 1), 0.5 * (3.0 / 5) + 0.5, 1e-12);
  to = RowMatrix{{0.9, 0.6, 0.5, 0.7, 0.3, 0.0}};
  p = predicted(set, settings, queries(to));
  EXPECT_EQ(p.labels[0], 0);
  expect_proper(p);
}

TEST(LocalSda, IsCertainInANeighbourhoodOfOneClass) {
  const Line line = three_groups();
  const Prediction p =
      predicted(line.set(), LocalSdaSettings{.neighbours = 4}, queries(line.against({-2.0})));
  EXPECT_EQ(p.labels[0], 0);
  EXPECT_NEAR(p.probabilities(0, 0), 1, 1e-15);
}

TEST(LocalSda, OverAllSamplesIsSda) {
  const Line line = three_groups();
  const QueryBlock block = queries(line.against(kNewPlaces));
  const Prediction whole = predicted(line.set(), SdaSettings{}, block);
  for (const Neighbourhood kind : {Neighbourhood::kOverall, Neighbourhood::kPerClass}) {
    const Prediction local =
        predicted(line.set(), LocalSdaSettings{.neighbours = 1000, .neighbourhood = kind}, block);
    EXPECT_LT((whole.probabilities - local.probabilities).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(LocalSda, PredictsAlongAPathAsOneByOne) {
  const Line line = three_groups();
  const TrainingSet set = line.set();
  SharedWork work(set);
  RunContext ctx;
  const std::vector<LocalSdaSettings> path = {
      {.neighbours = 1},
      {.neighbours = 7, .support = SupportRule::kInterval},
      {.neighbours = 7, .support = SupportRule::kDiscrete},
      {.neighbours = 5, .neighbourhood = Neighbourhood::kPerClass},
      {.neighbours = 40, .statistics = SdaStatistics::kSamples},
      {.neighbours = 99, .ties = TieRule::kFile}};
  std::vector<LocalSdaModel> models;
  for (auto& one : fit_path(work, std::span<const LocalSdaSettings>(path), ctx)) {
    models.push_back(one.model);
  }
  const QueryBlock block = queries(line.against(kNewPlaces));
  const auto along = predict_path(std::span<const LocalSdaModel>(models), block, ctx);
  ctx.threads = 3;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Prediction alone = predict(models[i], block, ctx);
    EXPECT_EQ(along[i].labels, alone.labels);
    EXPECT_EQ(along[i].scores, alone.scores);
    expect_proper(alone);
  }
}

TEST(MixtureSda, WithOneComponentIsSda) {
  const Line line = three_groups();
  const QueryBlock block = queries(line.against(kNewPlaces));
  const Prediction one = predicted(line.set(), MixtureSdaSettings{.components = 1}, block);
  const Prediction sda = predicted(line.set(), SdaSettings{}, block);
  EXPECT_LT((one.probabilities - sda.probabilities).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(MixtureSda, HasAsManyComponentsForEachClassAsAreGiven) {
  const Line line = three_groups();
  const Labels labels = line.set().labels;
  const auto counts = [&](const std::string& text) {
    return component_counts({.components = 2, .class_components = text}, labels);
  };
  EXPECT_EQ(counts("same"), (std::vector<Index>{2, 2, 2}));
  EXPECT_EQ(counts("b:3"), (std::vector<Index>{2, 3, 2}));
  EXPECT_EQ(counts("c:1/a:4"), (std::vector<Index>{4, 2, 1}));
  const auto fitted = [&](const MixtureSdaSettings& settings) {
    const TrainingSet set = line.set();
    SharedWork work(set);
    RunContext ctx;
    return fit(work, settings, ctx).model;
  };
  const MixtureSdaModel model = fitted({.class_components = "c:1/a:4"});
  EXPECT_EQ(std::ranges::count(model.prototypes, 0), 4);
  EXPECT_EQ(std::ranges::count(model.prototypes, 1), 2);
  EXPECT_EQ(std::ranges::count(model.prototypes, 2), 1);
  // The same numbers by either setting.
  const MixtureSdaModel three = fitted({.class_components = "a:3/b:3/c:3"});
  EXPECT_EQ(three.columns, fitted({.components = 3}).columns);
  EXPECT_EQ(three.lambda, fitted({.components = 3}).lambda);
  for (const std::string bad : {"a", "a:0", "a:x", "nobody:2", "a:1/a:2", ""}) {
    EXPECT_THROW((void)counts(bad), Error) << bad;
  }
}

TEST(MixtureSda, ClimbsItsLikelihood) {
  Rng rng(11);
  Matrix U(40, 4);
  for (Index i = 0; i < U.size(); ++i) U.data()[i] = rng.uniform();
  const Support interval{.low = 0, .high = 1, .points = {}};
  const SdaMixture mixture = fit_mixture(U, interval, RunContext{});
  EXPECT_EQ(mixture.info.status, SolveStatus::kStationary);
  EXPECT_LE(mixture.largest_fall, 1e-12 * (1 + std::abs(mixture.info.objective)));
  EXPECT_NEAR(mixture.log_weights.array().exp().sum(), 1, 1e-12);
  // The likelihood at the answer, from its definition; and no worse than uniform densities, which
  // are among those allowed.
  double sum = 0;
  for (Index z = 0; z < 40; ++z) {
    sum += log_sum_exp(mixture.log_weights + mixture.lambda.cwiseProduct(U.row(z).transpose()) -
                       mixture.log_z);
  }
  EXPECT_NEAR(sum, mixture.info.objective, 1e-10);
  EXPECT_GE(sum, 0);
}

TEST(MixtureSda, FindsTwoGroupsWithinAClass) {
  // Class a on both sides of b: one centroid cannot stand for it.
  Line line;
  Rng rng(7);
  for (int i = 0; i < 60; ++i) {
    line.at.push_back((i % 3 == 0 ? -4.0 : i % 3 == 1 ? 0.0 : 4.0) + 0.3 * rng.normal());
    line.names.emplace_back(i % 3 == 1 ? "b" : "a");
  }
  const Prediction p =
      predicted(line.set(), MixtureSdaSettings{.components = 2}, queries(line.against({-4, 0, 4})));
  EXPECT_EQ(p.labels, (std::vector<int>{0, 1, 0}));
}

TEST(MixtureSda, IsTheSameOnAnyNumberOfThreads) {
  const Line line = three_groups();
  const TrainingSet set = line.set();
  SharedWork work(set);
  RunContext one;
  RunContext three;
  three.threads = 3;
  const Fitted<MixtureSdaModel> a = fit(work, MixtureSdaSettings{.components = 3}, one);
  const Fitted<MixtureSdaModel> b = fit(work, MixtureSdaSettings{.components = 3}, three);
  EXPECT_EQ(a.model.lambda, b.model.lambda);
  EXPECT_EQ(a.model.log_weights, b.model.log_weights);
  ASSERT_EQ(a.info.subproblems.size(), 3U);
  EXPECT_GT(a.info.iterations(), 3);
  EXPECT_TRUE(met_tolerance(a.info.status()));
}

TEST(Medoids, AreTheMiddlesOfSeparateGroups) {
  const std::vector<double> at = {0, 1, 2, 10, 11, 12, 20, 21, 22};
  Matrix S(9, 9);
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 9; ++j) {
      S(i, j) = -std::abs(at[static_cast<std::size_t>(i)] - at[static_cast<std::size_t>(j)]);
    }
  }
  std::vector<Index> all(9);
  std::iota(all.begin(), all.end(), Index{0});
  EXPECT_EQ(medoids(S, all, 3), (std::vector<Index>{1, 4, 7}));
  EXPECT_EQ(medoids(S, all, 1), (std::vector<Index>{4}));
  EXPECT_EQ(medoids(S, all, 50), all);
  EXPECT_TRUE(medoids(S, {}, 2).empty());
}

}  // namespace
}  // namespace kith::sda_test
