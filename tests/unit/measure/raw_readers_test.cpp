// SPDX-License-Identifier: Apache-2.0
// Files of series, sequences, sets, categories and IDX vectors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kith/measure/raw_data.hpp"
#include "support/files.hpp"

namespace kith::raw_readers_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

template <class Data>
Data read_as(RawKind kind, const std::string& name, const std::string& content) {
  const TempFolder folder;
  return std::get<Data>(read_raw(folder.file(name, content), kind, RunContext{}));
}

std::string refusal(RawKind kind, const std::string& content) {
  const TempFolder folder;
  const std::string path = folder.file("x", content);
  return error_of(ErrorCode::kBadInput,
                  [&] { static_cast<void>(read_raw(path, kind, RunContext{})); });
}

TEST(SeriesFiles, MayHaveAnyLengthAndSeparator) {
  for (const char* content : {"1,2.5,-3\n4\n", "1\t2.5\t-3\n4\n", "1 2.5  -3\r\n4\n\n"}) {
    const auto data = read_as<SeriesData>(RawKind::kSeries, "x.csv", content);
    EXPECT_THAT(data.values, ElementsAre(ElementsAre(1, 2.5, -3), ElementsAre(4)));
    EXPECT_THAT(data.ids, IsEmpty());
  }
}

TEST(SeriesFiles, ShowTheirSeparatorInAnyLine) {
  for (const char* content : {"1\n2,3\n4,5,6\n", "1\n2\t3\n4\t5\t6\n", "1\n2 3\n4 5 6\n"}) {
    const auto data = read_as<SeriesData>(RawKind::kSeries, "x.csv", content);
    EXPECT_THAT(data.values, ElementsAre(ElementsAre(1), ElementsAre(2, 3), ElementsAre(4, 5, 6)));
  }
}

std::string npy_of(const std::vector<double>& rows, int columns) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                       std::to_string(rows.size() / static_cast<std::size_t>(columns)) + ", " +
                       std::to_string(columns) + "), }";
  header.append(117 - header.size(), ' ');
  const std::string numbers(reinterpret_cast<const char*>(rows.data()), 8 * rows.size());
  return "\x93NUMPY\1\0"s + "\x76\0"s + header + "\n" + numbers;
}

TEST(SeriesFiles, MayBePaddedInNpyToo) {
  const double gap = std::numeric_limits<double>::quiet_NaN();
  const auto data =
      read_as<SeriesData>(RawKind::kSeries, "x.npy", npy_of({1, 2, 3, 4, gap, gap}, 3));
  EXPECT_THAT(data.values, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4)));
  EXPECT_THAT(refusal(RawKind::kSeries, npy_of({1, 2, 3, gap, 4, gap}, 3)),
              AllOf(HasSubstr("row 2, column 1"), HasSubstr("end")));
  EXPECT_THAT(refusal(RawKind::kSeries, npy_of({gap, gap, 3, 4}, 2)),
              AllOf(HasSubstr("row 1"), HasSubstr("no numbers")));
}

TEST(SeriesFiles, MayHaveIdsAndPadding) {
  const auto data = read_as<SeriesData>(RawKind::kSeries, "x.csv", "a,1,2,3\nb,4,,\nc,5,6,NaN\n");
  EXPECT_THAT(data.ids, ElementsAre("a", "b", "c"));
  EXPECT_THAT(data.values, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4), ElementsAre(5, 6)));
}

TEST(SeriesFiles, AreRefusedByPlace) {
  EXPECT_THAT(refusal(RawKind::kSeries, "1,2\n3,,4\n"),
              AllOf(HasSubstr("x:2:3: "), HasSubstr("empty cell inside a series")));
  EXPECT_THAT(refusal(RawKind::kSeries, "1,2\n3,inf\n"),
              AllOf(HasSubstr("x:2:3: "), HasSubstr("series must be finite")));
  EXPECT_THAT(refusal(RawKind::kSeries, "1;2;3\n4;5\n"),
              AllOf(HasSubstr("x:1:2: "), HasSubstr("semicolons")));
  EXPECT_THAT(refusal(RawKind::kSeries, "1,2\n3,b\n"),
              AllOf(HasSubstr("x:2:3: "), HasSubstr("\"b\"")));
  EXPECT_THAT(refusal(RawKind::kSeries, "a,1\na,2\n"),
              AllOf(HasSubstr("x:2:1: "), HasSubstr("line 1")));
  EXPECT_THAT(refusal(RawKind::kSeries, "a,1\n7,2\n"),
              AllOf(HasSubstr("x:2:1: "), HasSubstr("\"7\"")));
  EXPECT_THAT(refusal(RawKind::kSeries, "a,1\nb,\n"),
              AllOf(HasSubstr("x:2: "), HasSubstr("no numbers")));
  EXPECT_THAT(refusal(RawKind::kSeries, ""), HasSubstr("no lines"));
  EXPECT_THAT(refusal(RawKind::kSeries, "1 1:2 3:4\n"),
              AllOf(HasSubstr("x:1:3: "), HasSubstr("LIBSVM")));
  EXPECT_THAT(refusal(RawKind::kSeries, ">p c.2.1\nACD\n"),
              AllOf(HasSubstr("x:1: "), HasSubstr("FASTA")));
}

TEST(FastaFiles, HaveIdsAndSequencesOverManyLines) {
  const auto data = read_as<SequenceData>(RawKind::kSequences, "x.fasta",
                                          ">p some words\nACD\n\nef*\r\n>q\nW \n");
  EXPECT_THAT(data.ids, ElementsAre("p", "q"));
  EXPECT_THAT(data.values, ElementsAre("ACDEF*", "W"));
  const auto is = [](Index first, long line) {
    return AllOf(Field(&SequenceLine::first, first), Field(&SequenceLine::line, line));
  };
  EXPECT_THAT(data.lines, ElementsAre(ElementsAre(is(0, 2), is(3, 4)), ElementsAre(is(0, 6))));
}

TEST(FastaFiles, AreStringsToo) {
  const auto data = read_as<StringData>(RawKind::kStrings, "x.fa", ">p\nACD\n");
  EXPECT_THAT(data.values, ElementsAre("ACD"));
  EXPECT_THAT(data.ids, ElementsAre("p"));
}

TEST(FastaFiles, AreRefusedByPlace) {
  EXPECT_THAT(refusal(RawKind::kSequences, "ACD\n"), AllOf(HasSubstr("x:1: "), HasSubstr(">id")));
  EXPECT_THAT(refusal(RawKind::kSequences, ">p\nA-D\n"),
              AllOf(HasSubstr("x:2:2: "), HasSubstr("\"-\"")));
  EXPECT_THAT(refusal(RawKind::kSequences, ">p\n>q\nA\n"),
              AllOf(HasSubstr("x:1: "), HasSubstr("\"p\"")));
  EXPECT_THAT(refusal(RawKind::kSequences, ">p\nA\n>q\n"),
              AllOf(HasSubstr("x:3: "), HasSubstr("\"q\"")));
  EXPECT_THAT(refusal(RawKind::kSequences, ">p\nA\n>p x\nA\n"),
              AllOf(HasSubstr("x:3:2: "), HasSubstr("line 1")));
  EXPECT_THAT(refusal(RawKind::kSequences, "> p\nA\n"), HasSubstr("x:1:2: "));
  EXPECT_THAT(refusal(RawKind::kSequences, "\n"), HasSubstr("FASTA"));
}

TEST(SetFiles, HoldWords) {
  const auto data = read_as<SetData>(RawKind::kSets, "x.tsv", "p\tb a  b\nq\t\n");
  EXPECT_THAT(data.ids, ElementsAre("p", "q"));
  EXPECT_THAT(data.values, ElementsAre(ElementsAre("a", "b"), IsEmpty()));
}

TEST(SetFiles, HaveWordsOnEveryLineWithoutIds) {
  for (const char* text : {"a b\n\nc\n", "a b\n \nc\n"}) {
    EXPECT_THAT(refusal(RawKind::kSets, text),
                AllOf(HasSubstr("x:2: "), HasSubstr("id<TAB>words"), HasSubstr("empty set")));
  }
}

TEST(LinesOfAnotherKind, AreRefusedWhereEveryLineIsLibsvmText) {
  const std::string vectors = "1 1:0.5 3:2\n-1\n1 2:1e-3\n";
  for (const RawKind kind : {RawKind::kSets, RawKind::kStrings, RawKind::kCategories}) {
    EXPECT_THAT(refusal(kind, vectors), AllOf(HasSubstr("x:1: "), HasSubstr("\"1:0.5\""),
                                              HasSubstr("LIBSVM"), HasSubstr("id")));
    EXPECT_THAT(refusal(kind, "-1\n1 0:1 1:0.5\n"), HasSubstr("x:2: ")) << "a kernel";
  }
}

TEST(LinesOfAnotherKind, AreRefusedInEveryDialectOfLibsvmText) {
  for (const char* text :
       {"1 1:0.5 3:2\n2 3:1 1:1\n", "# made by hand\n1 1:0.5\n-1 2:1 # the second\n",
        "3 qid:1 1:0.5\n2 qid:1 2:1\n", "1,2 1:0.5\n3 2:1\n", "1 1:0.5\n 2:1\n", "\n1 1:0.5\n"}) {
    EXPECT_THAT(refusal(RawKind::kSets, text), HasSubstr("LIBSVM")) << text;
    EXPECT_THAT(refusal(RawKind::kStrings, text), HasSubstr("LIBSVM")) << text;
  }
}

TEST(LinesOfAnotherKind, AreRefusedWhereEveryLineIsFasta) {
  for (const std::string& text : {">p some words\nACD\nef*\n>q\nW\n"s, ">p\nAC-D\n"s}) {
    for (const RawKind kind : {RawKind::kSets, RawKind::kStrings, RawKind::kCategories}) {
      EXPECT_THAT(refusal(kind, text), AllOf(HasSubstr("x:1: "), HasSubstr("FASTA")));
    }
  }
  EXPECT_THAT(refusal(RawKind::kStrings, ">p\nAC\n"), HasSubstr(".fasta"));
  for (const char* text : {"; a comment\n>p\n; another\nACD\n", "\n\n>p\nACD\n", " \n>p\nACD\n"}) {
    EXPECT_THAT(refusal(RawKind::kSets, text), HasSubstr("FASTA")) << text;
  }
}

TEST(LinesOfAnotherKind, AreOneLineAwayFromWords) {
  for (const char* text :
       {"1 1:0.5 3:2\n2 3:1 3:2\n", "1 1:0.5\n1 12:30 12:45\n", "8:30 9:15\n7:45 12:00\n",
        "#a #b\n#c\n", "1 qid:a\n2 qid:b\n", "1,a 1:2\n1 1:2\n", "; AC\nACD\n",
        "1 1:0.5\nred 1:2\n", "1 1:0.5\n1 a:2\n", "1 1:0.5\n1 2:b\n", "1\n2\n", "1 2\n3 4\n",
        ">a >b\n>c\n", ">p\nACD\na b\n", "ACD\n>p\nA\n"}) {
    EXPECT_EQ(read_as<StringData>(RawKind::kStrings, "x", text).ids.size(), 0U) << text;
    EXPECT_EQ(read_as<SetData>(RawKind::kSets, "x", text).ids.size(), 0U) << text;
  }
}

TEST(LinesOfAnotherKind, AreTakenAsMeantWithIds) {
  const std::string text = "a\t1 1:0.5 3:2\nb\t-1 2:1\n";
  EXPECT_THAT(read_as<SetData>(RawKind::kSets, "x", text).values,
              ElementsAre(ElementsAre("1", "1:0.5", "3:2"), ElementsAre("-1", "2:1")));
  EXPECT_EQ(read_as<StringData>(RawKind::kStrings, "x", text).values.front(), "1 1:0.5 3:2");
  EXPECT_EQ(read_as<StringData>(RawKind::kStrings, "x", "a\t>p\nb\tACD\n").values.front(), ">p");
  EXPECT_THAT(read_as<CategoryData>(RawKind::kCategories, "x", "id,v\na,1 1:0.5\n").values,
              ElementsAre(ElementsAre("1 1:0.5")));
}

TEST(SetFiles, AreNoTables) {
  EXPECT_THAT(refusal(RawKind::kSets, "y,n,?\nn,n,y\n"),
              AllOf(HasSubstr("x:1: "), HasSubstr("blanks"), HasSubstr("value-difference")));
  EXPECT_THAT(refusal(RawKind::kSets, "a\ty,n\nb\tn,n\n"), HasSubstr("blanks"));
  for (const char* text : {"salt,fine\n", "salt,fine\npepper\n", "a,b c,d\ne,f\n"}) {
    EXPECT_GT(read_as<SetData>(RawKind::kSets, "x", text).values.size(), 0U) << text;
  }
}

TEST(CategoryFiles, HaveIdsWhereTheHeaderSaysSo) {
  const auto plain = read_as<CategoryData>(RawKind::kCategories, "x.csv", "y,n,?\nn,,\"a,b\"\n");
  EXPECT_THAT(plain.ids, IsEmpty());
  EXPECT_THAT(plain.values, ElementsAre(ElementsAre("y", "n", "?"), ElementsAre("n", "", "a,b")));
  const auto named = read_as<CategoryData>(RawKind::kCategories, "x.tsv", "id\tv\np\ty\nq\tn\n");
  EXPECT_THAT(named.ids, ElementsAre("p", "q"));
  EXPECT_THAT(named.values, ElementsAre(ElementsAre("y"), ElementsAre("n")));
  EXPECT_THAT(named.columns, ElementsAre("v"));
  EXPECT_THAT(plain.columns, IsEmpty());
}

TEST(CategoryFiles, AreRefusedByPlace) {
  EXPECT_THAT(refusal(RawKind::kCategories, "a,b\nc\n"),
              AllOf(HasSubstr("x:2: "), HasSubstr("line 1 has 2")));
  EXPECT_THAT(refusal(RawKind::kCategories, "id,b\np,x\np,y\n"), HasSubstr("x:3:1: "));
  EXPECT_THAT(refusal(RawKind::kCategories, "id,b\n"), HasSubstr("no rows"));
}

TEST(IdxFiles, HoldEveryType) {
  const auto bytes = read_as<VectorData>(RawKind::kVectors, "x",
                                         "\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\2\1\2\xff\4"s);
  EXPECT_EQ(to_dense(bytes.values).values(), (RowMatrix(2, 2) << 1, 2, 255, 4).finished());
  const auto shorts =
      read_as<VectorData>(RawKind::kVectors, "x", "\0\0\x0b\1\0\0\0\2\xff\xfe\1\0"s);
  EXPECT_EQ(to_dense(shorts.values).values(), (RowMatrix(2, 1) << -2, 256).finished());
  const auto floats =
      read_as<VectorData>(RawKind::kVectors, "x", "\0\0\x0d\1\0\0\0\1\x3f\xc0\0\0"s);
  EXPECT_EQ(to_dense(floats.values)(0, 0), 1.5);
}

TEST(IdxFiles, MustHaveTheSizeTheySay) {
  EXPECT_THAT(refusal(RawKind::kVectors, "\0\0\x08\1\0\0\0\2\1"s), HasSubstr("9 bytes"));
  EXPECT_THAT(refusal(RawKind::kVectors, "\0\0\x08\1\0\0\0\1\1\1"s), HasSubstr("10 bytes"));
  EXPECT_THAT(refusal(RawKind::kVectors, "\0\0\x08\2\0\0\0\1"s), HasSubstr("dimensions"));
  EXPECT_THAT(refusal(RawKind::kVectors, "\0\0\x0d\1\0\0\0\1\x7f\xc0\0\0"s),
              HasSubstr("not finite"));
  EXPECT_THAT(refusal(RawKind::kVectors, "\0\0\x08\2\0\0\0\0\0\0\0\2"s), HasSubstr("no samples"));
  // 2^32 - 1 rows of 2^31 - 1 doubles: their bytes are no 64-bit number.
  EXPECT_THAT(refusal(RawKind::kVectors, "\0\0\x0e\2\xff\xff\xff\xff\x7f\xff\xff\xff"s),
              HasSubstr("4294967295 x 2147483647"));
}

TEST(VectorTables, HaveNamesOfColumnsWhereAHeaderGivesThem) {
  const auto named = read_as<VectorData>(RawKind::kVectors, "x.csv", "id,h,w\np,1,2\nq,3,4\n");
  EXPECT_THAT(named.columns, ElementsAre("h", "w"));
  EXPECT_THAT(named.ids, ElementsAre("p", "q"));
  const auto without_ids = read_as<VectorData>(RawKind::kVectors, "x.csv", "h,w\n1,2\n3,4\n");
  EXPECT_THAT(without_ids.columns, ElementsAre("h", "w"));
  EXPECT_THAT(without_ids.ids, IsEmpty());
  EXPECT_THAT(read_as<VectorData>(RawKind::kVectors, "x.csv", "1,2\n3,4\n").columns, IsEmpty());
}

TEST(VectorTables, MayBeginWithALibsvmSampleOfZeros) {
  const auto data = read_as<VectorData>(RawKind::kVectors, "x", "1\n-1 2:3 3:4\n1\n");
  EXPECT_EQ(to_dense(data.values).values(),
            (RowMatrix(3, 3) << 0, 0, 0, 0, 3, 4, 0, 0, 0).finished());
  const auto column = read_as<VectorData>(RawKind::kVectors, "x", "1\n2\n");
  EXPECT_EQ(to_dense(column.values).values(), (RowMatrix(2, 1) << 1, 2).finished())
      << "a table of one column";
}

TEST(VectorTables, AreLibsvmSamplesOfZerosWhereTheNameSaysSo) {
  for (const char* name : {"x.libsvm", "x.svm"}) {
    const auto data = read_as<VectorData>(RawKind::kVectors, name, "1\n-1\n1\n");
    EXPECT_EQ(rows(data.values), 3);
    EXPECT_EQ(cols(data.values), 0);
    EXPECT_TRUE(data.absent_is_zero);
  }
}

TEST(VectorTables, StaySparseWhereMostOfThemIsZero) {
  const auto sparse = read_as<VectorData>(RawKind::kVectors, "x", "1 1:2 9:0\n-1 7:3\n1 2:1 7:4\n");
  ASSERT_TRUE(is_sparse(sparse.values));
  const auto& table = std::get<SparseBlock>(sparse.values);
  EXPECT_EQ(table.cols, 9) << "a zero that is written is a feature";
  EXPECT_EQ(table.absent, Absent::kZero);
  EXPECT_THAT(table.columns, ElementsAre(0, 6, 1, 6));
  EXPECT_THAT(table.values, ElementsAre(2, 3, 1, 4));
  EXPECT_FALSE(
      is_sparse(read_as<VectorData>(RawKind::kVectors, "x", "1 1:2 2:3\n-1 1:3\n").values));
  const auto market =
      read_as<VectorData>(RawKind::kVectors, "x.mtx",
                          "%%MatrixMarket matrix coordinate real general\n2 5 2\n1 2 3\n2 5 -1\n");
  ASSERT_TRUE(is_sparse(market.values));
  EXPECT_EQ(to_dense(market.values).values(),
            (RowMatrix(2, 5) << 0, 3, 0, 0, 0, 0, 0, 0, 0, -1).finished());
}

TEST(VectorTables, CountLibsvmPositionsFromOne) {
  EXPECT_THAT(refusal(RawKind::kVectors, "1 0:5 1:3\n"),
              AllOf(HasSubstr("x:1:3: "), HasSubstr("from 1"), HasSubstr("[[similarity]]")));
}

TEST(VectorTables, NameTheLineOfAMissingNumber) {
  EXPECT_THAT(refusal(RawKind::kVectors, "id,h,w\np,1,2\nq,3,\n"),
              AllOf(HasSubstr("x:3: "), HasSubstr("\"q\""), HasSubstr("\"w\"")));
  EXPECT_THAT(refusal(RawKind::kVectors, "1,2\n3,NA\n"),
              AllOf(HasSubstr("x:2: "), HasSubstr("column 2")));
}

TEST(VectorTables, SayWhatIsForWords) {
  for (const char* text : {"y,n,y\nn,n,y\n", "1,2\n3,red\n"}) {
    EXPECT_THAT(refusal(RawKind::kVectors, text), HasSubstr("value-difference")) << text;
  }
}

TEST(VectorTables, HaveIdsThatDiffer) {
  const auto data = read_as<VectorData>(RawKind::kVectors, "x.csv", "p,1,2\nq,3,4\n");
  EXPECT_THAT(data.ids, ElementsAre("p", "q"));
  EXPECT_THAT(refusal(RawKind::kVectors, "p,1,2\nq,3,4\np,5,6\n"),
              AllOf(HasSubstr("\"p\""), HasSubstr("lines 1 and 3")));
}

}  // namespace
}  // namespace kith::raw_readers_test
