// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/data/formats.hpp"
#include "support/files.hpp"

namespace kith::csv_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

SimilaritySet read(std::string_view text, const std::string& name = "m.csv",
                   const ReadSettings& settings = {}) {
  const TempFolder folder;
  return read_similarity(folder.file(name, text), settings, {});
}

std::string refused(std::string_view text, const std::string& name = "m.csv") {
  return error_of(ErrorCode::kBadInput, [&] { (void)read(text, name); });
}

std::vector<double> row(const SimilaritySet& set, Index i) {
  const auto values = std::get<DenseBlock>(set.block).row(i);
  return {values.begin(), values.end()};
}

void expect_plain_pair(const SimilaritySet& set) {
  ASSERT_EQ(set.rows(), 2);
  ASSERT_EQ(set.cols(), 2);
  EXPECT_THAT(row(set, 0), ElementsAre(1, 0.5));
  EXPECT_THAT(row(set, 1), ElementsAre(0.25, 1));
}

void expect_ids(const SimilaritySet& set, const std::vector<std::string>& rows,
                const std::vector<std::string>& columns) {
  expect_plain_pair(set);
  EXPECT_EQ(set.row_ids, rows);
  EXPECT_EQ(set.column_ids, columns);
}

// --- separators and line ends

TEST(CsvReader, FindsTheSeparator) {
  for (const std::string separator : {",", ";", "\t", " ", "  ", ", ", " ; "}) {
    SCOPED_TRACE("separator '" + separator + "'");
    expect_plain_pair(read(fmt::format("1{0}0.5\n0.25{0}1\n", separator), "m.txt"));
  }
  expect_plain_pair(read("  1   0.5\n0.25 1  \n", "m.txt"));
}

TEST(CsvReader, PrefersTheSeparatorThatCutsEveryLineAlike) {
  expect_ids(read(",a;1,b\na;1,1,0.5\nb,0.25,1\n"), {"a;1", "b"}, {"a;1", "b"});
}

TEST(CsvReader, TakesWindowsLineEndsAndAByteOrderMark) {
  expect_ids(read("\xef\xbb\xbf"
                  ",a,b\r\na,1,0.5\r\nb,0.25,1\r\n"),
             {"a", "b"}, {"a", "b"});
}

TEST(CsvReader, DoesNotMindHowTheFileEnds) {
  for (const std::string end : {"", "\n", "\r\n", "\n\n\n", "\n  \n"}) {
    expect_plain_pair(read("1,0.5\n0.25,1" + end));
  }
}

TEST(CsvReader, SkipsCommentsAboveTheFirstRow) {
  expect_plain_pair(read("# made by savetxt, 2 rows\n#\n1 0.5\n0.25 1\n", "m.txt"));
  expect_ids(read("# one; two\n   a  b\na  1  0.5\nb  0.25  1\n", "m.txt"), {"a", "b"}, {"a", "b"});
  expect_ids(read("#id,a,b\na,1,0.5\nb,0.25,1\n"), {"a", "b"}, {"a", "b"});
}

TEST(CsvReader, RefusesABlankLineBetweenRows) {
  EXPECT_THAT(refused("1,0.5\n\n0.25,1\n"),
              AllOf(HasSubstr("m.csv:2: a blank line between the rows"), HasSubstr("line 3"),
                    HasSubstr("every line must hold one row")));
}

// --- headers and ids

TEST(CsvReader, ReadsEveryArrangementOfIds) {
  expect_ids(read("1,0.5\n0.25,1\n"), {}, {});
  expect_ids(read(",a,b\na,1,0.5\nb,0.25,1\n"), {"a", "b"}, {"a", "b"});
  expect_ids(read("id,a,b\na,1,0.5\nb,0.25,1\n"), {"a", "b"}, {"a", "b"});
  expect_ids(read("protein,a,b\na,1,0.5\nb,0.25,1\n"), {"a", "b"}, {"a", "b"});
  expect_ids(read("a,b\nq,1,0.5\nr,0.25,1\n"), {"q", "r"}, {"a", "b"});
  expect_ids(read("a,b\n1,0.5\n0.25,1\n"), {}, {"a", "b"});
  expect_ids(read("a,1,0.5\nb,0.25,1\n"), {"a", "b"}, {});
}

TEST(CsvReader, ReadsIdsThatAreNumbers) {
  expect_ids(read(",7,8\n7,1,0.5\n8,0.25,1\n"), {"7", "8"}, {"7", "8"});
  expect_ids(read("id,7,8\n7,1,0.5\n8,0.25,1\n"), {"7", "8"}, {"7", "8"});
  expect_ids(read("sample no,7,8\n7,1,0.5\n8,0.25,1\n"), {"7", "8"}, {"7", "8"});
  expect_ids(read("7,8\n7,1,0.5\n8,0.25,1\n"), {"7", "8"}, {"7", "8"});
  expect_ids(read("\"7\",\"8\"\n1,0.5\n0.25,1\n"), {}, {"7", "8"});
  expect_ids(read("\"7\",1,0.5\n\"8\",0.25,1\n"), {"7", "8"}, {});
  // Codes that happen to be numbers among codes that are not.
  expect_ids(read(",1e10,1abc\n1e10,1,0.5\n1abc,0.25,1\n"), {"1e10", "1abc"}, {"1e10", "1abc"});
}

TEST(CsvReader, TakesAnEmptyFirstCellOverDataForAMissingValue) {
  const SimilaritySet set = read(",0.5\n0.5,1\n");
  ASSERT_EQ(set.rows(), 2);
  EXPECT_TRUE(std::isnan(row(set, 0)[0]));
  EXPECT_THAT(set.column_ids, IsEmpty());
}

TEST(CsvReader, ReadsQuotedIds) {
  const SimilaritySet set = read(
      ",\"Smith, J.\",\"the \"\"best\"\"\",\"two\nlines\",na\xc3\xafve id\n"
      "\"Smith, J.\",1,2,3,4\n\"the \"\"best\"\"\",5,6,7,8\n\"two\nlines\",9,10,11,12\n"
      "na\xc3\xafve id,13,14,15,16\n");
  EXPECT_THAT(set.column_ids,
              ElementsAre("Smith, J.", "the \"best\"", "two\nlines", "na\xc3\xafve id"));
  EXPECT_EQ(set.row_ids, set.column_ids);
  EXPECT_THAT(row(set, 3), ElementsAre(13, 14, 15, 16));
}

TEST(CsvReader, ReadsAFileThatQuotesEverything) {
  expect_plain_pair(read("\"1\",\"0.5\"\n\"0.25\",\"1\"\n"));
  expect_ids(read("\"\",\"a\",\"b\"\n\"a\",\"1\",\"0.5\"\n\"b\",\"0.25\",\"1\"\n"), {"a", "b"},
             {"a", "b"});
}

TEST(CsvReader, CountsLinesThroughQuotedLineEnds) {
  EXPECT_THAT(refused(",\"a\nb\",c\nx,1,2\ny,1,oops\n"), HasSubstr("m.csv:4:5: cell 3"));
}

TEST(CsvReader, RefusesAQuoteThatIsNeverClosed) {
  EXPECT_THAT(refused("a,1,0.5\n\"b,0.25,1\nc,1,2\n"),
              AllOf(HasSubstr("m.csv:2:1: the quote that opens here is never closed"),
                    HasSubstr("quotes inside it are doubled")));
}

TEST(CsvReader, RefusesRepeatedIds) {
  EXPECT_THAT(refused(",a,a\nx,1,2\ny,3,4\n"),
              AllOf(HasSubstr("m.csv:1:4: the column id \"a\" stands over columns 1 and 2"),
                    HasSubstr("ids must differ")));
  EXPECT_THAT(refused(",a,b\nx,1,2\ny,3,4\nx,5,6\n"),
              AllOf(HasSubstr("m.csv:4:1: the row id \"x\" stands on lines 2 and 4"),
                    HasSubstr("ids must differ")));
}

TEST(CsvReader, RefusesEmptyIdsAndIdsThatAreNotUtf8) {
  EXPECT_THAT(refused(",a,b\nx,1,2\n,3,4\n"),
              HasSubstr("m.csv:3:1: an empty row id; every row needs one"));
  EXPECT_THAT(refused(",a,\nx,1,2\ny,3,4\n"), HasSubstr("m.csv:1:4: an empty column id"));
  EXPECT_THAT(
      refused(",a,b\nx,1,2\ncaf\xe9,3,4\n"),
      AllOf(HasSubstr("m.csv:3:1: the row id"), HasSubstr("is not UTF-8"), HasSubstr("iconv")));
}

// --- numbers

TEST(CsvReader, ReadsMissingValuesAsNan) {
  const SimilaritySet set = read("1,NA,nan\nNaN,2,null\n?,,3\n");
  EXPECT_EQ(missing_pairs(set.block), 6);
  EXPECT_EQ(row(set, 2)[2], 3);
}

TEST(CsvReader, ReadsEveryWayToWriteANumber) {
  const SimilaritySet set = read("+1,-.5,1.,1e-3,\" 2E+2 \", 7 ,-0,1e-400\n");
  EXPECT_THAT(row(set, 0), ElementsAre(1, -0.5, 1, 1e-3, 200, 7, 0, 0));
  EXPECT_TRUE(std::signbit(row(set, 0)[6]));
}

TEST(CsvReader, RefusesTextWhereANumberShouldBe) {
  EXPECT_THAT(refused("1,0.5\n0.25,oops\n"),
              AllOf(HasSubstr("m.csv:2:6: cell 2 holds \"oops\""), HasSubstr("not a number"),
                    HasSubstr("a cell must hold a number such as 0.25")));
  EXPECT_THAT(refused(",a,b\nx,1,0.5\ny,0.25,1.0.0\n"),
              HasSubstr("m.csv:3:8: cell 3 (column \"b\") holds \"1.0.0\""));
  EXPECT_THAT(refused("a b\n1 0.5\n0.25 one\n"), HasSubstr(":3:6: cell 2"));
}

TEST(CsvReader, RefusesStrayTextInTheFirstRowInsteadOfTakingItForAnId) {
  EXPECT_THAT(refused("1,oops\n0.25,1\n"), HasSubstr("m.csv:1:3: cell 2 holds \"oops\""));
  EXPECT_THAT(refused("oops,0.5\n0.25,1\n"), HasSubstr("m.csv:1:1: cell 1 holds \"oops\""));
  EXPECT_THAT(refused("1,0.5,oops\n0.5,1,0.3\n0.2,0.3,1\n"), HasSubstr("m.csv:1:7: cell 3"));
}

TEST(CsvReader, RefusesInfinityAndNumbersOutOfRange) {
  EXPECT_THAT(refused("1,0.5\n-inf,1\n"),
              AllOf(HasSubstr("m.csv:2:1: cell 1 holds \"-inf\""), HasSubstr("must be finite")));
  EXPECT_THAT(refused("1,Infinity\n0.5,1\n"), HasSubstr("m.csv:1:3: cell 2 holds \"Infinity\""));
  EXPECT_THAT(refused("1,0.5\n1e999,1\n"),
              AllOf(HasSubstr("m.csv:2:1: cell 1 holds \"1e999\""), HasSubstr("too large")));
}

TEST(CsvReader, ExplainsDecimalCommas) {
  for (const std::string separator : {";", "\t", " "}) {
    const std::string message = refused(fmt::format("1,0{0}0,5\n0,25{0}1,0\n", separator));
    EXPECT_THAT(message, AllOf(HasSubstr("m.csv:1:1: cell 1 holds \"1,0\""),
                               HasSubstr("decimal comma"), HasSubstr("by points")));
  }
  EXPECT_THAT(refused(";a;b\na;1;0,5\nb;0,25;1\n"), HasSubstr("m.csv:2:5: cell 3 (column \"b\")"));
}

// --- shapes

TEST(CsvReader, RefusesRaggedRows) {
  EXPECT_THAT(refused("1,0.5\n0.25,1\n1\n"),
              AllOf(HasSubstr("m.csv:3:2: the row has 1 cell; 2 are expected"),
                    HasSubstr("as in the first row"), HasSubstr("separated by commas")));
  EXPECT_THAT(refused("1,0.5\n0.25,1,7\n"), HasSubstr("m.csv:2:8: the row has 3 cells; 2 are"));
  EXPECT_THAT(refused("1,0.5\n0.5,1,0.3\n0.2,0.3,1\n"), HasSubstr("m.csv:2:7: the row has 3"));
  EXPECT_THAT(refused(",a,b\nx,1\ny,1,2\n", "m.tsv"), HasSubstr("m.tsv:"));
  EXPECT_THAT(refused("a\tb\nx\t1\t2\ny\t1\n", "m.tsv"),
              AllOf(HasSubstr("m.tsv:3:4: the row has 2 cells; 3 are expected"),
                    HasSubstr("an id and 2 numbers"), HasSubstr("separated by tabs")));
  EXPECT_THAT(refused("1 2\n3\n", "m.txt"), HasSubstr("m.txt:2:2: the row has 1 cell; 2 are"));
}

TEST(CsvReader, RefusesFilesWithoutRows) {
  EXPECT_THAT(refused(""), HasSubstr("m.csv: the file is empty"));
  EXPECT_THAT(refused("\n\n"), HasSubstr("m.csv: the file holds no rows"));
  EXPECT_THAT(refused("\xef\xbb\xbf"), HasSubstr("m.csv: the file holds no rows"));
  EXPECT_THAT(refused(",a,b\n"), HasSubstr("m.csv:1:1: a header of 2 ids and no rows below it"));
  EXPECT_THAT(refused("a\nb\n", "m.txt"), HasSubstr("m.txt:2:1: cell 1"));
}

TEST(CsvReader, ReadsTheSmallestMatrices) {
  EXPECT_THAT(row(read("5"), 0), ElementsAre(5));
  const SimilaritySet named = read(",a\na,5\n");
  EXPECT_THAT(row(named, 0), ElementsAre(5));
  EXPECT_THAT(named.row_ids, ElementsAre("a"));
  EXPECT_THAT(read("a,5\n").row_ids, ElementsAre("a"));
}

TEST(CsvReader, ReadsTallAndWideTables) {
  std::string tall;
  for (int i = 0; i < 5000; ++i) tall += std::to_string(i) + ",2,3\n";
  const SimilaritySet set = read(tall);
  ASSERT_EQ(set.rows(), 5000);
  EXPECT_THAT(row(set, 4999), ElementsAre(4999, 2, 3));
  std::string wide = "1";
  for (int j = 1; j < 200'000; ++j) wide += "," + std::to_string(j);
  EXPECT_EQ(read(wide).cols(), 200'000);
}

TEST(CsvReader, HoldsATsvToTabsWhenToldSo) {
  const ReadSettings tsv{.format = Format::kTsv};
  expect_plain_pair(read("1\t0.5\n0.25\t1\n", "m.txt", tsv));
  EXPECT_THAT(error_of(ErrorCode::kBadInput, [&] { (void)read("1;2\n3;4\n", "m.txt", tsv); }),
              HasSubstr("m.txt"));
}

TEST(CsvReader, StopsWhenAsked) {
  StopSource stop;
  stop.request_stop();
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "1,2\n";
  const TempFolder folder;
  const std::string path = folder.file("m.csv", text);
  (void)error_of(ErrorCode::kInterrupted,
                 [&] { (void)read_similarity(path, {}, {.stop = StopToken(stop)}); });
}

// --- rows one by one

TEST(CsvRows, AreTheRowsOfTheWholeTable) {
  const TempFolder folder;
  const std::string path = folder.file("q.csv", ",a,b,c\nx,1,2,3\ny,4,NA,6\n");
  const std::unique_ptr<RowReader> reader = open_rows(path, {}, {});
  EXPECT_EQ(reader->cols(), 3);
  EXPECT_TRUE(reader->has_row_ids());
  EXPECT_THAT(reader->column_ids(), ElementsAre("a", "b", "c"));
  std::vector<double> values(3);
  std::string id;
  ASSERT_TRUE(reader->next(values, id));
  EXPECT_EQ(id, "x");
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
  ASSERT_TRUE(reader->next(values, id));
  EXPECT_EQ(id, "y");
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_FALSE(reader->next(values, id));
}

TEST(CsvRows, GiveAnEmptyIdWhereThereIsNone) {
  const TempFolder folder;
  const std::unique_ptr<RowReader> reader = open_rows(folder.file("q.csv", "1,2\n"), {}, {});
  EXPECT_FALSE(reader->has_row_ids());
  std::vector<double> values(2);
  std::string id = "left over";
  ASSERT_TRUE(reader->next(values, id));
  EXPECT_EQ(id, "");
}

// --- writing

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

RowMatrix awkward_numbers() {
  RowMatrix values(3, 3);
  values << -0.0, 5e-324, 0.1, 1.0 / 3, 1.7976931348623157e308, -2.2250738585072014e-308, 1e22,
      123456789012345678.0, kNan;
  return values;
}

void expect_round_trip(const SimilaritySet& set, const std::string& name) {
  SCOPED_TRACE(name);
  const TempFolder folder;
  write_similarity(folder.path(name), std::nullopt, set, {}, {});
  const SimilaritySet back = read_similarity(folder.path(name), {}, {});
  ASSERT_EQ(back.rows(), set.rows());
  ASSERT_EQ(back.cols(), set.cols());
  EXPECT_EQ(back.row_ids, set.row_ids);
  EXPECT_EQ(back.column_ids, set.column_ids);
  for (Index i = 0; i < set.rows(); ++i) {
    for (Index j = 0; j < set.cols(); ++j) {
      const double wanted = std::get<DenseBlock>(set.block)(i, j);
      const double got = std::get<DenseBlock>(back.block)(i, j);
      EXPECT_TRUE(bits(got) == bits(wanted) || (std::isnan(got) && std::isnan(wanted)))
          << wanted << " came back as " << got;
    }
  }
}

TEST(CsvWriter, ReturnsTheSameBitsThroughEveryArrangementOfIds) {
  const std::vector<std::vector<std::string>> names = {
      {"a", "b", "c"},
      {"Smith, J.", "tab\tand;semicolon", "two\nlines \"quoted\""},
      {"7", "8", "9"},
      {"1.5", "NA", "id"},
      {"id", " outer blanks ", "na\xc3\xafve"},
      {"1e10", "#x", "?"}};
  for (const auto& ids : names) {
    for (const std::string file : {"m.csv", "m.tsv", "m.csv.gz", "m.tsv.zst"}) {
      for (const bool rows : {false, true}) {
        for (const bool columns : {false, true}) {
          SimilaritySet set;
          set.block = DenseBlock(awkward_numbers());
          if (rows) set.row_ids = ids;
          if (columns) set.column_ids = ids;
          expect_round_trip(set, file);
        }
      }
    }
  }
}

TEST(CsvWriter, ReturnsRandomBits) {
  Rng rng(3);
  RowMatrix values(40, 25);
  for (Index i = 0; i < values.size(); ++i) {
    double value = kNan;
    while (!std::isfinite(value)) value = std::bit_cast<double>(rng.next());
    values.data()[i] = value;
  }
  SimilaritySet set;
  set.block = DenseBlock(std::move(values));
  expect_round_trip(set, "m.csv");
}

TEST(CsvWriter, WritesASparseTableRowByRow) {
  SimilaritySet set;
  set.block = SparseBlock{.cols = 3, .starts = {0, 1, 1}, .columns = {2}, .values = {0.5}};
  const TempFolder folder;
  write_similarity(folder.path("m.csv"), std::nullopt, set, {}, {});
  EXPECT_EQ(content_of(folder.path("m.csv")), "NaN,NaN,0.5\nNaN,NaN,NaN\n");
}

TEST(CsvWriter, LeavesNothingBehindWhenTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
  SimilaritySet set;
  set.block = DenseBlock(awkward_numbers());
  EXPECT_THAT(
      error_of(ErrorCode::kIo, [&] { write_similarity("/dev/full", Format::kCsv, set, {}, {}); }),
      AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
}

}  // namespace
}  // namespace kith::csv_test
