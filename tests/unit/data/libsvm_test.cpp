// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "support/format_files.hpp"

namespace kith::libsvm_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::error_of;
using testing_support::error_of_text;
using testing_support::read_file;
using testing_support::read_text;
using testing_support::TempFile;
using testing_support::value_at;

std::string error_of_libsvm(std::string_view text) { return error_of_text(text, Format::kLibsvm); }

TEST(Libsvm, ReadsPrecomputedSimilarities) {
  const SimilaritySet set =
      read_text("+1 0:1 1:4 2:0.5 \r\n-1 0:2 1:0.25 2:nan\r\n", Format::kLibsvm);
  ASSERT_EQ(set.rows(), 2);
  ASSERT_EQ(set.cols(), 2);
  EXPECT_EQ(value_at(set, 0, 1), 0.5);
  EXPECT_EQ(value_at(set, 1, 0), 0.25);
  EXPECT_TRUE(std::isnan(value_at(set, 1, 1)));
  EXPECT_THAT(set.row_ids, IsEmpty());
}

TEST(Libsvm, NamesSamplesBySerialWhereTheRowsAreNotInItsOrder) {
  const SimilaritySet set =
      square(read_text("1 0:2 1:0.3 2:8\n1 0:1 1:9 2:0.4\n", Format::kLibsvm));
  EXPECT_THAT(set.row_ids, ElementsAre("2", "1"));
  EXPECT_EQ(value_at(set, 0, 0), 8);  // of sample 2 to itself
  EXPECT_EQ(value_at(set, 0, 1), 0.3);
  EXPECT_EQ(value_at(set, 1, 1), 9);
}

TEST(Libsvm, ReadsQueriesWithAnySerial) {
  const SimilaritySet set = read_text("0 0:77 1:1 2:2 3:3\n", Format::kLibsvm);
  EXPECT_EQ(set.rows(), 1);
  EXPECT_EQ(set.cols(), 3);
  EXPECT_THAT(set.row_ids, IsEmpty());
}

TEST(Libsvm, NamesLineFieldValueAndRule) {
  EXPECT_THAT(error_of_libsvm("1 0:1 1:1\n1 0:2 1:1 2:1\n"),
              HasSubstr(":2: the line has 2 similarities where the first has 1"));
  EXPECT_THAT(error_of_libsvm("1 1:1 2:1\n"), HasSubstr(":1:3: \"1:1\" is not 0:serial"));
  EXPECT_THAT(error_of_libsvm("1 0:1 2:1\n"), HasSubstr(":1:7: \"2:1\" stands where position 1"));
  EXPECT_THAT(error_of_libsvm("1 0:1 1:x\n"), HasSubstr(":1:9: \"x\" is not a number"));
  EXPECT_THAT(error_of_libsvm("1 0:1 1:inf\n"), HasSubstr("infinite"));
  EXPECT_THAT(error_of_libsvm("1 0:1 1:0,5\n"), HasSubstr("decimal commas"));
  EXPECT_THAT(error_of_libsvm("cat 0:1 1:1\n"), HasSubstr(":1:1: \"cat\" is not a number"));
  EXPECT_THAT(error_of_libsvm("1 0:1\n"), HasSubstr("no similarities"));
  EXPECT_THAT(error_of_libsvm("\n\n"), HasSubstr("no rows"));
}

TEST(Libsvm, IsRecognisedAndHandedOutRowByRow) {
  const TempFile file(".txt", "1 0:1 1:4 2:0.5\n2 0:2 1:0.25 2:3\n");
  EXPECT_EQ(read_file(file).format, "libsvm");
  const std::unique_ptr<RowReader> rows = open_rows(file.path(), {}, RunContext{});
  ASSERT_EQ(rows->cols(), 2);
  std::vector<double> row(2);
  std::string id;
  ASSERT_TRUE(rows->next(row, id));
  EXPECT_THAT(row, ElementsAre(4, 0.5));
  ASSERT_TRUE(rows->next(row, id));
  EXPECT_THAT(row, ElementsAre(0.25, 3));
  EXPECT_FALSE(rows->next(row, id));
}

TEST(Libsvm, WritesLabelsAndSerials) {
  SimilaritySet set;
  set.block = DenseBlock(RowMatrix{{1, 0.5}, {-0.0, 2}});
  const TempFile file(".libsvm");
  const std::vector<int> labels = {3, -1};
  write_similarity(file.path(), {}, set, labels, RunContext{});
  EXPECT_EQ(file.content(), "3 0:1 1:1 2:0.5\n-1 0:2 1:-0 2:2\n");
  EXPECT_THAT(error_of([&] {
                write_similarity(file.path(), {}, set, std::span(labels).first(1), RunContext{});
              }),
              HasSubstr("1 labels for 2 rows"));
}

}  // namespace
}  // namespace kith::libsvm_test
