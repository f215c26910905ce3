// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/pipeline.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"

namespace kith::pipeline_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

RowMatrix random_table(Index n, std::uint64_t seed, bool symmetric) {
  Rng rng(seed);
  RowMatrix values(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) values(i, j) = 0.2 + rng.uniform();
  }
  for (Index i = 0; i < n; ++i) values(i, i) = 1 + rng.uniform();
  if (symmetric) values = (0.5 * (values + values.transpose())).eval();
  return values;
}

RowMatrix random_distances(Index n, std::uint64_t seed, bool symmetric) {
  RowMatrix values = random_table(n, seed, symmetric);
  values.diagonal().setZero();
  return values;
}

SimilaritySet set_of(const RowMatrix& values, PairKind kind = PairKind::kSimilarity) {
  SimilaritySet set;
  set.name = "s";
  set.kind = kind;
  set.block = DenseBlock(values);
  return set;
}

RowMatrix numbers(const Block& block) { return to_dense(block).values(); }
RowMatrix numbers(const ConditionedInput& input) { return numbers(input.matrix.block); }

RowMatrix conditioned(const SimilaritySet& set, const InputSettings& settings) {
  return numbers(condition_training(set, settings, {}));
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Every training row with its column and self-value, as queries.
QueryMatrix training_as_new(const RowMatrix& values) {
  return {.to_training = DenseBlock(values),
          .from_training = DenseBlock(RowMatrix(values.transpose())),
          .self = Vector(values.diagonal())};
}

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

TEST(InputFromDistance, DoubleCentringIsTheMatrixFormula) {
  const Index n = 6;
  const RowMatrix D = random_distances(n, 9, false);
  const Matrix J = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n));
  const Matrix expected = -0.5 * J * D.cwiseAbs2() * J;
  EXPECT_LE((conditioned(set_of(D, PairKind::kDistance), {}) - expected).cwiseAbs().maxCoeff(),
            1e-14);
}

TEST(InputFromDistance, DoubleCentringOfEuclideanDistancesGivesInnerProductsOfNewPoints) {
  Rng rng(2);
  const Index n = 8;
  Matrix X(n + 1, 3);
  for (double& value : X.reshaped()) value = rng.normal();
  const Vector mean = X.topRows(n).colwise().mean();
  const Matrix centred = X.rowwise() - mean.transpose();
  RowMatrix D(n + 1, n + 1);
  for (Index i = 0; i <= n; ++i) {
    for (Index j = 0; j <= n; ++j) D(i, j) = (X.row(i) - X.row(j)).norm();
  }
  const InputRule rule =
      condition_training(set_of(D.topLeftCorner(n, n), PairKind::kDistance), {}, {}).rule;
  const QueryMatrix query =
      condition_query(rule, {.to_training = DenseBlock(RowMatrix(D.bottomLeftCorner(1, n)))}, {});
  const RowMatrix expected = centred.bottomRows(1) * centred.topRows(n).transpose();
  EXPECT_LE((numbers(query.to_training) - expected).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_NEAR((*query.self)[0], centred.row(n).squaredNorm(), 1e-13);
}

TEST(InputFromDistance, DoubleCentringOfASymmetricMatrixIsExactlySymmetric) {
  const RowMatrix values =
      conditioned(set_of(random_distances(301, 12, true), PairKind::kDistance), {});
  EXPECT_EQ(values, RowMatrix(values.transpose()));
}

TEST(InputFromDistance, PairwiseRulesAreTheirFormulas) {
  RowMatrix D(2, 2);
  D << 0, 3, 2, 0;
  const SimilaritySet set = set_of(D, PairKind::kDistance);
  RowMatrix expected(2, 2);
  expected << 3, 0, 1, 3;
  EXPECT_EQ(conditioned(set, {.from_distance = FromDistance::kMaxMinus}), expected);
  expected << 0, -3, -2, 0;
  EXPECT_EQ(conditioned(set, {.from_distance = FromDistance::kNegative}), expected);
  expected << 0, -9, -4, 0;
  EXPECT_EQ(conditioned(set, {.from_distance = FromDistance::kNegativeSquare}), expected);
  expected << 1, std::exp(-1.5), std::exp(-1.0), 1;
  EXPECT_EQ(conditioned(set, {.from_distance = FromDistance::kExp, .gamma = 0.5}), expected);
}

TEST(InputFromDistance, GammaIsByDefaultOneOverTheMedianOfTheTrainingDistances) {
  RowMatrix D(3, 3);
  D << 0, 1, 8, 1, 0, 4, 8, 4, 0;  // 1, 4 and 8, each twice; selves do not count
  const SimilaritySet set = set_of(D, PairKind::kDistance);
  const ConditionedInput input = condition_training(set, {.from_distance = FromDistance::kExp}, {});
  EXPECT_EQ(input.rule.gamma, 0.25);
  EXPECT_EQ(numbers(input)(0, 2), std::exp(-2.0));
  EXPECT_FALSE(input.rule.settings.gamma.has_value());  // what was asked for is kept apart
  // New rows take the number of the training block, not one of their own.
  const QueryMatrix query =
      condition_query(input.rule, {.to_training = DenseBlock(RowMatrix::Constant(1, 3, 4.0))}, {});
  EXPECT_EQ(numbers(query.to_training)(0, 0), std::exp(-1.0));
  // Two samples that are the same have distance 0, as each to itself: one 0 of a row is its own.
  D << 0, 0, 2, 0, 0, 2, 2, 2, 0;
  const SimilaritySet twins = set_of(D, PairKind::kDistance);
  EXPECT_EQ(condition_training(twins, {.from_distance = FromDistance::kExp}, {}).rule.gamma, 0.5);
  const SimilaritySet same = set_of(RowMatrix::Zero(3, 3), PairKind::kDistance);
  EXPECT_EQ(condition_training(same, {.from_distance = FromDistance::kExp}, {}).rule.gamma, 1);
}

TEST(InputFromDistance, GammaByTheMedianMakesTheUnitOfDistancesOfNoAccount) {
  const RowMatrix D = random_distances(7, 3, true);
  const InputSettings settings{.from_distance = FromDistance::kExp};
  EXPECT_EQ(conditioned(set_of(8 * D, PairKind::kDistance), settings),
            conditioned(set_of(D, PairKind::kDistance), settings));
}

TEST(InputFromDistance, AutoIsDoubleCentringWhereNoMethodSettlesIt) {
  const SimilaritySet set = set_of(random_distances(5, 3, true), PairKind::kDistance);
  const ConditionedInput input = condition_training(set, {}, {});
  EXPECT_EQ(input.rule.settings.from_distance, FromDistance::kDoubleCentre);
  EXPECT_EQ(numbers(input), conditioned(set, {.from_distance = FromDistance::kDoubleCentre}));
  Json stored = rule_json(input.rule);
  stored["settings"]["from-distance"] = "auto";
  EXPECT_THAT(message_of([&] { (void)restore_rule(stored, rule_tensors(input.rule)); }),
              HasSubstr("\"from-distance\" is auto"));
}

TEST(InputFromDistance, NamesThePairWhoseSquareOverflows) {
  RowMatrix D = random_distances(3, 1, true);
  D(1, 2) = 1e200;
  SimilaritySet set = set_of(D, PairKind::kDistance);
  set.row_ids = {"a", "b", "c"};
  EXPECT_THAT(message_of([&] {
                (void)condition_training(set, {.from_distance = FromDistance::kNegativeSquare}, {});
              }),
              AllOf(HasSubstr("\"b\" to \"c\""), HasSubstr("too large")));
  EXPECT_THAT(message_of([&] { (void)condition_training(set, {}, {}); }), HasSubstr("too large"));
}

TEST(InputSizes, OfTheLargestSimilarityAreFrom1eMinus75To1e75) {
  RowMatrix S = random_table(4, 2, false);
  S /= S.cwiseAbs().maxCoeff();
  for (const double size : {1e-74, 1e-20, 1e20, 1e75, 0.0}) {
    const RowMatrix scaled = size * S;
    EXPECT_EQ(conditioned(set_of(scaled), {}), scaled) << size;
  }
  for (const double size : {1e-310, 1e-76, 1e76, 1e300}) {
    const std::string message =
        message_of([&] { (void)condition_training(set_of(size * S), {}, {}); });
    EXPECT_THAT(message, HasSubstr("by a constant")) << size;
    EXPECT_THAT(message, HasSubstr(size > 1 ? "divide" : "multiply"));
  }
  // Nothing is said before the steps: --scale unit brings any size to [0, 1].
  EXPECT_LE(conditioned(set_of(1e100 * S), {.scale = ScaleRule::kUnit}).maxCoeff(), 1 + 1e-15);
}

TEST(InputSizes, OfNewRowsAreUpTo1e75) {
  const RowMatrix S = random_table(3, 2, false);
  const InputRule rule = condition_training(set_of(S), {}, {}).rule;
  RowMatrix rows = RowMatrix::Zero(2, 3);
  rows(0, 1) = 1e-300;
  rows(1, 2) = -1e75;
  const auto query = [&] {
    QueryMatrix matrix;
    matrix.to_training = DenseBlock(rows);
    return matrix;
  };
  EXPECT_EQ(numbers(condition_query(rule, query(), {}).to_training), rows);
  rows(1, 2) = -1e100;
  EXPECT_THAT(message_of([&] { (void)condition_query(rule, query(), {}); }),
              HasSubstr("query 2 to training sample 3 is -1e+100"));
  rows(1, 2) = 0;
  QueryMatrix with_self = query();
  with_self.self = Vector{{1, -1e100}};
  EXPECT_THAT(message_of([&] { (void)condition_query(rule, with_self, {}); }),
              HasSubstr("self-similarity of query 2 is -1e+100"));
}

TEST(InputFromDistance, RefusesANegativeDistanceThatASquareWouldHide) {
  RowMatrix D = random_distances(3, 1, true);
  D(1, 2) = -0.5;
  SimilaritySet set = set_of(D, PairKind::kDistance);
  set.row_ids = {"a", "b", "c"};
  for (const FromDistance rule : {FromDistance::kDoubleCentre, FromDistance::kNegativeSquare}) {
    EXPECT_THAT(message_of([&] { (void)condition_training(set, {.from_distance = rule}, {}); }),
                AllOf(HasSubstr("\"b\" to \"c\" is -0.5"), HasSubstr("must not be negative")));
  }
  EXPECT_EQ(conditioned(set, {.from_distance = FromDistance::kNegative})(1, 2), 0.5);
}

TEST(InputDiagonal, FollowsItsRule) {
  RowMatrix raw(2, 2);
  raw << 0.5, 2, 5, 7;
  EXPECT_EQ(conditioned(set_of(raw), {.diagonal = DiagonalRule::kOne}).diagonal(), Vector::Ones(2));
  EXPECT_EQ(conditioned(set_of(raw), {.diagonal = DiagonalRule::kMaxRow}).diagonal(),
            Vector(Eigen::Vector2d(2, 7)));
  raw(0, 0) = kNan;
  raw(1, 1) = kNan;
  EXPECT_EQ(conditioned(set_of(raw), {.diagonal = DiagonalRule::kOne}).diagonal(), Vector::Ones(2));
  EXPECT_EQ(conditioned(set_of(raw), {.diagonal = DiagonalRule::kMaxRow}).diagonal(),
            Vector(Eigen::Vector2d(2, 5)));
}

TEST(InputScale, UnitMapsTheTrainingRangeOntoZeroToOne) {
  const ConditionedInput input =
      condition_training(set_of(random_table(5, 3, false)), {.scale = ScaleRule::kUnit}, {});
  EXPECT_EQ(numbers(input).minCoeff(), 0);
  EXPECT_EQ(numbers(input).maxCoeff(), 1);
  // New rows take the same map and are not clipped.
  const QueryMatrix query = condition_query(
      input.rule,
      {.to_training = DenseBlock(RowMatrix::Constant(1, 5, input.rule.low + 3 * input.rule.span))},
      {});
  EXPECT_NEAR(numbers(query.to_training)(0, 0), 3, 1e-14);
}

TEST(InputScale, UnitLeavesAConstantBlockAlone) {
  const ConditionedInput input =
      condition_training(set_of(RowMatrix::Constant(3, 3, 4.0)), {.scale = ScaleRule::kUnit}, {});
  EXPECT_EQ(numbers(input), RowMatrix::Constant(3, 3, 4.0));
  EXPECT_THAT(input.applied.back(), HasSubstr("not scaled"));
}

TEST(InputScale, CosineDividesByTheRootsOfTheDiagonal) {
  const RowMatrix raw = random_table(5, 3, true);
  const RowMatrix values = conditioned(set_of(raw), {.scale = ScaleRule::kCosine});
  for (Index i = 0; i < 5; ++i) {
    EXPECT_EQ(values(i, i), 1);
    for (Index j = 0; j < 5; ++j) {
      EXPECT_NEAR(values(i, j), raw(i, j) / std::sqrt(raw(i, i) * raw(j, j)), 1e-14);
    }
  }
}

TEST(InputScale, CosineNamesASampleWithoutAPositiveDiagonal) {
  RowMatrix raw = random_table(3, 3, true);
  raw(1, 1) = -0.5;
  EXPECT_THAT(
      message_of([&] { (void)condition_training(set_of(raw), {.scale = ScaleRule::kCosine}, {}); }),
      AllOf(HasSubstr("sample 2"), HasSubstr("-0.5"), HasSubstr("positive")));
}

TEST(InputScale, CosineNeedsTheSelfSimilaritiesOfNewRows) {
  const RowMatrix raw = random_table(3, 3, true);
  const InputRule rule = condition_training(set_of(raw), {.scale = ScaleRule::kCosine}, {}).rule;
  EXPECT_TRUE(needs_self(rule));
  EXPECT_THAT(
      message_of([&] { (void)condition_query(rule, {.to_training = DenseBlock(raw)}, {}); }),
      HasSubstr("[[self]]"));
  EXPECT_THAT(message_of([&] {
                (void)condition_query(
                    rule, {.to_training = DenseBlock(raw), .self = Vector::Zero(3)}, {});
              }),
              AllOf(HasSubstr("query 1 is 0"), HasSubstr("positive")));
}

/// The mean of (S_ii + S_jj) / 2 - S_ij over all pairs.
double spread_of(const RowMatrix& S) {
  double sum = 0;
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j < S.cols(); ++j) sum += (S(i, i) + S(j, j)) / 2 - S(i, j);
  }
  return sum / static_cast<double>(S.size());
}

TEST(InputRescale, SpreadOfTheTrainingBlockIsOneAndNewRowsAreDividedByTheSame) {
  const InputSettings settings{.rescale = Rescale::kSpread};
  for (const bool symmetric : {true, false}) {
    const RowMatrix raw = 37 * random_table(6, 3, symmetric);
    const ConditionedInput input = condition_training(set_of(raw), settings, {});
    EXPECT_NEAR(input.rule.spread, spread_of(raw), 1e-12 * spread_of(raw));
    EXPECT_NEAR(spread_of(numbers(input)), 1, 1e-13);
    EXPECT_LE((input.rule.spread * numbers(input) - raw).cwiseAbs().maxCoeff(), 1e-13 * 40);
    EXPECT_THAT(input.applied.back(), HasSubstr("divided by their spread"));
    const RowMatrix rows = 1e3 * random_table(6, 4, false);
    const QueryMatrix query = condition_query(
        input.rule, {.to_training = DenseBlock(rows), .self = Vector(rows.diagonal())}, {});
    EXPECT_EQ(numbers(query.to_training), RowMatrix(rows / input.rule.spread));
    EXPECT_EQ(*query.self, Vector(rows.diagonal() / input.rule.spread));
  }
}

TEST(InputRescale, MakesTheUnitOfSimilaritiesOfNoAccount) {
  const RowMatrix raw = random_table(7, 3, true);
  const InputSettings settings{.rescale = Rescale::kSpread};
  for (const double unit : {0x1p-20, 4.0, 0x1p40}) {  // powers of two leave the digits alone
    EXPECT_EQ(conditioned(set_of(unit * raw), settings), conditioned(set_of(raw), settings));
  }
  const RowMatrix other = conditioned(set_of(1234.5 * raw), settings);
  EXPECT_LE((other - conditioned(set_of(raw), settings)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(InputRescale, TakesTheMeanMagnitudeWhereTheSpreadIsNotAboveZero) {
  const InputSettings settings{.rescale = Rescale::kSpread};
  const RowMatrix constant = RowMatrix::Constant(3, 3, -4.0);
  EXPECT_EQ(conditioned(set_of(constant), settings), RowMatrix::Constant(3, 3, -1.0));
  RowMatrix inverted = RowMatrix::Constant(2, 2, 3.0);
  inverted.diagonal().setConstant(1);
  EXPECT_EQ(conditioned(set_of(inverted), settings), RowMatrix(inverted / 2));
  const ConditionedInput zero = condition_training(set_of(RowMatrix::Zero(2, 2)), settings, {});
  EXPECT_EQ(numbers(zero), RowMatrix::Zero(2, 2));
  EXPECT_EQ(zero.rule.spread, 1);
  EXPECT_THAT(zero.applied.back(), HasSubstr("not rescaled"));
}

TEST(InputRescale, CountsTheAbsentZerosOfASparseTable) {
  RowMatrix dense = RowMatrix::Identity(4, 4);
  dense(0, 1) = dense(1, 0) = 0.5;
  SimilaritySet sparse;
  sparse.name = "s";
  sparse.block = SparseBlock{.cols = 4,
                             .starts = {0, 2, 4, 5, 6},
                             .columns = {0, 1, 0, 1, 2, 3},
                             .values = {1, 0.5, 0.5, 1, 1, 1},
                             .absent = Absent::kZero};
  const InputSettings settings{.rescale = Rescale::kSpread};
  const ConditionedInput input = condition_training(sparse, settings, {});
  EXPECT_NEAR(input.rule.spread, spread_of(dense), 1e-15);
  EXPECT_TRUE(std::holds_alternative<SparseBlock>(input.matrix.block));
  EXPECT_EQ(numbers(input), conditioned(set_of(dense), settings));
}

TEST(InputTransformRowsRbf, IsItsDefinition) {
  const Index n = 9;
  const RowMatrix raw = random_table(n, 3, false);
  const RowMatrix values = conditioned(set_of(raw), {.transform = InputTransform::kRowsRbf});
  for (Index i = 0; i < n; ++i) {
    EXPECT_EQ(values(i, i), 1);
    for (Index j = 0; j < n; ++j) {
      EXPECT_NEAR(values(i, j), std::exp(-(raw.row(i) - raw.row(j)).squaredNorm()), 1e-14);
      EXPECT_EQ(values(i, j), values(j, i));
    }
  }
}

TEST(InputTransformRowsRbf, KeepsItsDigitsWhereCloseRowsHaveLargeNorms) {
  // Two groups far from each other and from 0: the mean row is close to none of them.
  RowMatrix raw = random_table(6, 3, false);
  raw.topRows(3).array() += 1e6;
  raw.bottomRows(3).array() -= 1e7;
  const RowMatrix values = conditioned(set_of(raw), {.transform = InputTransform::kRowsRbf});
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      EXPECT_NEAR(values(i, j), std::exp(-(raw.row(i) - raw.row(j)).squaredNorm()), 1e-8);
    }
  }
}

TEST(InputTransformRowsRbf, SurvivesLargeNorms) {
  RowMatrix raw = RowMatrix::Constant(3, 3, 1e70);
  raw.row(2).setConstant(-1e70);
  const RowMatrix values = conditioned(set_of(raw), {.transform = InputTransform::kRowsRbf});
  RowMatrix expected(3, 3);
  expected << 1, 1, 0, 1, 1, 0, 0, 0, 1;
  EXPECT_EQ(values, expected);
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
