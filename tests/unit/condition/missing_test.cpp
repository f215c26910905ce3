// SPDX-License-Identifier: Apache-2.0
// Missing pairs and sparse blocks on their way through condition/pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kith/condition/pipeline.hpp"
#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "support/errors.hpp"

namespace kith::missing_test {
namespace {

using test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

SimilaritySet set_of(Block block, PairKind kind = PairKind::kSimilarity) {
  SimilaritySet set;
  set.kind = kind;
  set.block = std::move(block);
  return set;
}

RowMatrix numbers(const Block& block) { return to_dense(block).values(); }

/// Four samples; 0 and 2 do not know each other in either direction.
RowMatrix with_hole() {
  RowMatrix values(4, 4);
  values << 9, 5, kNan, 4,  //
      5, 9, 3, 6,           //
      kNan, 3, 9, 2,        //
      4, 6, 2, 9;
  return values;
}

/// Pairs (i, i) and (i, i+1) of n samples, values 2 + i and 1 + i.
SparseBlock chain(Index n, Absent absent) {
  SparseBlock block;
  block.cols = n;
  block.absent = absent;
  for (Index i = 0; i < n; ++i) {
    block.columns.push_back(static_cast<std::int32_t>(i));
    block.values.push_back(2 + static_cast<double>(i));
    if (i + 1 < n) {
      block.columns.push_back(static_cast<std::int32_t>(i + 1));
      block.values.push_back(1 + static_cast<double>(i));
    }
    block.starts.push_back(static_cast<std::int64_t>(block.values.size()));
  }
  return block;
}

TEST(InputMissing, IsAnErrorThatCountsNamesAndAdvises) {
  SimilaritySet set = set_of(DenseBlock(with_hole()));
  set.row_ids = {"a", "b", "c", "d"};
  EXPECT_THAT(message_of([&] { (void)condition_training(set, {}, {}); }),
              AllOf(HasSubstr("2 of 16 pairs are missing"), HasSubstr("\"a\" to \"c\""),
                    HasSubstr("[[missing=zero]]"), HasSubstr("drop-sample")));
}

TEST(InputMissing, ZeroAndMinFillSimilarities) {
  const SimilaritySet set = set_of(DenseBlock(with_hole()));
  RowMatrix expected = with_hole();
  expected(0, 2) = expected(2, 0) = 0;
  const ConditionedInput zero = condition_training(set, {.missing = MissingRule::kZero}, {});
  EXPECT_EQ(numbers(zero.matrix.block), expected);
  EXPECT_THAT(zero.applied, ElementsAre("2 missing pairs set to 0"));
  expected(0, 2) = expected(2, 0) = 2;
  const ConditionedInput least = condition_training(set, {.missing = MissingRule::kMin}, {});
  EXPECT_EQ(numbers(least.matrix.block), expected);
  EXPECT_EQ(least.rule.fill, 2);
}

TEST(InputMissing, DistancesAreFilledAsSimilarities) {
  const SimilaritySet set = set_of(DenseBlock(with_hole()), PairKind::kDistance);
  const auto filled = [&](MissingRule missing, FromDistance from) {
    return numbers(
        condition_training(set, {.missing = missing, .from_distance = from, .gamma = 1}, {})
            .matrix.block)(0, 2);
  };
  for (const FromDistance from : {FromDistance::kMaxMinus, FromDistance::kNegative,
                                  FromDistance::kNegativeSquare, FromDistance::kExp}) {
    EXPECT_EQ(filled(MissingRule::kZero, from), 0);
  }
  EXPECT_EQ(filled(MissingRule::kMin, FromDistance::kMaxMinus), 0);
  EXPECT_EQ(filled(MissingRule::kMin, FromDistance::kNegative), -9);
  EXPECT_EQ(filled(MissingRule::kMin, FromDistance::kNegativeSquare), -81);
  EXPECT_EQ(filled(MissingRule::kMin, FromDistance::kExp), std::exp(-9));
}

TEST(InputMissing, DoubleCentringTakesTheLargestDistanceAndRefusesZero) {
  const SimilaritySet set = set_of(DenseBlock(with_hole()), PairKind::kDistance);
  RowMatrix complete = with_hole();
  complete(0, 2) = complete(2, 0) = 9;
  const ConditionedInput expected =
      condition_training(set_of(DenseBlock(complete), PairKind::kDistance), {}, {});
  const ConditionedInput filled = condition_training(set, {.missing = MissingRule::kMin}, {});
  EXPECT_EQ(numbers(filled.matrix.block), numbers(expected.matrix.block));
  EXPECT_THAT(
      message_of([&] { (void)condition_training(set, {.missing = MissingRule::kZero}, {}); }),
      AllOf(HasSubstr("double centring"), HasSubstr("[[missing=min]]")));
}

TEST(InputMissing, ADistanceToOneselfIsZero) {
  RowMatrix D(2, 2);
  D << kNan, 3, 3, kNan;
  RowMatrix expected(2, 2);
  expected << 0, -3, -3, 0;
  EXPECT_EQ(numbers(condition_training(set_of(DenseBlock(D), PairKind::kDistance),
                                       {.from_distance = FromDistance::kNegative}, {})
                        .matrix.block),
            expected);
}

TEST(InputMissing, DropSampleTakesTheWorstFirstAndOfEqualsTheLast) {
  // 0 and 2 miss each other: equal, so 2 goes. 1 misses nothing once 3, which misses two, is gone.
  RowMatrix values = RowMatrix::Constant(5, 5, 1.0);
  values(0, 2) = values(2, 0) = kNan;
  values(3, 1) = values(3, 4) = values(4, 3) = kNan;
  const ConditionedInput input =
      condition_training(set_of(DenseBlock(values)), {.missing = MissingRule::kDropSample}, {});
  EXPECT_THAT(input.kept, ElementsAre(0, 1, 4));
  EXPECT_THAT(input.applied, ElementsAre("2 of 5 samples with missing pairs dropped"));
  EXPECT_EQ(input.rule.samples, 3);
  EXPECT_EQ(numbers(input.matrix.block), RowMatrix::Ones(3, 3));
}

TEST(InputMissing, NewRowsMayHaveAColumnForEverySampleThatWasGiven) {
  const ConditionedInput input = condition_training(set_of(DenseBlock(with_hole())),
                                                    {.missing = MissingRule::kDropSample}, {});
  ASSERT_THAT(input.kept, ElementsAre(0, 1, 3));
  RowMatrix row(1, 4);
  row << 1, 2, kNan, 4;
  RowMatrix expected(1, 3);
  expected << 1, 2, 4;
  const QueryMatrix wide = condition_query(input.rule, {.to_training = DenseBlock(row)}, {});
  EXPECT_EQ(numbers(wide.to_training), expected);
  const QueryMatrix narrow = condition_query(input.rule, {.to_training = DenseBlock(expected)}, {});
  EXPECT_EQ(numbers(narrow.to_training), expected);
}

TEST(InputMissing, DropSampleRefusesToLeaveLessThanTwo) {
  RowMatrix values = RowMatrix::Constant(3, 3, kNan);
  values.diagonal().setOnes();
  EXPECT_THAT(message_of([&] {
                (void)condition_training(set_of(DenseBlock(values)),
                                         {.missing = MissingRule::kDropSample}, {});
              }),
              HasSubstr("fewer than 2"));
}

TEST(InputMissing, NothingKnownIsRefused) {
  const SimilaritySet set = set_of(DenseBlock(RowMatrix::Constant(2, 2, kNan)));
  EXPECT_THAT(
      message_of([&] { (void)condition_training(set, {.missing = MissingRule::kMin}, {}); }),
      HasSubstr("no pair is known"));
}

TEST(InputMissing, NewRowsAreFilledByWhatTheTrainingBlockShowed) {
  RowMatrix row(1, 4);
  row << -7, kNan, 5, 1;
  const SimilaritySet set = set_of(DenseBlock(with_hole()));
  const auto filled = [&](MissingRule missing) {
    const InputRule rule = condition_training(set, {.missing = missing}, {}).rule;
    return numbers(condition_query(rule, {.to_training = DenseBlock(row)}, {}).to_training)(0, 1);
  };
  EXPECT_EQ(filled(MissingRule::kZero), 0);
  EXPECT_EQ(filled(MissingRule::kMin), 2);
  const InputRule strict =
      condition_training(set_of(DenseBlock(RowMatrix::Ones(4, 4))), {}, {}).rule;
  EXPECT_THAT(
      message_of([&] { (void)condition_query(strict, {.to_training = DenseBlock(row)}, {}); }),
      AllOf(HasSubstr("query 1 to training sample 2"), HasSubstr("[[missing=error]]")));
}

TEST(InputMissing, ANewPairKnownInOneDirectionTakesIt) {
  RowMatrix to(1, 2);
  to << kNan, 4;
  RowMatrix from(1, 2);
  from << 3, 6;
  RowMatrix values(2, 2);
  values << 1, 2, 4, 1;
  const InputRule rule =
      condition_training(set_of(DenseBlock(values)), {.symmetrise = Symmetrise::kMean}, {}).rule;
  const QueryMatrix query =
      condition_query(rule, {.to_training = DenseBlock(to), .from_training = DenseBlock(from)}, {});
  RowMatrix expected(1, 2);
  expected << 3, 5;
  EXPECT_EQ(numbers(query.to_training), expected);
  EXPECT_FALSE(query.from_training.has_value());
}

TEST(InputSparse, AbsentPairsAreMissingUnlessZeroIsAskedFor) {
  const SimilaritySet set = set_of(chain(4, Absent::kMissing));
  EXPECT_THAT(message_of([&] { (void)condition_training(set, {}, {}); }),
              AllOf(HasSubstr("9 of 16"), HasSubstr("sample 1 to sample 3"),
                    HasSubstr("[[missing=zero]]")));
  const ConditionedInput zero = condition_training(set, {.missing = MissingRule::kZero}, {});
  ASSERT_TRUE(is_sparse(zero.matrix.block));
  EXPECT_EQ(std::get<SparseBlock>(zero.matrix.block).absent, Absent::kZero);
}

TEST(InputSparse, CanKeepAbsentPairsForThoseWhoOnlyNeedNeighbours) {
  const SimilaritySet set = set_of(chain(4, Absent::kMissing));
  const InputSettings settings{.symmetrise = Symmetrise::kMax, .scale = ScaleRule::kCosine};
  const ConditionedInput input = condition_training(set, settings, {}, MissingPairs::kKept);
  ASSERT_TRUE(is_sparse(input.matrix.block));
  const auto& block = std::get<SparseBlock>(input.matrix.block);
  EXPECT_EQ(block.absent, Absent::kMissing);
  EXPECT_EQ(block.entries(), 10);
  const QueryMatrix query = condition_query(
      input.rule, {.to_training = chain(4, Absent::kMissing), .self = Vector::Ones(4)}, {});
  EXPECT_TRUE(is_sparse(query.to_training));
  EXPECT_EQ(std::get<SparseBlock>(query.to_training).absent, Absent::kMissing);
  EXPECT_NE(message_of([&] {
              (void)condition_training(set, {.transform = InputTransform::kRowsRbf}, {},
                                       MissingPairs::kKept);
            }),
            "nothing was thrown");
}

/// Whatever is asked for, the sparse form gives the numbers of the dense form.
TEST(InputSparse, GivesTheNumbersOfTheDenseForm) {
  for (const Absent absent : {Absent::kMissing, Absent::kZero}) {
    for (const PairKind kind : {PairKind::kSimilarity, PairKind::kDistance}) {
      for (int code = 0; code < 5 * 3 * 3 * 6 * 2 * 2 * 2; ++code) {
        int rest = code;
        const auto digit = [&](int base) {
          const int value = rest % base;
          rest /= base;
          return value;
        };
        const InputSettings settings{
            .symmetrise = static_cast<Symmetrise>(digit(5)),
            .missing = digit(2) == 0 ? MissingRule::kZero : MissingRule::kMin,
            .diagonal = static_cast<DiagonalRule>(digit(3)),
            .scale = static_cast<ScaleRule>(digit(3)),
            .rescale = static_cast<Rescale>(digit(2)),
            .from_distance = static_cast<FromDistance>(digit(6)),
            .transform = static_cast<InputTransform>(digit(2))};
        const Block sparse = chain(5, absent);
        const Block dense = to_dense(sparse);
        std::optional<ConditionedInput> expected;
        const std::string refusal =
            message_of([&] { expected = condition_training(set_of(dense, kind), settings, {}); });
        if (!expected) {
          EXPECT_EQ(
              message_of([&] { (void)condition_training(set_of(sparse, kind), settings, {}); }),
              refusal);
          continue;
        }
        const ConditionedInput input = condition_training(set_of(sparse, kind), settings, {});
        EXPECT_EQ(numbers(input.matrix.block), numbers(expected->matrix.block));
        const Vector self = Vector::Constant(5, 0.5);
        const QueryMatrix raw{.to_training = sparse, .from_training = sparse, .self = self};
        const QueryMatrix raw_dense{.to_training = dense, .from_training = dense, .self = self};
        std::optional<QueryMatrix> query;
        const std::string query_refusal =
            message_of([&] { query = condition_query(expected->rule, raw_dense, {}); });
        if (!query) {
          EXPECT_EQ(message_of([&] { (void)condition_query(input.rule, raw, {}); }), query_refusal);
          continue;
        }
        EXPECT_EQ(numbers(condition_query(input.rule, raw, {}).to_training),
                  numbers(query->to_training));
      }
    }
  }
}

TEST(InputSparse, StaysSparseWhereNothingNeedsEveryPair) {
  const SimilaritySet set = set_of(chain(2000, Absent::kMissing));
  for (const InputSettings& settings :
       {InputSettings{}, InputSettings{.symmetrise = Symmetrise::kMean},
        InputSettings{.symmetrise = Symmetrise::kMax},
        InputSettings{.diagonal = DiagonalRule::kOne},
        InputSettings{.diagonal = DiagonalRule::kMaxRow}, InputSettings{.scale = ScaleRule::kUnit},
        InputSettings{.scale = ScaleRule::kCosine}, InputSettings{.rescale = Rescale::kSpread}}) {
    InputSettings zero = settings;
    zero.missing = MissingRule::kZero;
    EXPECT_TRUE(is_sparse(condition_training(set, zero, {}).matrix.block))
        << settings_json(settings).dump();
  }
}

}  // namespace
}  // namespace kith::missing_test
