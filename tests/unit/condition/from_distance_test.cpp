// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/rng.hpp"
#include "support/errors.hpp"
#include "tables.hpp"

namespace kith::from_distance_test {
namespace {

using test::conditioned;
using test::message_of;
using test::numbers;
using test::random_distances;
using test::set_of;
using testing::AllOf;
using testing::HasSubstr;

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

}  // namespace
}  // namespace kith::from_distance_test
