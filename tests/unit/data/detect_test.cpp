// SPDX-License-Identifier: Apache-2.0
// Which format a file is taken for; each format's own tests say how it is read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "kith/data/formats.hpp"
#include "support/files.hpp"

namespace kith::detect_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

TEST(ReadSimilarity, RefusesSamplesThemselvesAndSaysHowTheyAreGiven) {
  const TempFolder folder;
  const std::string idx("\0\0\x08\x03\0\0\0\1\0\0\0\1\0\0\0\1\x07", 17);
  for (const auto& [name, text, what] : std::vector<std::array<std::string, 3>>{
           {"s.fasta", ">one\nMKV\n>two\nMKW\n", "FASTA"},
           {"s.txt", "\n>one two\nMKV\n", "FASTA"},
           {"images", idx, "IDX"},
           {"w.txt", "kitten\nsitting\nmitten\n", "\"sitting\""},
           {"w.tsv", "one\tuno\ntwo\tdos\nthree\ttres\n", "\"dos\""},
           {"votes.csv", "y,n,?\nn,?,n\ny,y,n\n", "words"}}) {
    const std::string path = folder.file(name, text);
    EXPECT_THAT(error_of(ErrorCode::kBadInput, [&] { (void)read_similarity(path, {}, {}); }),
                AllOf(HasSubstr(path), HasSubstr(what), HasSubstr("[[data]] and [[measure]]")));
    EXPECT_THAT(error_of(ErrorCode::kBadInput, [&] { (void)open_rows(path, {}, {}); }),
                HasSubstr(what));
  }
}

TEST(ReadSimilarity, TakesAMistakeInAMatrixForAMistake) {
  const TempFolder folder;
  for (const std::string text : {"id,a,b\na,1,x\nb,0.5,1\n", "a,b\nx,y\n", "1,2\n3,four\n5,6\n"}) {
    const std::string path = folder.file("m.csv", text);
    EXPECT_THAT(error_of(ErrorCode::kBadInput, [&] { (void)read_similarity(path, {}, {}); }),
                Not(HasSubstr("[[data]]")));
  }
}

TEST(ReadSimilarity, TransposesTablesOfEveryKind) {
  const TempFolder folder;
  const ReadSettings turned{.transpose = true};
  const SimilaritySet dense =
      read_similarity(folder.file("d.csv", "id,x,y,z\na,1,2,3\nb,4,5,6\n"), turned, {});
  EXPECT_EQ(dense.row_ids, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(dense.column_ids, (std::vector<std::string>{"a", "b"}));
  const RowMatrix expected{{1, 4}, {2, 5}, {3, 6}};
  EXPECT_EQ(to_dense(dense.block).values(), expected);
  ReadSettings pairs = turned;
  pairs.bipartite = true;
  const std::string edges = folder.file("p.edges", "a x 1\nb x 2\na y 3\n");
  const SimilaritySet sparse = read_similarity(edges, pairs, {});
  EXPECT_EQ(sparse.row_ids, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(std::get<SparseBlock>(sparse.block)(0, 1), 2);
  const std::unique_ptr<RowReader> rows = open_rows(folder.path("d.csv"), turned, {});
  std::vector<double> row(2);
  std::string id;
  ASSERT_TRUE(rows->next(row, id));
  EXPECT_EQ(id, "x");
  EXPECT_THAT(row, testing::ElementsAre(1, 4));
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
