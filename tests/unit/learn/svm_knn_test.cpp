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
  for (const Index k : {1, 2, 9}) {
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
      if (k == 1) EXPECT_EQ(explained[q].by, ExplainedBy::kVotes);
    }
  }
}

}  // namespace
}  // namespace kith::svm_knn_test
