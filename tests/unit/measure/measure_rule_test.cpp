// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/measure_rule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kith/core/error.hpp"
#include "support/files.hpp"

namespace kith::measure_rule_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const RawData kStrings = StringData{
    .source = "s.tsv", .ids = {"a", "b", "c", "d"}, .values = {"oak", "oaks", "elm", "helm"}};
const RawData kVectors = VectorData{
    .source = "v.csv",
    .ids = {},
    .values = DenseBlock((RowMatrix(4, 3) << 1, 0, 2, 0.5, 1, 0, -1, 2, 1, 3, 0.1, 0).finished())};
const RawData kSeries = SeriesData{
    .source = "t.csv", .ids = {}, .values = {{0, 1, 2}, {0, 0, 1, 2}, {2, 1}, {1, 1, 1, 1}}};
const RawData kSequences = SequenceData{
    .source = "p.fa", .ids = {}, .values = {"MKTAYIAKQR", "MKTAYIKQR", "GSHMLEDPVL", "WWRAG"}};
const RawData kSets = SetData{.source = "f.tsv",
                              .ids = {},
                              .values = {{"x", "y"}, {"y", "z", "w"}, {}, {"x", "y", "z", "w"}}};
const RawData kCategories = CategoryData{
    .source = "c.csv", .ids = {}, .values = {{"y", "n"}, {"y", "y"}, {"n", "y"}, {"n", "?"}}};
const Labels kLabels{.ids = {0, 0, 1, 1}, .names = {"left", "right"}};

const RawData& data_of(RawKind kind) {
  switch (kind) {
    case RawKind::kStrings:
      return kStrings;
    case RawKind::kVectors:
      return kVectors;
    case RawKind::kSeries:
      return kSeries;
    case RawKind::kSequences:
      return kSequences;
    case RawKind::kSets:
      return kSets;
    case RawKind::kCategories:
      break;
  }
  return kCategories;
}

LearnedMeasure learned(MeasureSettings settings) {
  const RawData& samples = data_of(measure_info(settings.measure).data);
  return learn_measure({"made", std::move(settings), samples, 0}, kLabels, RunContext{});
}

Matrix numbers(const Block& block) { return to_dense(block).values(); }

/// Equal up to the order of a sum.
void expect_near(const Matrix& found, const Matrix& expected) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  const double scale = 1 + expected.cwiseAbs().maxCoeff();
  EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), 1e-14 * scale);
}

class EveryMeasure : public testing::TestWithParam<std::size_t> {
 protected:
  MeasureSettings settings{.measure = static_cast<Measure>(GetParam())};
};

TEST_P(EveryMeasure, GivesATrainingSampleAsAQueryItsOwnRow) {
  const LearnedMeasure measured = learned(settings);
  EXPECT_EQ(broken_rule(measured.rule), "");
  const RawData& samples = data_of(measure_info(settings.measure).data);
  const QueryMatrix rows = measure_rows(measured.rule, samples, RunContext{});
  const Matrix pairs = numbers(measured.pairs.block);
  expect_near(numbers(rows.to_training), pairs);
  expect_near(*rows.self, pairs.diagonal());
  if (rows.from_training) {
    expect_near(numbers(*rows.from_training), pairs.transpose());
  } else {
    EXPECT_EQ(pairs, Matrix(pairs.transpose()));
  }
}

TEST_P(EveryMeasure, MeasuresAFewColumnsAsItMeasuresAll) {
  const MeasureRule all = learned(settings).rule;
  const MeasureRule twice =
      restricted(restricted(all, std::vector<Index>{0, 1, 3}), std::vector<Index>{1, 2});
  EXPECT_EQ(broken_rule(twice), "");
  const RawData& samples = data_of(measure_info(settings.measure).data);
  const Matrix wide = numbers(measure_rows(all, samples, RunContext{}).to_training);
  const Matrix narrow = numbers(measure_rows(twice, samples, RunContext{}).to_training);
  ASSERT_EQ(narrow.cols(), 2);
  EXPECT_EQ(Vector(narrow.col(0)), Vector(wide.col(1)));
  EXPECT_EQ(Vector(narrow.col(1)), Vector(wide.col(3)));
}

TEST_P(EveryMeasure, TakesNoQueriesAndNoColumns) {
  const MeasureRule all = learned(settings).rule;
  const RawData& samples = data_of(measure_info(settings.measure).data);
  const std::vector<Index> none;
  const QueryMatrix no_rows = measure_rows(all, select(samples, none), RunContext{});
  EXPECT_EQ(rows(no_rows.to_training), 0);
  EXPECT_EQ(cols(no_rows.to_training), 4);
  const QueryMatrix no_columns = measure_rows(restricted(all, none), samples, RunContext{});
  EXPECT_EQ(rows(no_columns.to_training), 4);
  EXPECT_EQ(cols(no_columns.to_training), 0);
}

INSTANTIATE_TEST_SUITE_P(MeasureRule, EveryMeasure,
                         testing::Range(std::size_t{0}, kEnumNames<Measure>.size()),
                         [](const testing::TestParamInfo<std::size_t>& one) {
                           std::string name(kEnumNames<Measure>[one.param]);
                           std::erase(name, '-');
                           return name;
                         });

TEST(MeasureRule, HasBothDirectionsWhereTheyDiffer) {
  const LearnedMeasure measured =
      learned({.measure = Measure::kTverskyContrast, .alpha = 0.8, .beta = 0.2});
  const QueryMatrix rows = measure_rows(measured.rule, kSets, RunContext{});
  const Matrix pairs = numbers(measured.pairs.block);
  EXPECT_NE(pairs, Matrix(pairs.transpose()));
  ASSERT_TRUE(rows.from_training.has_value());
  EXPECT_EQ(numbers(*rows.from_training), Matrix(pairs.transpose()));
}

TEST(MeasureRule, FixesGammaByAllTrainingSamples) {
  EXPECT_EQ(*learned({.measure = Measure::kGaussian}).rule.settings.gamma, 1.0 / 3);
  EXPECT_EQ(*learned({.measure = Measure::kGaussian, .gamma = 2}).rule.settings.gamma, 2);
  EXPECT_FALSE(learned({.measure = Measure::kLinear}).rule.settings.gamma.has_value());
}

TEST(MeasureRule, FixesWhatAlignmentsTakeFromTheirMatrix) {
  const MeasureSettings scores =
      learned({.measure = Measure::kSmithWaterman, .matrix = "pam30"}).rule.settings;
  EXPECT_EQ(scores.gap_open, 9);
  EXPECT_EQ(scores.gap_extend, 1);
  EXPECT_FALSE(scores.lambda.has_value());
  const MeasureSettings sure =
      learned({.measure = Measure::kSmithWaterman, .score = ScoreForm::kPValue, .lambda = 0.3})
          .rule.settings;
  EXPECT_EQ(sure.lambda, 0.3);
  EXPECT_EQ(sure.karlin_k, 0.041);
}

TEST(MeasureRule, KeepsTheSamplesThatItNeedsAlone) {
  const std::vector<Index> columns = {1, 3};
  const MeasureRule strings = restricted(learned({.measure = Measure::kEdit}).rule, columns);
  EXPECT_THAT(std::get<StringData>(strings.training).values, ElementsAre("oaks", "helm"));
  // Value differences are of distributions over all training samples.
  const MeasureRule categories =
      restricted(learned({.measure = Measure::kValueDifference}).rule, columns);
  EXPECT_EQ(size_of(categories.training), 4);
  EXPECT_THAT(categories.columns, ElementsAre(1, 3));
}

TEST(MeasureRule, RefusesNoise) {
  const MeasureSettings noisy{.measure = Measure::kGaussian, .perturb = Perturb::kCy, .xi = 0.1};
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { (void)learned(noisy); }),
              HasSubstr("perturb"));
}

TEST(MeasureRule, NamesWhatIsWrongWithIt) {
  const MeasureRule good = learned({.measure = Measure::kGaussian}).rule;
  MeasureRule bad = good;
  bad.settings.gamma.reset();
  EXPECT_THAT(broken_rule(bad), HasSubstr("gamma"));
  bad = good;
  bad.training = kStrings;
  EXPECT_THAT(broken_rule(bad), HasSubstr("takes vectors"));
  bad = good;
  bad.columns = {0, 1, 2, 4};
  EXPECT_THAT(broken_rule(bad), HasSubstr("ascending below 4"));
  bad = good;
  bad.columns.pop_back();
  EXPECT_THAT(broken_rule(bad), HasSubstr("3 columns"));
  bad = learned({.measure = Measure::kValueDifference}).rule;
  std::get<CategoryData>(bad.training).labels->ids[2] = 2;
  EXPECT_THAT(broken_rule(bad), HasSubstr("no class"));
  std::get<CategoryData>(bad.training).labels.reset();
  EXPECT_THAT(broken_rule(bad), HasSubstr("no labels"));
}

TEST(RawData, SelectsSamplesWithIdsAndLabels) {
  RawData data = kCategories;
  std::get<CategoryData>(data).labels = kLabels;
  std::get<CategoryData>(data).ids = {"p", "q", "r", "s"};
  const RawData part = select(data, std::vector<Index>{2, 0});
  const auto& chosen = std::get<CategoryData>(part);
  EXPECT_EQ(chosen.source, "c.csv");
  EXPECT_THAT(chosen.ids, ElementsAre("r", "p"));
  EXPECT_THAT(chosen.values, ElementsAre(ElementsAre("n", "y"), ElementsAre("y", "n")));
  EXPECT_THAT(chosen.labels->ids, ElementsAre(1, 0));
}

}  // namespace
}  // namespace kith::measure_rule_test
