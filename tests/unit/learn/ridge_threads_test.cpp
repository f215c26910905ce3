// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kith/learn/ridge/ridge.hpp"
#include "support/training_sets.hpp"

namespace kith::ridge_threads_test {
namespace {

TEST(RidgeThreads, GiveTheSame) {
  const test::Sample sample = test::make_sample(60, 20, 4, 61);
  const TrainingSet set = test::training_set(sample.S, sample.classes);
  const std::vector<RidgeSettings> path = {{},
                                           {.ridge = 0.5},
                                           {.spectrum = Spectrum::kNone},
                                           {.spectrum = Spectrum::kSquare},
                                           {.spectrum = Spectrum::kDiffusion}};
  std::vector<Prediction> expected;
  for (const int threads : {1, 2, 7}) {
    RunContext ctx;
    ctx.threads = threads;
    SharedWork work(set);
    std::size_t at = 0;
    for (const auto& fitted : fit_path(work, std::span<const RidgeSettings>(path), ctx)) {
      const QueryBlock queries = over_needed(fitted.model, test::query_block(sample.rows));
      const Prediction found = predict(fitted.model, queries, ctx);
      if (threads == 1) expected.push_back(found);
      EXPECT_EQ(found.scores, expected[at].scores) << threads << " threads, setting " << at;
      EXPECT_EQ(found.probabilities, expected[at].probabilities);
      ++at;
    }
  }
}

}  // namespace
}  // namespace kith::ridge_threads_test
