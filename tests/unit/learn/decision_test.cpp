// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/decision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"

namespace kith::decision_test {
namespace {

Labels labels() { return make_labels(std::vector<std::string>{"a", "a", "a", "b"}); }

Prediction prediction(double p_of_a) {
  Prediction result;
  result.labels = {p_of_a >= 0.5 ? 0 : 1};
  result.probabilities = Matrix{{p_of_a, 1 - p_of_a}};
  return result;
}

std::string refusal(const DecisionSettings& settings) {
  try {
    (void)make_decision_rule(settings, labels());
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DecisionSettings, StandInARecordBesideThoseOfTheMethodWhereGiven) {
  const Json method = {{"cost", 1}};
  Json record = method;
  add_decision({}, record);
  EXPECT_EQ(record, method);
  add_decision({.costs = "a:b=5"}, record);
  EXPECT_EQ(record, (Json{{"cost", 1}, {"costs", "a:b=5"}}));
  EXPECT_EQ(without_decision(record), method);
  EXPECT_TRUE(is_of_decision("priors"));
  EXPECT_FALSE(is_of_decision("cost"));
}

TEST(DecisionRule, LeavesTheLabelAloneWhenNothingIsGiven) {
  Prediction result = prediction(0.2);
  const DecisionRule rule = make_decision_rule({}, labels());
  EXPECT_TRUE(rule.empty());
  apply(rule, result);
  EXPECT_EQ(result.labels[0], 1);
}

TEST(DecisionRule, ChoosesTheLabelOfLeastExpectedCost) {
  Prediction result = prediction(0.2);
  apply(make_decision_rule({.costs = "a:b=5"}, labels()), result);  // 0.2 * 5 > 0.8 * 1
  EXPECT_EQ(result.labels[0], 0);
  result = prediction(0.1);
  apply(make_decision_rule({.costs = "a:b=5"}, labels()), result);  // 0.1 * 5 < 0.9 * 1
  EXPECT_EQ(result.labels[0], 1);
}

TEST(DecisionRule, ReplacesTheTrainingSharesByThePriors) {
  Prediction result = prediction(0.75);
  apply(make_decision_rule({.priors = "a=1,b=1"}, labels()), result);  // shares were 0.75 and 0.25
  EXPECT_NEAR(result.probabilities(0, 0), 0.5, 1e-12);
  result = prediction(0.75);
  apply(make_decision_rule({.priors = "a=1,b=3"}, labels()), result);
  EXPECT_EQ(result.labels[0], 1);
  EXPECT_NEAR(result.probabilities.sum(), 1, 1e-12);
}

TEST(DecisionRule, ReadsFiles) {
  const std::string path = testing::TempDir() + "kith_decision_costs.tsv";
  std::ofstream(path) << "a\tb\t7\r\n\n";
  const DecisionRule rule = make_decision_rule({.costs = path}, labels());
  EXPECT_EQ(rule.costs(0, 1), 7);
  EXPECT_EQ(rule.costs(1, 0), 1);
  EXPECT_EQ(rule.costs(0, 0), 0);
  std::ofstream(path) << "a\tb\n";
  EXPECT_THAT(refusal({.costs = path}), testing::HasSubstr("kith_decision_costs.tsv:1: 2 columns"));
}

TEST(DecisionRule, RefusesWithTheRule) {
  EXPECT_THAT(refusal({.costs = "a:z=5"}),
              testing::HasSubstr("no class \"z\"; the classes are a and b"));
  EXPECT_THAT(refusal({.costs = "a:b"}), testing::HasSubstr("truth:said=cost"));
  EXPECT_THAT(refusal({.costs = "a:b=-1"}), testing::HasSubstr("at least 0"));
  EXPECT_THAT(refusal({.priors = "a=1"}), testing::HasSubstr("class \"b\" has none"));
  EXPECT_THAT(refusal({.priors = "a=0,b=0"}), testing::HasSubstr("above 0"));
}

TEST(DecisionRule, NamesOfClassesMayContainSeparators) {
  const Labels odd = make_labels(std::vector<std::string>{"a=b", "c,d", "e:f", "e"});
  const DecisionRule rule =
      make_decision_rule({.priors = "a=b=1,c,d=2,e:f=3,e=4", .costs = "e:f:c,d=7,e:e:f=5"}, odd);
  const auto at = [&](const std::string& name) {
    return std::find(odd.names.begin(), odd.names.end(), name) - odd.names.begin();
  };
  EXPECT_EQ(rule.costs(at("e:f"), at("c,d")), 7);
  EXPECT_EQ(rule.costs(at("e"), at("e:f")), 5);
  EXPECT_DOUBLE_EQ(rule.priors(at("c,d")), 0.2);
  EXPECT_DOUBLE_EQ(rule.priors(at("e")), 0.4);
}

TEST(DecisionRule, NeedsProbabilities) {
  Prediction result;
  result.labels = {0};
  EXPECT_THROW(apply(make_decision_rule({.priors = "a=1,b=1"}, labels()), result), Error);
}

}  // namespace
}  // namespace kith::decision_test
