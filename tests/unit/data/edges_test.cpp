// SPDX-License-Identifier: Apache-2.0
#include "support/format_files.hpp"

namespace kith::edges_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::error_of;
using testing_support::error_of_text;
using testing_support::read_file;
using testing_support::read_text;
using testing_support::TempFile;
using testing_support::value_at;

SimilaritySet edges(std::string_view text, const ReadSettings& settings = {}) {
  return read_text(text, Format::kEdges, settings);
}
std::string error_of_edges(std::string_view text, const ReadSettings& settings = {}) {
  return error_of_text(text, Format::kEdges, settings);
}
const SparseBlock& sparse(const SimilaritySet& set) { return std::get<SparseBlock>(set.block); }

TEST(Edges, NumbersIdsInOrderOfFirstAppearance) {
  const SimilaritySet set = edges("c a 1\na c 2\nb b 3\nc b 4\n");
  EXPECT_THAT(set.row_ids, ElementsAre("c", "a", "b"));
  EXPECT_EQ(set.column_ids, set.row_ids);
  EXPECT_THAT(sparse(set).starts, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(sparse(set).columns, ElementsAre(1, 2, 0, 2));
  EXPECT_THAT(sparse(set).values, ElementsAre(1, 4, 2, 3));
  EXPECT_EQ(sparse(set).absent, Absent::kMissing);
  EXPECT_THAT(set.applied, IsEmpty());
}

TEST(Edges, MirrorsAListWithoutAPairInBothDirections) {
  const SimilaritySet set = edges("a b 1\nb c 2\nc c 3\n");
  EXPECT_THAT(set.applied, SizeIs(1));
  EXPECT_THAT(sparse(set).starts, ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(sparse(set).columns, ElementsAre(1, 0, 2, 1, 2));
  EXPECT_THAT(sparse(set).values, ElementsAre(1, 1, 2, 2, 3));
}

TEST(Edges, SaysNothingOfDirectionsWhereThereAreOnlySelfPairs) {
  const SimilaritySet set = edges("a a 1\n");
  EXPECT_THAT(set.applied, IsEmpty());
  EXPECT_EQ(set.rows(), 1);
}

TEST(Edges, SplitsAtTabsCommasOrBlanks) {
  const char* const marked =
      "\xef\xbb\xbf"  // a byte order mark
      "a b 1\nb a 2";
  for (const char* text : {"a\tb\t1\nb\ta\t2\n", "a,b,1\nb, a ,2\n", "a b 1\n  b   a  2\n",
                           "# note\r\n\r\na b 1\r\nb a 2\r\n", marked}) {
    const SimilaritySet set = edges(text);
    EXPECT_THAT(set.row_ids, ElementsAre("a", "b")) << text;
    EXPECT_THAT(sparse(set).values, ElementsAre(1, 2)) << text;
  }
  const SimilaritySet spaced = edges("new york\t\"q\", x\t1\n");
  EXPECT_THAT(spaced.row_ids, ElementsAre("new york", "\"q\", x"));
}

TEST(Edges, CombinesDuplicatesAsAsked) {
  const std::string text = "a b 1\nb a 9\na b 4\na b 1\n";
  ReadSettings settings;
  const auto first = [&] { return value_at(edges(text, settings), 0, 1); };
  EXPECT_EQ(first(), 4);
  settings.duplicates = Duplicates::kMean;
  EXPECT_EQ(first(), 2);
  settings.duplicates = Duplicates::kSum;
  EXPECT_EQ(first(), 6);
  settings.duplicates = Duplicates::kError;
  const std::string message = error_of_edges(text, settings);
  EXPECT_THAT(message, HasSubstr(":3: the pair \"a\", \"b\" is listed a second time"));
  EXPECT_THAT(message, HasSubstr("first in line 1"));
}

TEST(Edges, ReadsQueriesAgainstTrainingSamples) {
  ReadSettings settings;
  settings.bipartite = true;
  const SimilaritySet set = edges("q1 a 1\nq1 b 2\nq2 b 3\na q1 4\n", settings);
  EXPECT_THAT(set.row_ids, ElementsAre("q1", "q2", "a"));
  EXPECT_THAT(set.column_ids, ElementsAre("a", "b", "q1"));
  EXPECT_THAT(sparse(set).values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(set.applied, IsEmpty());
}

TEST(Edges, FollowsItsInstructions) {
  const SimilaritySet set = edges("#kith directed\n#kith id z\n#kith id a b\na b\tz\t1\n");
  EXPECT_THAT(set.row_ids, ElementsAre("z", "a b"));
  EXPECT_THAT(sparse(set).starts, ElementsAre(0, 0, 1));
  EXPECT_EQ(sparse(edges("#kith absent zero\na b 1\n")).absent, Absent::kZero);
  EXPECT_THAT(error_of_edges("#kith nonsense\na b 1\n"), HasSubstr(":1: \"nonsense\""));
  EXPECT_THAT(error_of_edges("a b 1\n#kith bipartite\n"), HasSubstr("before the first pair"));
}

TEST(Edges, NamesLineFieldValueAndRule) {
  EXPECT_THAT(error_of_edges("a b 1\na b\n"), HasSubstr(":2: \"a b\" has 2 fields"));
  EXPECT_THAT(error_of_edges("a b 1 2\n"), HasSubstr(":1: \"a b 1 2\" has more than 3 fields"));
  EXPECT_THAT(error_of_edges("a b 1\na b x\n"), HasSubstr(":2:5: \"x\" is not a number"));
  EXPECT_THAT(error_of_edges("from to weight\na b 1\n"), HasSubstr("must begin with #"));
  EXPECT_THAT(error_of_edges("a b inf\n"), HasSubstr("infinite"));
  EXPECT_THAT(error_of_edges("a b nan\n"), HasSubstr("leaves a missing pair out"));
  EXPECT_THAT(error_of_edges("a\tb\t1\na\tb\t0,5\n"), HasSubstr("decimal commas"));
  EXPECT_THAT(error_of_edges("a\t\t1\n"), HasSubstr(":1:3: the id is empty"));
  EXPECT_THAT(error_of_edges("# only a comment\n"), HasSubstr("no pairs"));
  EXPECT_THAT(error_of_edges(""), HasSubstr("empty"));
}

TEST(Edges, AreRecognisedByContentButNeverInsteadOfAMatrix) {
  const auto format = [](const char* ending, const char* text) {
    const TempFile file(ending, text);
    return read_file(file).format;
  };
  EXPECT_EQ(format(".txt", "a b 1\nb a 2\n"), "edges");
  EXPECT_EQ(format(".csv", "a,b,1\nb,c,2\n"), "edges");
  EXPECT_EQ(format(".txt", "1\t2\t0.5\n1\t3\t0.5\n2\t3\t1\n3\t4\t1\n"), "edges");
  EXPECT_EQ(format(".edges", "1 2 1\n"), "edges");
  EXPECT_EQ(format(".csv", "1,2,0.5\n2,1,0.5\n3,4,1\n"), "csv");
}

TEST(Edges, RefusesToWriteIdsThatWouldNotReadBack) {
  SimilaritySet set;
  set.block = DenseBlock(RowMatrix::Ones(2, 2));
  const TempFile file(".edges");
  for (const char* id : {"", "#x", " x", "a\tb", "other"}) {
    set.row_ids = {"other", id};
    EXPECT_THAT(error_of([&] { write_similarity(file.path(), {}, set, {}, RunContext{}); }),
                HasSubstr("the id"));
    EXPECT_EQ(file.content(), "");
  }
}

}  // namespace
}  // namespace kith::edges_test
