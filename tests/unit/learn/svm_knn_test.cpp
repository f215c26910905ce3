// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/svm_knn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/core/rng.hpp"
#include "kith/learn/svm/kernel_svm.hpp"

namespace kith::svm_knn_test {
namespace {

RowMatrix random_symmetric(Index n, std::uint64_t seed) {
  Rng rng(seed);
  RowMatrix S(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) S(i, j) = S(j, i) = rng.normal() + (i == j ? 3 : 0);
  }
  return S;
}

struct Task {
  TrainingSet set;
  QueryBlock queries;
};

/// Three classes whose members are alike.
Task three_classes() {
  Task setup;
  std::vector<std::string> names;
  names.reserve(24);
  for (int i = 0; i < 24; ++i) names.emplace_back(1, static_cast<char>('a' + i % 3));
  setup.set.labels = make_labels(names);
  RowMatrix S = random_symmetric(30, 1);
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < 30; ++j) S(i, j) += i % 3 == j % 3 ? 2 : 0;
  }
  setup.set.matrices.push_back({"s", DenseBlock(RowMatrix(S.topLeftCorner(24, 24)))});
  setup.queries.matrices.push_back(
      {.to_training = DenseBlock(RowMatrix(S.bottomLeftCorner(6, 24)))});
  return setup;
}

TEST(SvmKnn, WithEveryNeighbourIsTheSvm) {
  const Task setup = three_classes();
  SharedWork work(setup.set);
  RunContext ctx;
  const std::pair<Spectrum, Spectrum> rules[] = {{Spectrum::kClip, Spectrum::kClip},
                                                 {Spectrum::kFlip, Spectrum::kFlip},
                                                 {Spectrum::kShift, Spectrum::kShift}};
  for (const auto& [local, global] : rules) {
    const SvmKnnModel model =
        fit(work,
            SvmKnnSettings{.neighbours = 24, .cost = 0.7, .spectrum = local, .tolerance = 1e-9},
            ctx)
            .model;
    const SvmModel whole =
        fit(work,
            SvmSettings{.cost = 0.7, .spectrum = global, .probability = false, .tolerance = 1e-9},
            ctx)
            .model;
    const Prediction found = predict(model, setup.queries, ctx);
    const Prediction expected = predict(whole, setup.queries, ctx);
    EXPECT_EQ(found.labels, expected.labels);
    EXPECT_LT((found.scores - expected.scores).cwiseAbs().maxCoeff(), 1e-6);
  }
}

TEST(SvmKnn, NamesTheClassOfANeighbourhoodThatHasOneOnly) {
  const Task setup = three_classes();
  SharedWork work(setup.set);
  RunContext ctx;
  const SvmKnnModel model = fit(work, SvmKnnSettings{.neighbours = 1}, ctx).model;
  const Prediction found = predict(model, setup.queries, ctx);
  const auto& rows = std::get<DenseBlock>(setup.queries.matrices[0].to_training);
  for (Index q = 0; q < 6; ++q) {
    Index nearest = 0;
    rows.values().row(q).maxCoeff(&nearest);
    EXPECT_EQ(found.labels[static_cast<std::size_t>(q)],
              setup.set.labels.ids[static_cast<std::size_t>(nearest)]);
  }
}

TEST(SvmKnn, PredictsAlongAPathAsOneByOne) {
  const Task setup = three_classes();
  SharedWork work(setup.set);
  RunContext ctx;
  std::vector<SvmKnnModel> models;
  for (const Index k : {3, 8, 99}) {
    for (const double cost : {10.0, 0.1}) {
      for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip}) {
        models.push_back(
            fit(work, SvmKnnSettings{.neighbours = k, .cost = cost, .spectrum = spectrum}, ctx)
                .model);
      }
    }
  }
  const std::vector<Prediction> along =
      predict_path(std::span<const SvmKnnModel>(models), setup.queries, ctx);
  for (std::size_t i = 0; i < models.size(); ++i) {
    EXPECT_EQ(along[i].labels, predict(models[i], setup.queries, ctx).labels);
  }
}

TEST(SvmKnn, ExplainsByTheTermsOfItsLocalMachine) {
  const Task setup = three_classes();
  SharedWork work(setup.set);
  RunContext ctx;
  for (const Index k : {1, 2, 9, 24}) {
    const SvmKnnModel model = fit(work, SvmKnnSettings{.neighbours = k}, ctx).model;
    const Prediction said = predict(model, setup.queries, ctx);
    const auto explained = explain(model, setup.queries, said.labels, ctx);
    ASSERT_EQ(explained.size(), 6U);
    for (std::size_t q = 0; q < 6; ++q) {
      EXPECT_LE(std::ssize(explained[q].samples), k);
      double sum = explained[q].offset;
      for (const Contribution& one : explained[q].samples) sum += one.amount;
      if (explained[q].by == ExplainedBy::kVotes) {  // one class: its vote is whole
        EXPECT_NEAR(sum, 1, 1e-12);
        for (const Contribution& one : explained[q].samples) {
          EXPECT_EQ(setup.set.labels.ids[static_cast<std::size_t>(one.sample)], said.labels[q]);
        }
      } else {
        // The decision value of two classes, or what one-vs-one adds to its votes.
        const double score = said.scores(static_cast<Index>(q), said.labels[q]);
        const double with_votes = std::round(score) + sum / (3 * (std::abs(sum) + 1));
        EXPECT_LT(std::min(std::abs(sum - score), std::abs(with_votes - score)), 1e-9);
      }
      if (k == 1) {
        EXPECT_EQ(explained[q].by, ExplainedBy::kVotes);
      }
    }
  }
}

TEST(SvmKnn, ExplainsTheMachineOfTheClassAgainstTheRest) {
  const Task setup = three_classes();
  SharedWork work(setup.set);
  RunContext ctx;
  for (const Index k : {9, 24}) {
    const SvmKnnModel model =
        fit(work, SvmKnnSettings{.neighbours = k, .multiclass = Multiclass::kOneVsRest}, ctx).model;
    const Prediction said = predict(model, setup.queries, ctx);
    const auto explained = explain(model, setup.queries, said.labels, ctx);
    for (std::size_t q = 0; q < 6; ++q) {
      ASSERT_EQ(explained[q].by, ExplainedBy::kTerms);
      double sum = explained[q].offset;
      for (const Contribution& one : explained[q].samples) sum += one.amount;
      const double score = said.scores(static_cast<Index>(q), said.labels[q]);
      // Two classes among the neighbours have one machine, which adds to a vote.
      const double with_votes = std::round(score) + sum / (3 * (std::abs(sum) + 1));
      const double off = k == 24 ? std::abs(sum - score)
                                 : std::min(std::abs(sum - score), std::abs(with_votes - score));
      EXPECT_LT(off, 1e-9);
    }
  }
}

/// Positive definite, as no rule changes it.
Task definite_task(Index n) {
  Rng rng(5);
  Matrix X(n + 5, n + 8);
  for (double& one : X.reshaped()) one = rng.normal();
  for (Index i = 0; i < n + 5; ++i) X(i, i % 3) += 3;
  const RowMatrix S = X * X.transpose();
  Task setup;
  std::vector<std::string> names;
  for (Index i = 0; i < n; ++i) names.emplace_back(1, static_cast<char>('a' + i % 3));
  setup.set.labels = make_labels(names);
  setup.set.matrices.push_back({"s", DenseBlock(RowMatrix(S.topLeftCorner(n, n)))});
  setup.queries.matrices.push_back(
      {.to_training = DenseBlock(RowMatrix(S.bottomLeftCorner(5, n)))});
  return setup;
}

/// The scores of svm on the k nearest of each query, one by one.
Matrix by_definition(const Task& setup, Index k, double cost, Spectrum spectrum,
                     Multiclass multiclass) {
  RunContext ctx;
  const auto& rows = std::get<DenseBlock>(setup.queries.matrices[0].to_training);
  const auto& S = std::get<DenseBlock>(setup.set.matrices[0].block);
  Matrix scores = Matrix::Zero(rows.rows(), setup.set.labels.class_count());
  for (Index q = 0; q < rows.rows(); ++q) {
    std::vector<Index> order(static_cast<std::size_t>(S.rows()));
    for (Index i = 0; i < S.rows(); ++i) order[static_cast<std::size_t>(i)] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return rows(q, a) > rows(q, b); });
    order.resize(static_cast<std::size_t>(k));
    TrainingSet part;
    part.labels = select(setup.set.labels, order);
    RowMatrix block(k, k), row(1, k);
    for (Index i = 0; i < k; ++i) {
      row(0, i) = rows(q, order[static_cast<std::size_t>(i)]);
      for (Index j = 0; j < k; ++j) {
        block(i, j) = S(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
      }
    }
    if (!part.labels.has_two_classes()) {
      scores(q, part.labels.ids.front()) = 1;
      continue;
    }
    part.matrices.push_back({"s", DenseBlock(block)});
    SharedWork work(part);
    const SvmModel model = fit(work,
                               SvmSettings{.cost = cost,
                                           .spectrum = spectrum,
                                           .multiclass = multiclass,
                                           .probability = false,
                                           .tolerance = 1e-9},
                               ctx)
                               .model;
    QueryBlock one;
    one.matrices.push_back({.to_training = DenseBlock(row)});
    scores.row(q) = predict(model, over_needed(model, one), ctx).scores.row(0);
  }
  return scores;
}

TEST(SvmKnn, SharesWorkAlongAPathWithoutAChange) {
  for (const Task& setup : {three_classes(), definite_task(24)}) {
    SharedWork work(setup.set);
    RunContext ctx;
    for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift}) {
      std::vector<SvmKnnModel> models;
      for (const Index k : {2, 5, 6, 7, 15, 24}) {
        for (const double cost : {0.01, 1.0, 1e3, 1e4}) {
          for (const Multiclass multiclass : {Multiclass::kOneVsOne, Multiclass::kOneVsRest}) {
            models.push_back(fit(work,
                                 SvmKnnSettings{.neighbours = k,
                                                .cost = cost,
                                                .spectrum = spectrum,
                                                .multiclass = multiclass,
                                                .tolerance = 1e-9},
                                 ctx)
                                 .model);
          }
        }
      }
      const std::vector<Prediction> found =
          predict_path(std::span<const SvmKnnModel>(models), setup.queries, ctx);
      for (std::size_t i = 0; i < models.size(); ++i) {
        const SvmKnnSettings& own = models[i].settings;
        const Matrix expected =
            by_definition(setup, own.neighbours, own.cost, spectrum, own.multiclass);
        EXPECT_LT((found[i].scores - expected).cwiseAbs().maxCoeff(), 1e-4)
            << own.neighbours << " neighbours, cost " << own.cost;
      }
    }
  }
}

}  // namespace
}  // namespace kith::svm_knn_test
