// SPDX-License-Identifier: Apache-2.0
// The contract of every format that can be written: what is written reads back to the same bits.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "support/format_files.hpp"

namespace kith::round_trip_test {
namespace {

using testing_support::bits;
using testing_support::read_file;
using testing_support::TempFile;

/// The parameter is the ending of the file.
class RoundTrip : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static SimilaritySet through_file(const SimilaritySet& set) {
    const TempFile file(GetParam());
    write_similarity(file.path(), std::nullopt, set, {}, RunContext{});
    return read_file(file);
  }
};

/// Formats that have a place for ids.
class RoundTripOfIds : public RoundTrip {};

/// Numbers that lose bits where they are printed carelessly.
RowMatrix hard_numbers() {
  using Limits = std::numeric_limits<double>;
  return RowMatrix{{0.1, -0.0, Limits::denorm_min()},
                   {Limits::max(), Limits::lowest(), Limits::min()},
                   {1.0 / 3.0, 123456789012345678.0, -5e-310}};
}

void expect_same_bits(const SimilaritySet& a, const SimilaritySet& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  const DenseBlock first = to_dense(a.block);
  const DenseBlock second = to_dense(b.block);
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      if (std::isnan(first(i, j))) {
        EXPECT_TRUE(std::isnan(second(i, j))) << i << ", " << j;
      } else {
        EXPECT_EQ(bits(first(i, j)), bits(second(i, j))) << i << ", " << j;
      }
    }
  }
}

TEST_P(RoundTrip, GivesBackTheSameBits) {
  SimilaritySet set;
  set.block = DenseBlock(hard_numbers());
  expect_same_bits(set, through_file(set));
}

TEST_P(RoundTrip, GivesBackOneSampleAndTwo) {
  for (const Index n : {1, 2}) {
    SimilaritySet set;
    set.block = DenseBlock(hard_numbers().topLeftCorner(n, n));
    expect_same_bits(set, through_file(set));
  }
}

TEST_P(RoundTrip, GivesBackATableThatIsNotSquare) {
  SimilaritySet set;
  set.block = DenseBlock(hard_numbers().topRows(2));
  expect_same_bits(set, through_file(set));
}

TEST_P(RoundTrip, GivesBackMissingPairs) {
  RowMatrix numbers = hard_numbers();
  numbers(0, 2) = numbers(2, 1) = numbers(1, 0) = std::nan("");
  SimilaritySet set;
  set.block = DenseBlock(numbers);
  expect_same_bits(set, through_file(set));
}

TEST_P(RoundTrip, GivesBackSparseTablesWithAndWithoutMissingPairs) {
  for (const Absent absent : {Absent::kMissing, Absent::kZero}) {
    SparseBlock block;  // row 1 is empty, and no pair stands in both directions
    block.cols = 3;
    block.starts = {0, 2, 2, 3};
    block.columns = {0, 2, 1};
    block.values = {0.1, -7.5, 1.0 / 3.0};
    block.absent = absent;
    SimilaritySet set;
    set.block = block;
    expect_same_bits(set, through_file(set));
  }
}

TEST_P(RoundTripOfIds, GivesBackIds) {
  SimilaritySet set;
  set.block = DenseBlock(hard_numbers());
  set.row_ids = {"plain", "two words, a comma", "\"quoted\" \xc3\xa9"};
  set.column_ids = set.row_ids;
  const SimilaritySet same = through_file(set);
  EXPECT_EQ(same.row_ids, set.row_ids);
  EXPECT_EQ(same.column_ids, set.column_ids);
  expect_same_bits(set, same);
}

TEST_P(RoundTripOfIds, KeepsRowsAndColumnsOfQueriesApart) {
  SimilaritySet set;
  set.block = DenseBlock(hard_numbers().topRows(2));
  set.row_ids = {"query 1", "query 2"};
  set.column_ids = {"a", "b", "c"};
  const SimilaritySet same = through_file(set);
  EXPECT_EQ(same.row_ids, set.row_ids);
  EXPECT_EQ(same.column_ids, set.column_ids);
  expect_same_bits(set, same);
}

TEST_P(RoundTrip, LeavesNothingBehindOnAFullDisk) {
  SimilaritySet set;
  set.block = DenseBlock(RowMatrix::Ones(64, 64));
  const auto format = format_of_name(std::string("x") + GetParam());
  try {
    write_similarity("/dev/full", format, set, {}, RunContext{});
    FAIL() << "writing to a full disk succeeded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_THAT(error.what(), testing::HasSubstr("/dev/full"));
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& tested) {
  std::string name(tested.param + 1);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Writable, RoundTrip,
                         testing::Values(".csv", ".tsv", ".npy", ".mtx", ".libsvm", ".edges",
                                         ".csv.gz", ".npy.zst", ".mtx.gz", ".libsvm.zst",
                                         ".edges.gz"),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Writable, RoundTripOfIds,
                         testing::Values(".csv", ".tsv", ".edges", ".csv.gz", ".edges.gz"),
                         name_of);

}  // namespace
}  // namespace kith::round_trip_test
