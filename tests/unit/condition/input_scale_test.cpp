// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.hpp"
#include "tables.hpp"

namespace kith::input_scale_test {
namespace {

using test::conditioned;
using test::kNan;
using test::message_of;
using test::numbers;
using test::random_table;
using test::set_of;
using testing::AllOf;
using testing::HasSubstr;

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

}  // namespace
}  // namespace kith::input_scale_test
