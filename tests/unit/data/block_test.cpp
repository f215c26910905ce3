// SPDX-License-Identifier: Apache-2.0
#include "kith/data/block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kith/core/error.hpp"

namespace kith::block_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

RowMatrix counting(Index rows, Index cols) {
  RowMatrix values(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) values(i, j) = static_cast<double>(10 * i + j);
  }
  return values;
}

/// [ . 1 . 2 ]
/// [ . . . . ]
/// [ 3 . 4 . ]
SparseBlock small_sparse(Absent absent = Absent::kMissing) {
  return {.cols = 4,
          .starts = {0, 2, 2, 4},
          .columns = {1, 3, 0, 2},
          .values = {1, 2, 3, 4},
          .absent = absent};
}

TEST(DenseBlock, OwnsWhatItIsGiven) {
  const DenseBlock block(counting(2, 3));
  EXPECT_EQ(block.rows(), 2);
  EXPECT_EQ(block.cols(), 3);
  EXPECT_EQ(block(1, 2), 12);
  EXPECT_THAT(block.row(1), testing::ElementsAre(10, 11, 12));
  EXPECT_EQ(RowMatrix(block.values()), counting(2, 3));
}

TEST(DenseBlock, KeepsTheOwnerOfAViewAlive) {
  auto memory = std::make_shared<std::vector<double>>(std::vector<double>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<double>> watch = memory;
  {
    const DenseBlock block(memory->data(), 2, 2, memory);
    memory.reset();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(block(1, 0), 3);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(DenseBlock, TakeMovesWhenItIsTheOnlyOwner) {
  DenseBlock block(counting(2, 2));
  const double* before = block.values().data();
  const RowMatrix taken = std::move(block).take();
  EXPECT_EQ(taken.data(), before);
  EXPECT_EQ(taken, counting(2, 2));
}

TEST(DenseBlock, TakeCopiesWhatOthersStillSee) {
  DenseBlock block(counting(2, 2));
  const DenseBlock other = block;
  RowMatrix taken = std::move(block).take();
  taken.setZero();
  EXPECT_EQ(RowMatrix(other.values()), counting(2, 2));

  const RowMatrix outside = counting(2, 2);
  RowMatrix copied = DenseBlock(outside.data(), 2, 2, nullptr).take();
  copied.setZero();
  EXPECT_EQ(outside, counting(2, 2));
}

TEST(Block, ToDenseKeepsTheMeaningOfAbsentPairs) {
  const DenseBlock zeros = to_dense(small_sparse(Absent::kZero));
  RowMatrix expected(3, 4);
  expected << 0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 0;
  EXPECT_EQ(RowMatrix(zeros.values()), expected);

  const DenseBlock holes = to_dense(small_sparse(Absent::kMissing));
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 4; ++j) {
      if (expected(i, j) == 0) {
        EXPECT_TRUE(std::isnan(holes(i, j)));
      } else {
        EXPECT_EQ(holes(i, j), expected(i, j));
      }
    }
  }
}

TEST(Block, ToDenseRefusesWhatDoesNotFitIntoMemory) {
  SparseBlock huge;
  huge.cols = 1'000'000'000;
  huge.starts.assign(1'000'001, 0);
  try {
    (void)to_dense(huge);
    FAIL() << "8e15 bytes were allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), testing::HasSubstr("1000000 x 1000000000"));
    EXPECT_THAT(error.what(), testing::HasSubstr("7450580.6 GiB"));
  }
}

TEST(Block, SelectTakesRowsAndColumnsInTheGivenOrder) {
  const std::vector<Index> row_order = {2, 0};
  const std::vector<Index> column_order = {3, 0, 1};
  const Block dense = DenseBlock(counting(3, 4));
  const DenseBlock chosen = to_dense(select(dense, row_order, column_order));
  RowMatrix expected(2, 3);
  expected << 23, 20, 21, 3, 0, 1;
  EXPECT_EQ(RowMatrix(chosen.values()), expected);
}

TEST(Block, SelectOfASparseBlockEqualsSelectOfItsDenseForm) {
  const Block sparse = small_sparse(Absent::kZero);
  for (const std::vector<Index>& columns :
       {std::vector<Index>{3, 0, 1, 2}, std::vector<Index>{0, 2}, std::vector<Index>{}}) {
    const std::vector<Index> row_order = {2, 1, 0};
    const Block chosen = select(sparse, row_order, columns);
    ASSERT_TRUE(is_sparse(chosen));
    EXPECT_EQ(std::get<SparseBlock>(chosen).absent, Absent::kZero);
    const Block expected = select(Block(to_dense(sparse)), row_order, columns);
    EXPECT_EQ(RowMatrix(to_dense(chosen).values()), RowMatrix(to_dense(expected).values()));
    const auto& held = std::get<SparseBlock>(chosen);
    for (Index i = 0; i < held.rows(); ++i) {
      EXPECT_TRUE(
          std::is_sorted(held.columns.begin() + held.starts[static_cast<std::size_t>(i)],
                         held.columns.begin() + held.starts[static_cast<std::size_t>(i) + 1]));
    }
  }
}

TEST(Block, SelectsWholeRowsOfAnyWidth) {
  SparseBlock wide = small_sparse(Absent::kZero);
  wide.cols = std::numeric_limits<std::int32_t>::max();
  const SparseBlock chosen = select_rows(wide, std::vector<Index>{2, 1});
  EXPECT_EQ(chosen.cols, wide.cols);
  EXPECT_EQ(chosen.absent, Absent::kZero);
  EXPECT_THAT(chosen.starts, testing::ElementsAre(0, 2, 2));
  EXPECT_THAT(chosen.columns, testing::ElementsAre(0, 2));
  EXPECT_THAT(chosen.values, testing::ElementsAre(3, 4));
}

TEST(Block, TransposingTwiceGivesTheSameBlock) {
  const SparseBlock block = small_sparse(Absent::kZero);
  const SparseBlock once = transposed(block);
  EXPECT_EQ(once.rows(), 4);
  EXPECT_EQ(once.cols, 3);
  EXPECT_EQ(RowMatrix(to_dense(once).values()), RowMatrix(to_dense(block).values().transpose()));
  const SparseBlock twice = transposed(once);
  EXPECT_EQ(twice.starts, block.starts);
  EXPECT_EQ(twice.columns, block.columns);
  EXPECT_EQ(twice.values, block.values);
}

TEST(Block, CountsMissingPairs) {
  RowMatrix values = counting(2, 3);
  values(0, 1) = kNan;
  values(1, 2) = kNan;
  EXPECT_EQ(missing_pairs(DenseBlock(values)), 2);
  EXPECT_EQ(missing_pairs(small_sparse(Absent::kMissing)), 8);
  EXPECT_EQ(missing_pairs(small_sparse(Absent::kZero)), 0);
  EXPECT_EQ(missing_pairs(DenseBlock()), 0);
}

TEST(Block, KnowsItsShape) {
  EXPECT_EQ(rows(Block(small_sparse())), 3);
  EXPECT_EQ(cols(Block(small_sparse())), 4);
  EXPECT_EQ(rows(Block()), 0);
  EXPECT_EQ(cols(Block()), 0);
  EXPECT_FALSE(is_sparse(Block()));
}

TEST(SparseBlock, HasTheNumbersOfItsDenseForm) {
  for (const Absent absent : {Absent::kZero, Absent::kMissing}) {
    const SparseBlock sparse = small_sparse(absent);
    const DenseBlock dense = to_dense(sparse);
    for (Index i = 0; i < sparse.rows(); ++i) {
      for (Index j = 0; j < sparse.cols; ++j) {
        const bool missing = std::isnan(dense(i, j));
        EXPECT_TRUE(missing ? std::isnan(sparse(i, j)) : sparse(i, j) == dense(i, j));
      }
    }
  }
  const SparseBlock zeros = small_sparse(Absent::kZero);
  const SparseBlock back = to_sparse(to_dense(zeros));
  EXPECT_EQ(to_dense(back).values(), to_dense(zeros).values());
  EXPECT_EQ(to_sparse(zeros).values, zeros.values);
}

TEST(MergeRows, VisitsEachColumnThatEitherRowListsOnce) {
  SparseBlock table;
  table.cols = 9;
  for (const std::vector<Index>& columns : std::vector<std::vector<Index>>{{1, 4, 7}, {4, 8}, {}}) {
    for (const Index j : columns) table.add(j, static_cast<double>(10 * table.rows() + j));
    table.end_row();
  }
  const auto seen = [&](Index i, Index j) {
    std::vector<std::vector<double>> all;
    merge_rows(table.row(i), table.row(j), -1, [&](Index column, double x, double z) {
      all.push_back({static_cast<double>(column), x, z});
    });
    return all;
  };
  using Seen = std::vector<std::vector<double>>;
  EXPECT_EQ(seen(0, 1), (Seen{{1, 1, -1}, {4, 4, 14}, {7, 7, -1}, {8, -1, 18}}));
  EXPECT_EQ(seen(2, 1), (Seen{{4, -1, 14}, {8, -1, 18}}));
  EXPECT_EQ(seen(2, 2), Seen{});
}

}  // namespace
}  // namespace kith::block_test
