// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/committee.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "kith/core/positions.hpp"
#include "kith/pipeline/explanation.hpp"
#include "support/tensor_bytes.hpp"
#include "support/training_sets.hpp"

namespace kith::committee_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Seats, AreThoseWithinThreeStandardErrorsOfTheLeast) {
  EXPECT_EQ(standard_error(0.1, 100), std::sqrt(0.1 * 0.9 / 100));
  const double reach = 0.1 + 3 * standard_error(0.1, 100);
  EXPECT_THAT(seats(std::vector<double>{reach, 0.1, reach + 1e-9, kNan, INFINITY, 0.15}, 100),
              ElementsAre(0, 1, 5));
  EXPECT_THAT(seats(std::vector<double>{INFINITY, 0.9}, 10), ElementsAre(1));
  EXPECT_THAT(message_of(
                  [] {
                    (void)seats(std::vector<double>{kNan, INFINITY}, 10);
                  },
                  ErrorCode::kInvalidArgument),
              HasSubstr("none of the methods"));
}

TEST(Seats, OfMethodsWithoutMistakesReachAFewMistakesFurther) {
  EXPECT_EQ(standard_error(0, 50), 1.0 / 50);
  EXPECT_THAT(seats(std::vector<double>{0, 0.06, 0.07}, 50), ElementsAre(0, 1));
}

TEST(Seats, OfCostsReachByTheirSampleStandardDeviation) {
  // Losses 0, 10, 0, 10: their deviation is that of four numbers.
  EXPECT_DOUBLE_EQ(standard_error_of_losses(20, 200, 4), std::sqrt(100.0 / 3 / 4));
  EXPECT_EQ(standard_error_of_losses(0, 0, 50), 1.0 / 50);
  const std::vector<double> own = {standard_error_of_losses(20, 200, 4), 1, 1};
  EXPECT_THAT(seats(std::vector<double>{5, 13, 14}, own), ElementsAre(0, 1));
}

TEST(Combined, GivesEachVoteAndTheRestToTheClassesByTheProbabilities) {
  Prediction sure;
  sure.labels = {0, 1};
  sure.probabilities = (Matrix(2, 2) << 0.9, 0.1, 0.4, 0.6).finished();
  Prediction voter;  // that has no probabilities: all of it is the vote
  voter.labels = {1, 1};
  const Prediction both = combined(std::vector<Prediction>{sure, voter}, 2);
  const Matrix expected = (Matrix(2, 2) << (0.6 + 0.4 * 0.9) / 2, (0.4 * 0.1 + 1) / 2,
                           0.4 * 0.4 / 2, (0.6 + 0.4 * 0.6 + 1) / 2)
                              .finished();
  EXPECT_LE((both.probabilities - expected).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_LE((both.probabilities.rowwise().sum() - Vector::Ones(2)).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(both.scores, both.probabilities);
  EXPECT_THAT(both.labels, ElementsAre(1, 1));
}

PreparedTraining prepared(const Matrix& S, std::span<const int> classes,
                          const InputSettings& input = {}, PairKind kind = PairKind::kSimilarity) {
  SimilaritySet set;
  set.name = "made";
  set.kind = kind;
  set.block = DenseBlock(RowMatrix(S));
  RunContext ctx;
  return prepare_training({.sets = {set}, .ids = {}}, test::numbered_labels(classes), input, ctx);
}

Seat seat(const char* method, const PreparedTraining& on, std::vector<Index> sources = {0}) {
  return {.name = method,
          .choice = parse_method(method),
          .prepared = &on,
          .sources = std::move(sources)};
}

QueryBlock rows_of(const Matrix& rows) { return test::query_block(rows); }

const test::Sample kSample = test::make_sample(30, 9, 3, 1);

TrainedModel committee_of(std::span<const Seat> members, const DecisionSettings& decision = {},
                          std::vector<Source> sources = {{.name = "made"}}) {
  RunContext ctx;
  return train_committee(members, sources, decision, ctx).model;
}

Prediction ask(const TrainedModel& model, const QueryBlock& rows) {
  RunContext ctx;
  return predict(model, rows, ctx);
}

/// What the members say, each trained and asked by itself.
std::vector<Prediction> alone(std::span<const Seat> members, const std::vector<QueryBlock>& rows) {
  std::vector<Prediction> said;
  for (std::size_t m = 0; m < members.size(); ++m) {
    RunContext ctx;
    said.push_back(
        predict(train(*members[m].prepared, members[m].choice, ctx).model, rows[m], ctx));
  }
  return said;
}

TEST(Committee, PredictsAsItsMembersTogether) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const PreparedTraining unit = prepared(kSample.S, kSample.classes, {.scale = ScaleRule::kUnit});
  const std::vector<Seat> members = {seat("knn", plain), seat("svm-clip", unit),
                                     seat("ridge-flip", plain), seat("nearest-mean", plain)};
  const TrainedModel model = committee_of(members);
  EXPECT_TRUE(has_probabilities(model));
  const QueryBlock rows = rows_of(kSample.rows);
  const Prediction expected = combined(alone(members, {rows, rows, rows, rows}), 3);
  const Prediction found = ask(model, rows);
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_EQ(found.probabilities, expected.probabilities);
  // Rows over the columns it needs are as good as rows over all.
  const Matrix needed = kSample.rows(Eigen::all, model.record.positions);
  EXPECT_EQ(ask(model, rows_of(needed)).probabilities, expected.probabilities);
}

TEST(Committee, EachMemberTakesItsOwnTable) {
  const test::Sample other = test::make_sample(30, 9, 3, 2);
  const PreparedTraining one = prepared(kSample.S, kSample.classes);
  const PreparedTraining two = prepared(other.S, other.classes);
  const std::vector<Seat> members = {seat("knn", two, {1}), seat("svm-clip", one, {0})};
  const TrainedModel model = committee_of(members, {}, {{.name = "first"}, {.name = "second"}});
  ASSERT_EQ(model.record.matrices.size(), 2U);
  EXPECT_EQ(model.record.matrices[1].name, "second");
  QueryBlock both = rows_of(kSample.rows);
  both.matrices.push_back(rows_of(other.rows).matrices.front());
  const Prediction expected =
      combined(alone(members, {rows_of(other.rows), rows_of(kSample.rows)}), 3);
  EXPECT_EQ(ask(model, both).probabilities, expected.probabilities);
  const TrainedModel back = load_trained_bytes(trained_bytes(model), "m.kith");
  EXPECT_EQ(ask(back, both).probabilities, expected.probabilities);
}

TEST(Committee, AppliesCostsToItsProbabilities) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const std::vector<Seat> members = {seat("knn", plain), seat("svm-clip", plain)};
  const Prediction without = ask(committee_of(members), rows_of(kSample.rows));
  const DecisionSettings decision{.priors = {}, .costs = "c0:c1=50,c0:c2=50"};
  const Prediction with = ask(committee_of(members, decision), rows_of(kSample.rows));
  for (Index q = 0; q < 9; ++q) {
    const auto p = without.probabilities.row(q);
    const Vector expected = Vector{{p[1] + p[2], 50 * p[0] + p[2], 50 * p[0] + p[1]}};
    Index best = 0;
    expected.minCoeff(&best);
    EXPECT_EQ(with.labels[static_cast<std::size_t>(q)], best) << q;
  }
  EXPECT_NE(with.labels, without.labels);
}

TEST(Committee, ComesBackFromItsFileByteForByte) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const PreparedTraining spread =
      prepared(kSample.S, kSample.classes, {.rescale = Rescale::kSpread});
  const std::vector<Seat> members = {seat("knn", plain), seat("svm-flip", spread),
                                     seat("ridge-square", spread)};
  const TrainedModel model =
      committee_of(members, {.priors = "c0=0.5,c1=0.25,c2=0.25", .costs = {}});
  const std::string bytes = trained_bytes(model);
  const TrainedModel back = load_trained_bytes(bytes, "m.kith");
  ASSERT_TRUE(back.is_committee());
  EXPECT_EQ(trained_bytes(back), bytes);
  const Prediction before = ask(model, rows_of(kSample.rows));
  const Prediction after = ask(back, rows_of(kSample.rows));
  EXPECT_EQ(before.labels, after.labels);
  EXPECT_EQ(before.probabilities, after.probabilities);
  EXPECT_EQ(model_json(back)["members"].size(), 3U);
}

TEST(Committee, TakesRowsOverAllSamplesThatWereGiven) {
  Matrix S = kSample.S;
  S(4, 6) = S(4, 9) = S(6, 4) = S(9, 4) = kNan;  // the fifth is dropped
  const PreparedTraining part = prepared(S, kSample.classes, {.missing = MissingRule::kDropSample});
  ASSERT_EQ(part.set.size(), 29);
  const std::vector<Seat> members = {seat("knn", part), seat("ridge-clip", part)};
  const TrainedModel model = committee_of(members);
  const Matrix kept = kSample.rows(Eigen::all, part.kept);
  const Prediction expected = ask(model, rows_of(kept));
  EXPECT_EQ(expected.probabilities,
            combined(alone(members, {rows_of(kept), rows_of(kept)}), 3).probabilities);
  EXPECT_EQ(ask(model, rows_of(kSample.rows)).probabilities, expected.probabilities);
}

TEST(Committee, RefusesRowsOfAnotherWidth) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const std::vector<Seat> members = {seat("knn", plain), seat("svm-clip", plain)};
  const TrainedModel model = committee_of(members);
  for (const Index width : {1, 7, 29, 31}) {
    EXPECT_THAT(message_of([&] { (void)ask(model, rows_of(Matrix::Ones(2, width))); },
                           ErrorCode::kInvalidArgument),
                HasSubstr("column"))
        << width;
  }
  EXPECT_THAT(message_of([&] { (void)ask(model, QueryBlock{}); }, ErrorCode::kInvalidArgument),
              HasSubstr("0 matrices"));
}

/// A file with these members, as a forger would write it.
std::string forged(const ModelRecord& record, const std::vector<std::string>& members,
                   const std::vector<std::vector<Index>>& sources, Index count) {
  return model_bytes(record, [&](SavingArchive& archive) {
    archive("members", count);
    for (std::size_t k = 0; k < members.size(); ++k) {
      archive("member." + std::to_string(k), members[k]);
      archive("member." + std::to_string(k) + ".sources", sources[k]);
    }
  });
}

TEST(CommitteeFile, RefusesMembersThatDoNotFit) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const std::vector<Seat> members = {seat("knn", plain), seat("svm-clip", plain)};
  const TrainedModel model = committee_of(members);
  const ModelRecord& record = model.record;
  const std::string knn = trained_bytes(model.members[0]);
  const auto refusal = [&](const std::vector<std::string>& parts,
                           const std::vector<std::vector<Index>>& sources, Index count) {
    const std::string bytes = forged(record, parts, sources, count);
    return message_of([&] { (void)load_trained_bytes(bytes, "m.kith"); });
  };
  // What is said first shows that the forgery itself is sound.
  EXPECT_NO_THROW((void)load_trained_bytes(forged(record, {knn}, {{0}}, 1), "m.kith"));
  for (const Index count : {Index{0}, Index{-1}, Index{1} << 40}) {
    EXPECT_THAT(refusal({}, {}, count), AllOf(HasSubstr("m.kith"), HasSubstr("members")));
  }
  EXPECT_THAT(refusal({knn}, {{0}}, 2), HasSubstr("member.1"));
  for (const std::vector<Index>& wrong : {std::vector<Index>{1}, std::vector<Index>{-1},
                                          std::vector<Index>{}, std::vector<Index>{0, 0}}) {
    EXPECT_THAT(refusal({knn}, {wrong}, 1), HasSubstr("no model of the same samples"));
  }
  EXPECT_THAT(refusal({trained_bytes(model)}, {{0}}, 1), HasSubstr("itself"));
  EXPECT_THAT(refusal({"no model at all"}, {{0}}, 1), HasSubstr("member.0"));
  const auto single = [](const PreparedTraining& on) {
    RunContext ctx;
    return trained_bytes(train(on, parse_method("knn"), ctx).model);
  };
  const test::Sample fewer = test::make_sample(24, 0, 3, 1);
  const test::Sample two = test::make_sample(30, 0, 2, 1);
  for (const test::Sample& other : {fewer, two}) {
    EXPECT_THAT(refusal({single(prepared(other.S, other.classes))}, {{0}}, 1),
                HasSubstr("no model of the same samples"));
  }
}

TEST(CommitteeFile, RefusesACommitteeWithoutMatrices) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const std::vector<Seat> members = {seat("knn", plain), seat("svm-clip", plain)};
  const TrainedModel model = committee_of(members);
  ModelRecord record = model.record;
  record.matrices.clear();
  TrainedModel bare = model.members[0];
  bare.record.matrices.clear();
  const std::string bytes = forged(record, {trained_bytes(bare)}, {{}}, 1);
  EXPECT_NE(message_of([&] { (void)load_trained_bytes(bytes, "m.kith"); }), "");
}

TEST(Settled, NeighbourMethodsGoByTheDistancesThemselves) {
  for (const char* method : {"knn", "svm-knn", "affinity-knn", "kri-clip"}) {
    EXPECT_EQ(settled({}, parse_method(method).settings).from_distance, FromDistance::kNegative)
        << method;
  }
  for (const char* method : {"svm-clip", "ridge", "sda"}) {
    EXPECT_EQ(settled({}, parse_method(method).settings).from_distance, FromDistance::kDoubleCentre)
        << method;
  }
  const InputSettings said{.from_distance = FromDistance::kExp};
  EXPECT_EQ(settled(said, parse_method("knn").settings), said);
}

TEST(Settled, TheNearestNeighbourIsTheOneAtTheLeastDistance) {
  Rng rng(5);
  Matrix D(40, 40);  // no metric: neighbours of centred squares would be others
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j <= i; ++j) D(i, j) = D(j, i) = i == j ? 0 : 0.1 + rng.uniform();
  }
  std::vector<int> classes;
  for (Index i = 0; i < 30; ++i) classes.push_back(static_cast<int>(i) % 3);
  const MethodChoice choice = parse_method("knn");
  MethodChoice nearest = choice;
  set(nearest, "neighbours", "1");
  for (const FromDistance rule :
       {FromDistance::kAuto, FromDistance::kExp, FromDistance::kNegativeSquare}) {
    const PreparedTraining on =
        prepared(D.topLeftCorner(30, 30), classes,
                 settled({.from_distance = rule}, nearest.settings), PairKind::kDistance);
    RunContext ctx;
    const TrainedModel model = train(on, nearest, ctx).model;
    const Prediction said = ask(model, rows_of(D.bottomLeftCorner(10, 30)));
    for (Index q = 0; q < 10; ++q) {
      Index least = 0;
      D.row(30 + q).head(30).minCoeff(&least);
      EXPECT_EQ(said.labels[static_cast<std::size_t>(q)], classes[static_cast<std::size_t>(least)]);
    }
  }
}

TEST(Committee, ExplainsByItsMembersEachWithItsShare) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const std::vector<Seat> members = {seat("knn", plain), seat("svm-clip", plain),
                                     seat("svm-knn", plain), seat("sda", plain)};
  const TrainedModel model = committee_of(members);
  RunContext ctx;
  const ExplainedPrediction found = predict_and_explain(model, rows_of(kSample.rows), ctx);
  EXPECT_EQ(found.prediction.labels, ask(model, rows_of(kSample.rows)).labels);
  ASSERT_EQ(found.left_out.size(), 1U);
  EXPECT_THAT(found.left_out[0], testing::StartsWith("sda: "));
  ASSERT_EQ(found.explanations.size(), 9U);
  // Three of four members divide a share each; where they disagree about a sample they cancel.
  const std::vector<int>& labels = found.prediction.labels;
  std::vector<std::vector<Explanation>> own;
  for (std::size_t m = 0; m < 3; ++m) {
    RunContext alone;
    const TrainedModel one = train(plain, members[m].choice, alone).model;
    own.push_back(explain(one.model, over_needed(one.model, rows_of(kSample.rows)), labels, alone));
  }
  for (std::size_t q = 0; q < 9; ++q) {
    EXPECT_EQ(found.explanations[q].by, ExplainedBy::kVotes);
    std::map<Index, double> expected;
    for (std::size_t m = 0; m < 3; ++m) {
      double total = 0;
      for (const Contribution& one : own[m][q].samples) total += std::abs(one.amount);
      for (const Contribution& one : own[m][q].samples) {
        const bool against = own[m][q].by == ExplainedBy::kTerms &&
                             kSample.classes[static_cast<std::size_t>(one.sample)] != labels[q];
        expected[one.sample] += (against ? -1 : 1) * one.amount / total / 4;
      }
    }
    double sum = 0;
    ASSERT_EQ(found.explanations[q].samples.size(), expected.size());
    for (const Contribution& one : found.explanations[q].samples) {
      EXPECT_NEAR(one.amount, expected.at(one.sample), 1e-12);
      sum += std::abs(one.amount);
    }
    EXPECT_LE(sum, 0.75 + 1e-12);
  }
}

TEST(Committee, IsNotExplainedWhereNoMemberIs) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const std::vector<Seat> members = {seat("sda", plain), seat("nearest-mean", plain)};
  RunContext ctx;
  EXPECT_THROW((void)predict_and_explain(committee_of(members), rows_of(kSample.rows), ctx), Error);
}

TEST(Committee, SaysWhichMatricesAMemberUses) {
  const PreparedTraining plain = prepared(kSample.S, kSample.classes);
  const std::vector<Seat> members = {seat("knn", plain, {1}), seat("svm-clip", plain, {0})};
  const TrainedModel model = committee_of(members, {}, {{.name = "first"}, {.name = "second"}});
  EXPECT_THAT(names_of_matrices(model.members[0], model.record), ElementsAre("second"));
  const Json json = model_json(model);
  EXPECT_EQ(json["members"][0]["matrices"], Json({"second"}));
  EXPECT_EQ(json["members"][1]["matrices"], Json({"first"}));
}

}  // namespace
}  // namespace kith::committee_test
