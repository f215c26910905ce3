// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/pipeline.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <vector>

#include "support/errors.hpp"
#include "tables.hpp"

namespace kith::pipeline_test {
namespace {

using test::conditioned;
using test::kNan;
using test::message_of;
using test::numbers;
using test::random_distances;
using test::random_table;
using test::set_of;
using test::training_as_new;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<InputSettings> every_combination(PairKind kind) {
  std::vector<InputSettings> all;
  using Ending = std::tuple<Rescale, InputTransform, std::optional<double>>;
  const std::vector<Ending> endings = {{Rescale::kNone, InputTransform::kNone, 0.7},
                                       {Rescale::kNone, InputTransform::kRowsRbf, std::nullopt},
                                       {Rescale::kSpread, InputTransform::kNone, std::nullopt},
                                       {Rescale::kSpread, InputTransform::kRowsRbf, 0.7}};
  const int distance_rules = kind == PairKind::kDistance ? 6 : 1;
  for (int symmetrise = 0; symmetrise < 5; ++symmetrise) {
    for (int diagonal = 0; diagonal < 3; ++diagonal) {
      for (int scale = 0; scale < 3; ++scale) {
        for (int from = 0; from < distance_rules; ++from) {
          for (const auto& [rescale, transform, gamma] : endings) {
            all.push_back({.symmetrise = static_cast<Symmetrise>(symmetrise),
                           .diagonal = static_cast<DiagonalRule>(diagonal),
                           .scale = static_cast<ScaleRule>(scale),
                           .rescale = rescale,
                           .from_distance = static_cast<FromDistance>(from),
                           .gamma = gamma,
                           .transform = transform});
          }
        }
      }
    }
  }
  return all;
}

/// negative and negative-square leave no positive diagonal, and double centring may not.
bool can_be_cosine(const SimilaritySet& set, const InputSettings& settings) {
  InputSettings unscaled = settings;
  unscaled.scale = ScaleRule::kNone;
  unscaled.rescale = Rescale::kNone;
  unscaled.transform = InputTransform::kNone;
  return (conditioned(set, unscaled).diagonal().array() > 0).all();
}

/// The largest difference between the conditioned training block and its rows presented as new.
/// A diagonal rule changes only the diagonal, so that is left aside; where rows are compared
/// afterwards (rows-rbf) every entry depends on it, and there is nothing to compare.
void expect_rows_come_back(const RowMatrix& raw, PairKind kind, const InputSettings& settings) {
  const SimilaritySet set = set_of(raw, kind);
  if (settings.scale == ScaleRule::kCosine && !can_be_cosine(set, settings)) return;
  const bool changed_diagonal = settings.diagonal != DiagonalRule::kGiven;
  if (changed_diagonal && settings.transform == InputTransform::kRowsRbf) return;

  const ConditionedInput input = condition_training(set, settings, {});
  RowMatrix expected = numbers(input);
  ASSERT_TRUE(expected.allFinite());
  const double scale = std::max(1.0, expected.cwiseAbs().maxCoeff());
  const QueryMatrix query = condition_query(input.rule, training_as_new(raw), {});
  RowMatrix to = numbers(query.to_training);
  const std::string what = fmt::format("{} {}", settings_json(settings).dump(),
                                       kind == PairKind::kDistance ? "distance" : "similarity");
  ASSERT_TRUE(query.self.has_value()) << what;
  EXPECT_LE((*query.self - expected.diagonal()).cwiseAbs().maxCoeff(), 1e-13 * scale) << what;
  if (changed_diagonal) {
    to.diagonal().setZero();
    expected.diagonal().setZero();
  }
  EXPECT_LE((to - expected).cwiseAbs().maxCoeff(), 1e-13 * scale) << what;
  if (query.from_training) {
    RowMatrix from = numbers(*query.from_training);
    if (changed_diagonal) from.diagonal().setZero();
    EXPECT_LE((from - expected.transpose()).cwiseAbs().maxCoeff(), 1e-13 * scale) << what;
  }
}

TEST(InputPipeline, ATrainingRowPresentedAsNewIsItsRowOfTheTrainingBlock) {
  for (const bool symmetric : {true, false}) {
    for (const Index n : {1, 2, 7}) {
      for (const InputSettings& settings : every_combination(PairKind::kSimilarity)) {
        expect_rows_come_back(random_table(n, 3, symmetric), PairKind::kSimilarity, settings);
      }
      for (const InputSettings& settings : every_combination(PairKind::kDistance)) {
        expect_rows_come_back(random_distances(n, 4, symmetric), PairKind::kDistance, settings);
      }
    }
  }
}

TEST(InputPipeline, ThreadsDoNotChangeABit) {
  const Index n = 150;
  for (const PairKind kind : {PairKind::kSimilarity, PairKind::kDistance}) {
    const RowMatrix raw = random_table(n, 5, false);
    for (const InputSettings& settings : every_combination(kind)) {
      if (settings.scale == ScaleRule::kCosine && !can_be_cosine(set_of(raw, kind), settings)) {
        continue;
      }
      RunContext two;
      two.threads = 2;
      const ConditionedInput one_thread = condition_training(set_of(raw, kind), settings, {});
      const ConditionedInput two_threads = condition_training(set_of(raw, kind), settings, two);
      EXPECT_EQ(numbers(one_thread), numbers(two_threads));
    }
  }
}

TEST(InputPipeline, DefaultsPassACompleteBlockOnWithoutCopyingIt) {
  SimilaritySet set = set_of(random_table(4, 6, false));
  const double* before = std::get<DenseBlock>(set.block).values().data();
  const ConditionedInput input = condition_training(std::move(set), {}, {});
  EXPECT_EQ(std::get<DenseBlock>(input.matrix.block).values().data(), before);
  EXPECT_TRUE(input.applied.empty());
  EXPECT_THAT(input.kept, ElementsAre(0, 1, 2, 3));
}

TEST(InputPipeline, LeavesWhatTheCallerStillHoldsAlone) {
  const RowMatrix raw = random_table(4, 6, false);
  const SimilaritySet set = set_of(raw);
  (void)condition_training(set, {.symmetrise = Symmetrise::kMax, .scale = ScaleRule::kUnit}, {});
  EXPECT_EQ(numbers(set.block), raw);
}

TEST(InputPipeline, KeepsWhatWasAppliedBefore) {
  SimilaritySet set = set_of(random_table(3, 1, true), PairKind::kDistance);
  set.applied = {"read"};
  EXPECT_THAT(condition_training(set, {}, {}).applied,
              ElementsAre("read", "distances turned into similarities by -1/2 J D^2 J"));
}

TEST(InputPipeline, RefusesATableThatIsNotSquare) {
  EXPECT_THAT(message_of([] { (void)condition_training(set_of(RowMatrix::Ones(2, 3)), {}, {}); }),
              AllOf(HasSubstr("2 x 3"), HasSubstr("square")));
}

TEST(InputSymmetrise, CombinesBothDirections) {
  RowMatrix raw(2, 2);
  raw << 1, 2, 5, 1;
  RowMatrix expected(2, 2);
  expected << 1, 3.5, 3.5, 1;
  EXPECT_EQ(conditioned(set_of(raw), {.symmetrise = Symmetrise::kMean}), expected);
  expected << 1, 5, 5, 1;
  EXPECT_EQ(conditioned(set_of(raw), {.symmetrise = Symmetrise::kMax}), expected);
  expected << 1, 2, 2, 1;
  EXPECT_EQ(conditioned(set_of(raw), {.symmetrise = Symmetrise::kMin}), expected);
  EXPECT_EQ(conditioned(set_of(raw), {.symmetrise = Symmetrise::kKeep}), raw);
  EXPECT_EQ(conditioned(set_of(raw), {.symmetrise = Symmetrise::kAuto}), raw);
}

TEST(InputSymmetrise, TakesTheKnownDirection) {
  RowMatrix raw(2, 2);
  raw << 1, kNan, 5, 1;
  RowMatrix expected(2, 2);
  expected << 1, 5, 5, 1;
  EXPECT_EQ(conditioned(set_of(raw), {.symmetrise = Symmetrise::kMean}), expected);
}

TEST(InputSymmetrise, IsExactlySymmetricAcrossTiles) {
  const RowMatrix values =
      conditioned(set_of(random_table(150, 8, false)), {.symmetrise = Symmetrise::kMean});
  EXPECT_EQ(values, RowMatrix(values.transpose()));
}

TEST(InputSymmetrise, SaysWhenNewRowsHaveOneDirectionOnly) {
  const InputSettings settings{.symmetrise = Symmetrise::kMean};
  const InputRule asymmetric =
      condition_training(set_of(random_table(4, 6, false)), settings, {}).rule;
  EXPECT_THAT(query_note(asymmetric, false, false), HasSubstr("[[similarity-from]]"));
  EXPECT_EQ(query_note(asymmetric, true, true), "");
  const InputRule symmetric =
      condition_training(set_of(random_table(4, 6, true)), settings, {}).rule;
  EXPECT_EQ(query_note(symmetric, false, true), "");
}

TEST(InputSymmetrise, SaysOfTablesLeftAsTheyAreWhatAMethodMadeOfThem) {
  const InputRule asymmetric = condition_training(set_of(random_table(4, 6, false)), {}, {}).rule;
  EXPECT_THAT(query_note(asymmetric, false, true), HasSubstr("the mean of both directions"));
  EXPECT_EQ(query_note(asymmetric, false, false), "");
  EXPECT_EQ(query_note(asymmetric, true, true), "");
  RowMatrix rounded = random_table(4, 6, true);
  rounded(1, 2) *= 1 + 1e-15;
  EXPECT_EQ(query_note(condition_training(set_of(rounded), {}, {}).rule, false, true), "");
}

TEST(InputRuleFile, RestoresARuleThatGivesTheSameBytes) {
  for (const PairKind kind : {PairKind::kSimilarity, PairKind::kDistance}) {
    const RowMatrix raw = random_table(6, 5, false);
    for (const InputSettings& settings : every_combination(kind)) {
      if (settings.scale == ScaleRule::kCosine && !can_be_cosine(set_of(raw, kind), settings)) {
        continue;
      }
      const InputRule rule = condition_training(set_of(raw, kind), settings, {}).rule;
      const Json stored = Json::parse(rule_json(rule).dump());
      const InputRule back = restore_rule(stored, rule_tensors(rule));
      const QueryMatrix before = condition_query(rule, training_as_new(raw), {});
      const QueryMatrix after = condition_query(back, training_as_new(raw), {});
      EXPECT_EQ(numbers(before.to_training), numbers(after.to_training));
      EXPECT_EQ(*before.self, *after.self);
      EXPECT_EQ(rule_json(back), rule_json(rule));
    }
  }
}

TEST(InputRuleFile, RefusesPartsThatDoNotFit) {
  const InputSettings settings{.scale = ScaleRule::kCosine};
  const InputRule rule = condition_training(set_of(random_table(4, 5, true)), settings, {}).rule;
  const Json json = rule_json(rule);
  EXPECT_THAT(message_of([&] { (void)restore_rule(json, {}); }),
              HasSubstr("input.root_diagonal is absent"));
  const std::vector<NamedTensor> narrow = {
      {"input.root_diagonal", DenseBlock(RowMatrix::Ones(1, 3))}};
  EXPECT_THAT(message_of([&] { (void)restore_rule(json, narrow); }), HasSubstr("1 x 3"));
  for (const char* key :
       {"kind", "settings", "samples", "span", "spread", "gamma", "keeps-missing"}) {
    Json broken = json;
    broken.erase(key);
    EXPECT_THAT(message_of([&] { (void)restore_rule(broken, rule_tensors(rule)); }),
                HasSubstr(key));
    broken[key] = Json::array();
    EXPECT_NE(message_of([&] { (void)restore_rule(broken, rule_tensors(rule)); }),
              "nothing was thrown")
        << key;
  }
}

TEST(InputRuleRestricted, ServesTheColumnsItKept) {
  const RowMatrix raw = random_table(5, 5, true);
  const std::vector<Index> columns = {1, 4};
  for (const ScaleRule scale : {ScaleRule::kNone, ScaleRule::kUnit, ScaleRule::kCosine}) {
    const InputRule rule = condition_training(set_of(raw), {.scale = scale}, {}).rule;
    const std::optional<InputRule> part = restricted(rule, columns);
    ASSERT_TRUE(part.has_value());
    const Vector self = raw.diagonal();
    const RowMatrix few = raw(Eigen::all, columns);
    const RowMatrix whole = numbers(
        condition_query(rule, {.to_training = DenseBlock(raw), .self = self}, {}).to_training);
    const RowMatrix narrow = numbers(
        condition_query(*part, {.to_training = DenseBlock(few), .self = self}, {}).to_training);
    EXPECT_EQ(narrow, RowMatrix(whole(Eigen::all, columns)));
  }
  const SimilaritySet distances = set_of(random_distances(5, 5, true), PairKind::kDistance);
  EXPECT_FALSE(restricted(condition_training(distances, {}, {}).rule, columns).has_value());
}

TEST(InputQuery, NamesShapesThatDoNotFit) {
  const InputRule rule = condition_training(set_of(random_table(3, 5, true)), {}, {}).rule;
  const auto query = [&](const QueryMatrix& raw) {
    return message_of([&] { (void)condition_query(rule, raw, {}); });
  };
  EXPECT_THAT(query({.to_training = DenseBlock(RowMatrix::Ones(2, 4))}),
              AllOf(HasSubstr("4 columns"), HasSubstr("3 samples")));
  EXPECT_THAT(query({.to_training = DenseBlock(RowMatrix::Ones(2, 3)),
                     .from_training = DenseBlock(RowMatrix::Ones(1, 3))}),
              AllOf(HasSubstr("2 rows"), HasSubstr("1 from")));
  EXPECT_THAT(query({.to_training = DenseBlock(RowMatrix::Ones(2, 3)), .self = Vector::Ones(3)}),
              AllOf(HasSubstr("2 queries"), HasSubstr("3 self")));
  EXPECT_THAT(
      query({.to_training = DenseBlock(RowMatrix::Ones(1, 3)), .self = Vector::Constant(1, kNan)}),
      HasSubstr("query 1"));
}

}  // namespace
}  // namespace kith::pipeline_test
