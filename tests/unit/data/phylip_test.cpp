// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "support/format_files.hpp"

namespace kith::phylip_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing_support::error_of_text;
using testing_support::read_file;
using testing_support::read_text;
using testing_support::TempFile;
using testing_support::value_at;

SimilaritySet phylip(std::string_view text) { return read_text(text, Format::kPhylip); }
std::string error_of_phylip(std::string_view text) { return error_of_text(text, Format::kPhylip); }

void expect_three_species(const SimilaritySet& set) {
  ASSERT_EQ(set.rows(), 3);
  ASSERT_EQ(set.cols(), 3);
  EXPECT_EQ(set.column_ids, set.row_ids);
  EXPECT_EQ(value_at(set, 0, 0), 0);
  EXPECT_EQ(value_at(set, 0, 1), 0.25);
  EXPECT_EQ(value_at(set, 1, 0), 0.25);
  EXPECT_EQ(value_at(set, 2, 0), 0.5);
  EXPECT_EQ(value_at(set, 1, 2), 0.75);
}

TEST(Phylip, ReadsSquareAndLowerTriangle) {
  const SimilaritySet full =
      phylip("   3\nHuman 0 0.25 0.5\nChimp 0.25 0 0.75\nGorilla_gorilla 0.5 0.75 0\n");
  expect_three_species(full);
  EXPECT_THAT(full.row_ids, ElementsAre("Human", "Chimp", "Gorilla_gorilla"));
  EXPECT_THAT(full.applied, SizeIs(0));
  const SimilaritySet lower = phylip("3\nHuman\nChimp 0.25\nGorilla 0.5 0.75\n");
  expect_three_species(lower);
  EXPECT_THAT(lower.applied, SizeIs(1));
  expect_three_species(phylip("3\r\nHuman 0\r\nChimp 0.25 0\r\nGorilla 0.5 0.75 0\r\n"));
}

TEST(Phylip, ReadsStrictNamesWithBlanks) {
  const SimilaritySet set =
      phylip("3\nHomo sapie0 0.25 0.5\nPan troglo0.25 0 0.75\nSeq 1     0.5 0.75 0\n");
  expect_three_species(set);
  EXPECT_THAT(set.row_ids, ElementsAre("Homo sapie", "Pan troglo", "Seq 1"));
}

TEST(Phylip, GoesOnInTheFollowingLines) {
  expect_three_species(phylip("3\nA 0 0.25\n  0.5\nB 0.25 0\n 0.75\nC 0.5\n0.75\n\n0\n"));
}

TEST(Phylip, ReadsOneSampleAndMissingDistances) {
  EXPECT_EQ(phylip("1\nA 0\n").rows(), 1);
  EXPECT_EQ(phylip("1\nA\n").rows(), 1);
  EXPECT_TRUE(std::isnan(value_at(phylip("2\nA 0 nan\nB 1 0\n"), 0, 1)));
}

TEST(Phylip, NamesLineFieldValueAndRule) {
  EXPECT_THAT(error_of_phylip("three\n"), HasSubstr(":1:1: \"three\" is not the number"));
  EXPECT_THAT(error_of_phylip("0\n"), HasSubstr("whole number from 1"));
  EXPECT_THAT(error_of_phylip("1000000000000\nA 0\n"), HasSubstr("1000000000000"));
  EXPECT_THAT(error_of_phylip("1000000\nA 0\n"), HasSubstr("cannot hold their distances"));
  EXPECT_THAT(error_of_phylip("2\nA 0 1\n      \n"), HasSubstr("ends after 1 of 2 samples"));
  EXPECT_THAT(error_of_phylip("2\nA 0 1\nB 1\n"), HasSubstr("after 1 of 2 distances"));
  EXPECT_THAT(error_of_phylip("2\nA 0 1\nA 1 0\n"), HasSubstr(":3:1: the name \"A\" of sample 2"));
  EXPECT_THAT(error_of_phylip("2\nA 0 1\nB 1 0 3\n"), HasSubstr(":3:7: \"3\" is one distance"));
  EXPECT_THAT(error_of_phylip("2\nA 0 x\nB 1 0\n"), HasSubstr(":2:5: \"x\" is not a number"));
  EXPECT_THAT(error_of_phylip("2\nA 0 inf\nB 1 0\n"), HasSubstr("infinite"));
  EXPECT_THAT(error_of_phylip("2\nA 0 0,5\nB 1 0\n"), HasSubstr("decimal commas"));
  EXPECT_THAT(error_of_phylip("2\nA 0 1\nB 1 0\nC 1 1\n"), HasSubstr(":4: \"C 1 1\" follows"));
}

TEST(Phylip, IsRecognisedByContent) {
  const TempFile square(".txt", "2\nA 0 1\nB 1 0\n");
  EXPECT_EQ(read_file(square).format, "phylip");
  const TempFile lower(".dist", "3\nA\nB 1\nC 1 2\n");
  EXPECT_EQ(read_file(lower).format, "phylip");
}

}  // namespace
}  // namespace kith::phylip_test
