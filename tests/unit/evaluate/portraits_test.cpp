// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/portraits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"
#include "support/training_sets.hpp"

namespace kith::portraits_test {
namespace {

constexpr std::array<int, 6> kClasses = {0, 1, 0, 1, 0, 1};

ExperimentData data_of(const RowMatrix& S, InputSettings input) {
  SimilaritySet set;
  set.name = "made";
  set.block = DenseBlock(S);
  RunContext ctx;
  return make_experiment_data({.sets = {set}, .ids = {}}, test::numbered_labels(kClasses), input,
                              ctx);
}

Json about_of(const ExperimentData& data) {
  RunContext ctx;
  const std::vector<Candidate> candidates = {parse_candidate("knn")};
  Json about = Json::object();
  add_portraits(about, data, check_input(data, candidates, Transforms::kApplied, ctx), ctx);
  return about;
}

TEST(Portraits, AreOfEveryTable) {
  const Json about = about_of(data_of(RowMatrix::Identity(6, 6), {}));
  ASSERT_EQ(about.at("portraits").size(), 1U);
  EXPECT_EQ(about.at("portraits")[0].at("n"), 6);
  EXPECT_FALSE(about.contains("no_portraits_because"));
}

TEST(Portraits, AreNotDrawnOfATableThatBreaksAnInputRule) {
  RowMatrix S = RowMatrix::Identity(6, 6);
  S(2, 2) = -1;
  const ExperimentData data = data_of(S, {.scale = ScaleRule::kCosine});
  EXPECT_THROW((void)about_of(data), Error);
}

TEST(Portraits, AreWantedOnceByAStore) {
  const ExperimentData data = data_of(RowMatrix::Identity(6, 6), {});
  Store store(":memory:");
  EXPECT_TRUE(wants_portraits(data, store, "made"));
  ExperimentRecord record;
  record.name = "made";
  record.labels = data.labels;
  (void)store.add_experiment(record);
  EXPECT_FALSE(wants_portraits(data, store, "made"));
  EXPECT_TRUE(wants_portraits(data, store, "other"));
}

}  // namespace
}  // namespace kith::portraits_test
