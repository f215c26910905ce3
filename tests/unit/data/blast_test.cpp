// SPDX-License-Identifier: Apache-2.0
#include "support/format_files.hpp"

namespace kith::blast_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::error_of_text;
using testing_support::read_file;
using testing_support::read_text;
using testing_support::TempFile;
using testing_support::value_at;

const char* const kTable =
    "# BLASTP 2.12.0+\n"
    "# Fields: query acc.ver, subject acc.ver, % identity, ...\n"
    "p1\tp1\t100.000\t50\t0\t0\t1\t50\t1\t50\t1e-40\t101.5\n"
    "p1\tp2\t45.000\t40\t20\t1\t1\t40\t3\t42\t2e-10\t55.1\n"
    "p1\tp2\t30.000\t20\t14\t0\t5\t24\t6\t25\t0.5\t20.0\n"
    "p2\tp1\t45.000\t41\t20\t1\t3\t42\t1\t40\t3e-10\t54.7\n";

TEST(Blast, TakesTheBestBitScoreOfEachOrderedPair) {
  const SimilaritySet set = read_text(kTable, Format::kBlast);
  EXPECT_THAT(set.row_ids, ElementsAre("p1", "p2"));
  EXPECT_EQ(value_at(set, 0, 0), 101.5);
  EXPECT_EQ(value_at(set, 0, 1), 55.1);
  EXPECT_EQ(value_at(set, 1, 0), 54.7);
  EXPECT_EQ(missing_pairs(set.block), 1);
  EXPECT_TRUE(set.applied.empty());
}

TEST(Blast, KeepsQueriesOfWhichTheCommentsSayThatNothingWasFound) {
  const std::string head = "# BLASTP 2.12.0+\n# Query: ";
  const std::string table = head + "q1 of a title\n# 1 hits found\n" +
                            "q1\tp2\t45.000\t40\t20\t1\t1\t40\t3\t42\t2e-10\t55.1\n" + head +
                            "q2\tanother\n# 0 hits found\n" + head + "q3\n# 0 hits found\n";
  ReadSettings settings;
  settings.bipartite = true;
  const SimilaritySet set = read_text(table, Format::kBlast, settings);
  EXPECT_THAT(set.row_ids, ElementsAre("q1", "q2", "q3"));
  EXPECT_THAT(set.column_ids, ElementsAre("p2"));
  EXPECT_EQ(missing_pairs(set.block), 2);
  EXPECT_THAT(read_text(table, Format::kBlast).row_ids, ElementsAre("q1", "p2"))
      << "among all samples they are none";
}

TEST(Blast, TakesTheColumnThatIsNamedOrNumbered) {
  ReadSettings settings;
  const auto of_p2 = [&](const char* column) {
    settings.score_column = column;
    return value_at(read_text(kTable, Format::kBlast, settings), 1, 0);
  };
  EXPECT_EQ(of_p2("pident"), 45);
  EXPECT_EQ(of_p2("length"), 41);
  EXPECT_EQ(of_p2("evalue"), 3e-10);
  EXPECT_EQ(of_p2("bits"), 54.7);
  EXPECT_EQ(of_p2("4"), 41);
  settings.score_column = "4";
  EXPECT_EQ(value_at(read_text("a\tb\tx\t7\n", Format::kBlast, settings), 0, 1), 7);
}

TEST(Blast, RefusesAScoreColumnThatDoesNotExist) {
  ReadSettings settings;
  for (const char* column : {"bitscor", "0", "-1", "", "1", "saccver"}) {
    settings.score_column = column;
    EXPECT_THAT(error_of_text(kTable, Format::kBlast, settings), HasSubstr("the score column"))
        << column;
  }
  settings.score_column = "13";
  EXPECT_THAT(error_of_text(kTable, Format::kBlast, settings), HasSubstr("at least 13"));
}

TEST(Blast, NamesLineColumnValueAndRule) {
  EXPECT_THAT(error_of_text("a\tb\t1\n", Format::kBlast), HasSubstr(":1: "));
  EXPECT_THAT(error_of_text("a\tb\t1\n", Format::kBlast), HasSubstr("3 tab-separated columns"));
  const std::string start = "a\tb\t1\t1\t1\t1\t1\t1\t1\t1\t1\t";
  EXPECT_THAT(error_of_text(start + "high\n", Format::kBlast),
              HasSubstr(":1:23: \"high\" is not a number"));
  EXPECT_THAT(error_of_text(start + "inf\n", Format::kBlast), HasSubstr("infinite"));
  EXPECT_THAT(error_of_text("\tb\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n", Format::kBlast),
              HasSubstr(":1:1: the id is empty"));
  EXPECT_THAT(error_of_text("# 0 hits found\n", Format::kBlast), HasSubstr("no pairs"));
}

TEST(Blast, IsRecognisedByContent) {
  const TempFile file(".txt", kTable);
  EXPECT_EQ(read_file(file).format, "blast");
}

TEST(Blast, MatchesQueriesToTrainingSequences) {
  ReadSettings settings;
  settings.bipartite = true;
  const SimilaritySet set = read_text(kTable, Format::kBlast, settings);
  EXPECT_THAT(set.row_ids, ElementsAre("p1", "p2"));
  EXPECT_THAT(set.column_ids, ElementsAre("p1", "p2"));
}

}  // namespace
}  // namespace kith::blast_test
