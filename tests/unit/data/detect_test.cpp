// SPDX-License-Identifier: Apache-2.0
// Which format a file is taken for; each format's own tests say how it is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kith/data/formats.hpp"
#include "support/files.hpp"

namespace kith::detect_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(FormatOfName, LooksThroughCompressionFoldersAndCase) {
  EXPECT_EQ(format_of_name("a/b.csv"), Format::kCsv);
  EXPECT_EQ(format_of_name("B.TSV.gz"), Format::kTsv);
  EXPECT_EQ(format_of_name("m.npy.zst"), Format::kNpy);
  EXPECT_EQ(format_of_name("m.mtx"), Format::kMatrixMarket);
  EXPECT_EQ(format_of_name("hits.m8"), Format::kBlast);
  EXPECT_FALSE(format_of_name("folder.csv/data"));
  EXPECT_FALSE(format_of_name("data.txt"));
}

TEST(ReadSimilarity, RecordsNameSourceAndFormat) {
  const TempFolder folder;
  const std::string path = folder.file("Voting.v2.csv", "1,2\n2,1\n");
  const SimilaritySet set = read_similarity(path, {}, {});
  EXPECT_EQ(set.name, "Voting.v2");
  EXPECT_EQ(set.source, path);
  EXPECT_EQ(set.format, "csv");
  EXPECT_EQ(read_similarity(folder.file("t.txt", "1\t2\n2\t1\n"), {}, {}).format, "tsv");
  EXPECT_EQ(read_similarity(folder.file("t", "1 2\n2 1\n"), {}, {}).format, "csv");
  const std::string quoted_tab = ",\"a\tb\",c\nx,1,2\ny,2,1\n";
  EXPECT_EQ(read_similarity(folder.file("q", quoted_tab), {}, {}).format, "csv");
}

TEST(ReadSimilarity, RefusesWhatIsNoFile) {
  const TempFolder folder;
  EXPECT_THAT(error_of(ErrorCode::kIo, [&] { (void)read_similarity(folder.path(""), {}, {}); }),
              HasSubstr("is a directory"));
  EXPECT_THAT(
      error_of(ErrorCode::kIo, [&] { (void)read_similarity(folder.path("none.csv"), {}, {}); }),
      AllOf(HasSubstr("none.csv"), HasSubstr("No such file")));
}

TEST(ReadSimilarity, RefusesAnEmptyFileOfAnyFormat) {
  const TempFolder folder;
  for (const std::string name : {"e.csv", "e.npy", "e.mtx", "e.txt", "e.edges", "e.mat", "e.phy"}) {
    EXPECT_THAT(error_of(ErrorCode::kBadInput,
                         [&] { (void)read_similarity(folder.file(name, ""), {}, {}); }),
                HasSubstr(name + ": the file is empty"));
  }
}

TEST(WriteSimilarity, RefusesNamesAndFormatsItCannotWrite) {
  const TempFolder folder;
  SimilaritySet set;
  set.block = DenseBlock(RowMatrix::Ones(2, 2));
  const auto refused = [&](const std::string& name) {
    return error_of(ErrorCode::kInvalidArgument,
                    [&] { write_similarity(folder.path(name), std::nullopt, set, {}, {}); });
  };
  EXPECT_THAT(refused("out.xyz"), AllOf(HasSubstr("out.xyz"), HasSubstr(".csv, .tsv, .npy")));
  EXPECT_THAT(refused("out.mat"), AllOf(HasSubstr("out.mat"), HasSubstr("not written")));
  EXPECT_EQ(folder.count(), 0U);
}

}  // namespace
}  // namespace kith::detect_test
