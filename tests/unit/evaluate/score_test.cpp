// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/score.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kith/core/rng.hpp"
#include "kith/evaluate/metrics.hpp"
#include "support/files.hpp"

namespace kith::score_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModelRecord record_of(std::vector<std::string> classes, std::vector<Index> counts = {}) {
  ModelRecord record;
  record.method = "svm";
  record.class_names = std::move(classes);
  record.class_counts = std::move(counts);
  return record;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

/// Labels alone, as methods without scores and probabilities give them.
Prediction plain(std::vector<int> labels) {
  return {.labels = std::move(labels), .scores = {}, .probabilities = {}};
}

struct Drawn {
  std::vector<int> truth;
  std::vector<std::string> names;
  Prediction prediction;
};

/// Predictions with scores and probabilities of which about half are right.
Drawn drawn(int classes, int samples, std::uint64_t seed) {
  Rng rng = RngStreams(seed).stream("score");
  Drawn made;
  made.prediction.scores = Matrix(samples, classes);
  made.prediction.probabilities = Matrix(samples, classes);
  for (int i = 0; i < samples; ++i) {
    made.truth.push_back(static_cast<int>(rng.below(static_cast<std::uint64_t>(classes))));
    made.names.push_back("c" + std::to_string(made.truth.back()));
    for (int c = 0; c < classes; ++c) {
      // Tenths: some are equal.
      const double lead = c == made.truth.back() ? 0.6 : 0.0;
      made.prediction.scores(i, c) = lead + 0.1 * static_cast<double>(1 + rng.below(10));
    }
    made.prediction.probabilities.row(i) =
        made.prediction.scores.row(i) / made.prediction.scores.row(i).sum();
    Index best = 0;
    made.prediction.scores.row(i).maxCoeff(&best);
    made.prediction.labels.push_back(static_cast<int>(best));
  }
  return made;
}

std::vector<std::string> class_names(int classes) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(classes));
  for (int c = 0; c < classes; ++c) names.push_back("c" + std::to_string(c));
  return names;
}

Prediction rows_of(const Prediction& all, Index first, Index count) {
  const auto begin = all.labels.begin() + first;
  return {.labels = {begin, begin + count},
          .scores = all.scores.middleRows(first, count),
          .probabilities = all.probabilities.middleRows(first, count)};
}

TEST(Scorer, CountsByHand) {
  const ModelRecord record = record_of({"a", "b", "c"}, {2, 5, 5});
  Scorer scorer(record);
  const std::vector<std::string> truth = {"a", "a", "a", "b", "b", "new"};
  scorer.add(views(truth), plain({0, 0, 1, 1, 0, 1}));
  const Score score = scorer.finish();
  EXPECT_EQ(score.samples, 6);
  EXPECT_EQ(score.wrong, 3);
  EXPECT_EQ(score.error, 0.5);
  EXPECT_EQ(score.interval.low, wilson_interval(3, 6).low);
  EXPECT_EQ(score.interval.high, wilson_interval(3, 6).high);
  ASSERT_EQ(score.classes.size(), 4U);
  EXPECT_EQ(score.classes[0].recall(), 2.0 / 3);
  EXPECT_EQ(score.classes[0].precision(), 2.0 / 3);
  EXPECT_EQ(score.classes[1].recall(), 0.5);
  EXPECT_EQ(score.classes[1].precision(), 1.0 / 3);
  EXPECT_EQ(score.classes[1].precision_interval()->high, wilson_interval(1, 3).high);
  EXPECT_EQ(score.classes[2].recall(), std::nullopt);
  EXPECT_FALSE(score.classes[2].recall_interval().has_value());
  EXPECT_EQ(score.classes[3].name, "new");
  EXPECT_FALSE(score.classes[3].known);
  EXPECT_EQ(score.classes[3].recall(), 0.0);
  EXPECT_EQ(score.classes[3].precision(), std::nullopt);
  Matrix confusion(4, 4);
  confusion << 2, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0;
  EXPECT_EQ(score.confusion, confusion);
  EXPECT_DOUBLE_EQ(score.balanced_error, (1.0 / 3 + 1.0 / 2 + 1) / 3);
  ASSERT_TRUE(score.baseline.has_value());
  EXPECT_EQ(score.baseline->class_name, "b") << "of equals the first";
  EXPECT_DOUBLE_EQ(score.baseline->error, 4.0 / 6);
  EXPECT_FALSE(score.log_loss || score.auc || score.mean_cost);
  EXPECT_THAT(score.calibration, IsEmpty());
  EXPECT_THAT(score.notes,
              ElementsAre(AllOf(HasSubstr("this class: \"new\""), HasSubstr("The sample counts")),
                          AllOf(HasSubstr("1 class of the model"), HasSubstr("\"c\""))));
}

TEST(Scorer, HasTheMetricsOfAnEvaluation) {
  for (const int classes : {2, 3}) {
    const Drawn made = drawn(classes, 200, 7);
    const ModelRecord record = record_of(class_names(classes));
    Scorer scorer(record);
    scorer.add(views(made.names), made.prediction);
    const Score score = scorer.finish();
    const auto metric = [&](Metric one) {
      return metric_value(one, made.truth, made.prediction, classes, 0);
    };
    EXPECT_EQ(score.error, metric(Metric::kError));
    EXPECT_EQ(score.balanced_error, metric(Metric::kBalancedError));
    EXPECT_EQ(score.log_loss, metric(Metric::kLogLoss));
    EXPECT_EQ(score.confusion, confusion(made.truth, made.prediction.labels, classes));
    EXPECT_EQ(score.auc, classes == 2 ? metric(Metric::kAuc) : std::nullopt);
    EXPECT_FALSE(score.baseline.has_value()) << "the record does not say what was seen";
  }
}

TEST(Scorer, TakesSamplesInPiecesOfAnySize) {
  const Drawn made = drawn(2, 90, 3);
  const ModelRecord record = record_of(class_names(2), {4, 6});
  Scorer whole(record);
  whole.add(views(made.names), made.prediction);
  Scorer pieces(record);
  const std::vector<std::string_view> truth = views(made.names);
  for (Index first = 0; first < 90; first += 30) {
    pieces.add(std::span(truth).subspan(static_cast<std::size_t>(first), 30),
               rows_of(made.prediction, first, 30));
  }
  EXPECT_EQ(score_json(whole.finish()).dump(), score_json(pieces.finish()).dump());
}

TEST(Scorer, OrdersByProbabilitiesWhereThereAreNoScores) {
  Drawn made = drawn(2, 120, 5);
  const ModelRecord record = record_of(class_names(2));
  made.prediction.scores = {};
  // Sixteenths, so that equal differences are equal in every digit.
  Matrix& p = made.prediction.probabilities;
  p.col(0) = (16 * p.col(0)).array().round() / 16;
  p.col(1) = 1 - p.col(0).array();
  Scorer scorer(record);
  scorer.add(views(made.names), made.prediction);
  EXPECT_NEAR(scorer.finish().auc.value(),
              metric_value(Metric::kAuc, made.truth, made.prediction, 2, 0).value(), 1e-12);
}

TEST(Scorer, SumsTheCostsOfTheModel) {
  ModelRecord record = record_of({"a", "b"});
  record.decision.costs = (Matrix(2, 2) << 0.5, 7, 3, 0).finished();
  Scorer scorer(record);
  const std::vector<std::string> truth = {"a", "a", "b", "b", "other"};
  scorer.add(views(truth), plain({0, 1, 0, 1, 1}));
  EXPECT_DOUBLE_EQ(scorer.finish().mean_cost.value(), (0.5 + 7 + 3 + 0 + 1) / 5);
}

TEST(Scorer, GivesAClassThatTheModelNeverSawProbabilityZero) {
  const ModelRecord record = record_of({"a", "b"});
  Scorer scorer(record);
  Prediction prediction = plain({0, 0});
  prediction.probabilities = (Matrix(2, 2) << 0.8, 0.2, 0.9, 0.1).finished();
  const std::vector<std::string> truth = {"a", "new"};
  scorer.add(views(truth), prediction);
  const Score score = scorer.finish();
  EXPECT_DOUBLE_EQ(score.log_loss.value(), -(std::log(0.8) + std::log(1e-15)) / 2);
  EXPECT_EQ(score.calibration[8].right, 1);
  EXPECT_EQ(score.calibration[9].right, 0);
  EXPECT_FALSE(score.auc.has_value()) << "there is no sample of b";
}

TEST(Scorer, PutsUnknownClassesInTheirNaturalOrder) {
  const ModelRecord record = record_of({"5"});
  Scorer scorer(record);
  const std::vector<std::string> truth = {"10", "9", "x", "10"};
  scorer.add(views(truth), plain({0, 0, 0, 0}));
  std::vector<std::string> names;
  for (const ClassScore& one : scorer.finish().classes) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("5", "9", "10", "x"));
}

TEST(Scorer, NamesSamplesThatTheModelWasTrainedOn) {
  ModelRecord record = record_of({"a"});
  record.id_hashes = id_hashes(std::vector<std::string>{"t0", "t1"});
  const std::vector<std::string> truth = {"a", "a"};
  Scorer scorer(record);
  scorer.add(views(truth), plain({0, 0}), std::vector<std::string>{"q", "t1"});
  EXPECT_THAT(scorer.finish().notes,
              ElementsAre(AllOf(HasSubstr("1 of 2 samples"), HasSubstr("\"t1\""))));
}

TEST(Scorer, RefusesNoSamplesAndUnequalNumbers) {
  const ModelRecord record = record_of({"a"});
  Scorer scorer(record);
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, [&] { (void)scorer.finish(); }),
              HasSubstr("no sample"));
  const std::vector<std::string> truth = {"a"};
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] {
                         scorer.add(views(truth), plain({0, 0}));
                       }),
              HasSubstr("1 true classes for 2 predictions"));
}

TEST(ScoreJson, HasNullForWhatDoesNotExist) {
  const ModelRecord record = record_of({"a", "b"});
  Scorer scorer(record);
  const std::vector<std::string> truth = {"a"};
  scorer.add(views(truth), plain({0}));
  const Json json = score_json(scorer.finish());
  for (const char* key :
       {"baseline", "baseline_class", "log_loss", "auc", "mean_cost", "calibration"}) {
    EXPECT_TRUE(json.at(key).is_null()) << key;
  }
  EXPECT_EQ(json.at("interval").size(), 2U);
  EXPECT_TRUE(json.at("classes")[1].at("recall_interval").is_null());
  EXPECT_EQ(json.at("confusion").at("counts").dump(), "[[1,0],[0,0]]");
}

}  // namespace
}  // namespace kith::score_test
