// SPDX-License-Identifier: Apache-2.0
#include "kith/data/similarity_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kith/core/error.hpp"
#include "support/errors.hpp"

namespace kith::similarity_set_test {
namespace {

using test::message_of;
using testing::HasSubstr;

/// Similarity 10 i + j of sample i to sample j, where samples are named by their position in abc...
SimilaritySet named(const std::string& row_letters, const std::string& column_letters) {
  SimilaritySet set;
  set.source = "s.csv";
  RowMatrix values(static_cast<Index>(row_letters.size()),
                   static_cast<Index>(column_letters.size()));
  for (std::size_t i = 0; i < row_letters.size(); ++i) {
    for (std::size_t j = 0; j < column_letters.size(); ++j) {
      values(static_cast<Index>(i), static_cast<Index>(j)) =
          10 * (row_letters[i] - 'a') + (column_letters[j] - 'a');
    }
  }
  set.block = DenseBlock(values);
  for (const char letter : row_letters) set.row_ids.emplace_back(1, letter);
  for (const char letter : column_letters) set.column_ids.emplace_back(1, letter);
  return set;
}

SimilaritySet unnamed(Index n) {
  SimilaritySet set;
  set.source = "u.npy";
  set.block = DenseBlock(RowMatrix::Ones(n, n));
  return set;
}

TEST(Square, PutsColumnsIntoTheOrderOfTheRows) {
  const SimilaritySet set = square(named("cab", "bca"));
  EXPECT_EQ(set.column_ids, set.row_ids);
  EXPECT_EQ(RowMatrix(to_dense(set.block).values()),
            RowMatrix(to_dense(named("cab", "cab").block).values()));
}

TEST(Square, TakesTheIdsOfOneSideForBoth) {
  SimilaritySet set = named("ab", "ab");
  set.column_ids.clear();
  EXPECT_EQ(square(set).column_ids, (std::vector<std::string>{"a", "b"}));
  set.row_ids.clear();
  EXPECT_TRUE(square(set).row_ids.empty());
}

TEST(Square, RefusesWhatIsNotSquare) {
  EXPECT_THAT(message_of([] { (void)square(named("ab", "abc")); }),
              testing::AllOf(HasSubstr("s.csv"), HasSubstr("2 x 3"), HasSubstr("square")));
}

TEST(Square, NamesRowsWithoutAColumn) {
  EXPECT_THAT(message_of([] { (void)square(named("abcd", "axyd")); }),
              testing::AllOf(HasSubstr("2 of 4 rows"), HasSubstr("\"b\" and \"c\"")));
}

TEST(Square, NamesAnIdThatStandsTwice) {
  EXPECT_THAT(message_of([] { (void)square(named("aba", "aba")); }),
              testing::AllOf(HasSubstr("\"a\""), HasSubstr("1 and 3"), HasSubstr("unique")));
}

TEST(Square, NamesANumberOfIdsThatDoesNotFit) {
  SimilaritySet set = named("abc", "abc");
  set.row_ids.pop_back();
  EXPECT_THAT(message_of([&] { (void)square(set); }), HasSubstr("2 row ids for 3 rows"));
}

TEST(Match, BringsEveryTableToTheOrderOfTheFirst) {
  const MatchedSets matched = match({named("bca", "bca"), named("abc", "cab")});
  EXPECT_EQ(matched.ids, (std::vector<std::string>{"b", "c", "a"}));
  ASSERT_EQ(matched.sets.size(), 2u);
  EXPECT_EQ(RowMatrix(to_dense(matched.sets[0].block).values()),
            RowMatrix(to_dense(matched.sets[1].block).values()));
  EXPECT_EQ(matched.sets[1].row_ids, matched.ids);
}

TEST(Match, GoesByPositionWhereATableHasNoIds) {
  const MatchedSets matched = match({unnamed(2), named("ba", "ba")});
  EXPECT_EQ(matched.ids, (std::vector<std::string>{"b", "a"}));
  EXPECT_THAT(
      message_of([] {
        (void)match({unnamed(2), named("abc", "abc")});
      }),
      testing::AllOf(HasSubstr("u.npy has 2"), HasSubstr("s.csv has 3"), HasSubstr("same number")));
}

TEST(Match, IsByPositionWithANoteWhereOnlySomeTablesHaveIds) {
  const std::vector<std::string> ids = {"a"};
  const std::vector<KnownSamples> mixed = {{{}, "u.npy"}, {ids, "s.csv"}};
  EXPECT_THAT(position_note(mixed),
              testing::AllOf(HasSubstr("s.csv has ids"), HasSubstr("u.npy has none"),
                             HasSubstr("by position")));
  const std::vector<KnownSamples> all_known = {{ids, "s.csv"}, {ids, "t.csv"}};
  EXPECT_EQ(position_note(all_known), "");
  const std::vector<KnownSamples> none_known = {{{}, "u.npy"}, {{}, "v.npy"}};
  EXPECT_EQ(position_note(none_known), "");
}

TEST(Match, RefusesATableOfPairsBesideOneWithoutIds) {
  SimilaritySet pairs = named("ab", "ab");
  pairs.ordered = false;
  EXPECT_THAT(message_of([&] {
                (void)match({pairs, unnamed(2)});
              }),
              testing::AllOf(HasSubstr("s.csv lists pairs"), HasSubstr("u.npy has no ids")));
}

TEST(Match, NamesSamplesThatAreNotInEveryTable) {
  EXPECT_THAT(message_of([] {
                (void)match({named("abc", "abc"), named("ab", "ab")});
              }),
              testing::AllOf(HasSubstr("1 of the 3 samples"), HasSubstr("\"c\"")));
  EXPECT_THAT(message_of([] {
                (void)match({named("ab", "ab"), named("abcd", "abcd")});
              }),
              testing::AllOf(HasSubstr("2 of the 4 samples"), HasSubstr("\"c\" and \"d\"")));
}

TEST(Match, OfNothingIsNothing) { EXPECT_TRUE(match({}).sets.empty()); }

}  // namespace
}  // namespace kith::similarity_set_test
