// SPDX-License-Identifier: Apache-2.0
#include "support/format_files.hpp"

namespace kith::matrix_market_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::error_of;
using testing_support::error_of_text;
using testing_support::read_file;
using testing_support::read_text;
using testing_support::TempFile;
using testing_support::value_at;
using testing_support::write_packed;

const std::string kBanner = "%%MatrixMarket matrix ";

SimilaritySet market(const std::string& text) {
  return read_text(kBanner + text, Format::kMatrixMarket);
}
std::string error_of_market(const std::string& text) {
  return error_of_text(kBanner + text, Format::kMatrixMarket);
}
const SparseBlock& sparse(const SimilaritySet& set) { return std::get<SparseBlock>(set.block); }

TEST(MatrixMarket, KeepsCoordinatesSparseWithZerosAbsent) {
  const SimilaritySet set =
      market("coordinate real general\n% a comment\n\n2 3 3\n2 3 0.5\n1 1 -4\n2 1 7\n");
  EXPECT_EQ(sparse(set).absent, Absent::kZero);
  EXPECT_EQ(set.cols(), 3);
  EXPECT_THAT(sparse(set).starts, ElementsAre(0, 1, 3));
  EXPECT_THAT(sparse(set).columns, ElementsAre(0, 0, 2));
  EXPECT_THAT(sparse(set).values, ElementsAre(-4, 7, 0.5));
}

TEST(MatrixMarket, ExpandsSymmetricStorageAndPatterns) {
  const SimilaritySet numbers = market("coordinate integer symmetric\n2 2 2\n1 1 3\n2 1 5\n");
  EXPECT_THAT(sparse(numbers).columns, ElementsAre(0, 1, 0));
  EXPECT_THAT(sparse(numbers).values, ElementsAre(3, 5, 5));
  const SimilaritySet pattern = market("coordinate pattern general\r\n2 2 1\r\n1 2\r\n");
  EXPECT_THAT(sparse(pattern).values, ElementsAre(1));
}

TEST(MatrixMarket, ReadsArraysColumnByColumn) {
  const SimilaritySet set = market("ARRAY Real General\n2 3\n1\n4\n2\n5\n3\nnan\n");
  ASSERT_FALSE(is_sparse(set.block));
  EXPECT_EQ(value_at(set, 0, 2), 3);
  EXPECT_EQ(value_at(set, 1, 0), 4);
  EXPECT_EQ(missing_pairs(set.block), 1);
  const SimilaritySet symmetric = market("array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(value_at(symmetric, 0, 2), 3);
  EXPECT_EQ(value_at(symmetric, 2, 0), 3);
  EXPECT_EQ(value_at(symmetric, 1, 1), 4);
  EXPECT_EQ(value_at(symmetric, 1, 2), 5);
}

TEST(MatrixMarket, RefusesWhatItCannotHold) {
  EXPECT_THAT(error_of_market("coordinate complex general\n1 1 1\n1 1 1 1\n"),
              HasSubstr(":1:34: \"complex\""));
  EXPECT_THAT(error_of_market("coordinate real skew-symmetric\n1 1 0\n"),
              HasSubstr("\"skew-symmetric\""));
  EXPECT_THAT(error_of_market("coordinate real hermitian\n1 1 0\n"), HasSubstr("\"hermitian\""));
  EXPECT_THAT(error_of_market("array pattern general\n1 1\n"), HasSubstr("\"pattern\""));
  EXPECT_THAT(error_of_market("array real\n1 1\n"), HasSubstr("is not the banner"));
  EXPECT_THAT(error_of_text("1,2\n", Format::kMatrixMarket), HasSubstr("is not the banner"));
}

TEST(MatrixMarket, RefusesSizesTheFileDoesNotBack) {
  EXPECT_THAT(error_of_market("coordinate real general\n1000000000000 1000000000000 1\n1 1 1\n"),
              HasSubstr(":2: the header claims 1000000000000 x"));
  EXPECT_THAT(error_of_market("coordinate real general\n3 3 1000000000000\n1 1 1\n"),
              HasSubstr("cannot hold them"));
  EXPECT_THAT(error_of_market("coordinate real general\n2000000000 2000000000 1\n1 1 1\n"),
              HasSubstr("for only 1 entries"));
  EXPECT_THAT(error_of_market("array real general\n1000000000000 1\n1\n"),
              HasSubstr("cannot hold them"));
  EXPECT_THAT(error_of_market("array real general\n9000000000000000000 9000000000000000000\n1\n"),
              HasSubstr("more than any memory holds"));
  EXPECT_THAT(error_of_market("array real general\n-1 1\n1\n"), HasSubstr(":2:1: \"-1\""));
  EXPECT_THAT(error_of_market("array real general\n0 0\n"), HasSubstr("empty"));
  const TempFile packed(".mtx.gz");
  write_packed(packed, kBanner + "array real general\n1000000000000 1000\n1\n");
  EXPECT_THAT(error_of([&] { (void)read_file(packed); }), HasSubstr("ends after 1 of"));
}

TEST(MatrixMarket, NamesLineFieldValueAndRule) {
  const std::string start = "coordinate real general\n2 2 2\n1 1 1\n";
  EXPECT_THAT(error_of_market(start), HasSubstr("ends after 1 of the 2 entries"));
  EXPECT_THAT(error_of_market(start + "1 2 1\n2 2 1\n"), HasSubstr(":5: more entries than the 2"));
  EXPECT_THAT(error_of_market(start + "3 1 1\n"), HasSubstr(":4:1: \"3\" is not a row"));
  EXPECT_THAT(error_of_market(start + "1 0 1\n"), HasSubstr(":4:3: \"0\" is not a column"));
  EXPECT_THAT(error_of_market(start + "1 2 x\n"), HasSubstr(":4:5: \"x\" is not a number"));
  EXPECT_THAT(error_of_market(start + "1 2 inf\n"), HasSubstr("infinite"));
  EXPECT_THAT(error_of_market(start + "1 2\n"), HasSubstr(":4: 2 fields"));
  EXPECT_THAT(error_of_market(start + "1 1 2\n"), HasSubstr("first in line 3"));
  EXPECT_THAT(error_of_market("coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n"),
              HasSubstr("listed a second time"));
  EXPECT_THAT(error_of_market("coordinate real symmetric\n2 3 1\n1 2 1\n"),
              HasSubstr("must be square"));
  EXPECT_THAT(error_of_market("array real general\n2 1\n1\n"), HasSubstr("ends after 1 of the 2"));
  EXPECT_THAT(error_of_market("array real general\n1 1\n1\n2\n"), HasSubstr(":4: more entries"));
  EXPECT_THAT(error_of_market("array real general\n"), HasSubstr("sizes is missing"));
}

TEST(MatrixMarket, IsRecognisedWhateverItsName) {
  const TempFile file(".csv", kBanner + "array real general\n1 1\n2\n");
  EXPECT_EQ(read_file(file).format, "matrix-market");
}

}  // namespace
}  // namespace kith::matrix_market_test
