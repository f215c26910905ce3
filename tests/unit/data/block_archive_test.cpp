// SPDX-License-Identifier: Apache-2.0
#include "data/block_archive.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace kith::block_archive_test {
namespace {

using detail::is_well_formed;

/// Rows {0: 1, 2: 2}, {} and {1: 3} of three columns.
SparseBlock example() {
  SparseBlock table{.cols = 3};
  table.add(0, 1);
  table.add(2, 2);
  table.end_row();
  table.end_row();
  table.add(1, 3);
  table.end_row();
  return table;
}

TEST(SparseTables, AreWellFormedAsTheyAreWritten) {
  EXPECT_TRUE(is_well_formed(example()));
  EXPECT_TRUE(is_well_formed(SparseBlock{}));
}

TEST(SparseTables, AreRefusedWhereANumberIsWhereNoneCanBe) {
  const std::vector<std::function<void(SparseBlock&)>> damages = {
      [](SparseBlock& table) { table.starts.clear(); },
      [](SparseBlock& table) { table.starts.front() = 1; },
      [](SparseBlock& table) {
        table.starts = {0, 3, 2, 3};
      },
      [](SparseBlock& table) { table.starts.back() = 4; },
      [](SparseBlock& table) { table.values.pop_back(); },
      [](SparseBlock& table) { table.columns.pop_back(); },
      [](SparseBlock& table) { table.columns[0] = -1; },
      [](SparseBlock& table) { table.columns[2] = 3; },
      [](SparseBlock& table) { table.columns[1] = 0; },
  };
  for (std::size_t k = 0; k < damages.size(); ++k) {
    SparseBlock table = example();
    damages[k](table);
    EXPECT_FALSE(is_well_formed(table)) << k;
  }
}

}  // namespace
}  // namespace kith::block_archive_test
