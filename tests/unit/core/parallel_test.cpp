// SPDX-License-Identifier: Apache-2.0
#include "kith/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace kith::parallel_test {
namespace {

class Threads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OneToSeven, Threads, testing::Values(1, 2, 7));

TEST_P(Threads, RunEveryUnitExactlyOnce) {
  std::vector<std::atomic<int>> runs(1000);
  parallel_for(runs.size(), GetParam(), [&](std::size_t i) { ++runs[i]; });
  for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
}

TEST_P(Threads, SeeTheSameChunksWhateverTheirNumber) {
  std::vector<std::size_t> ends(10);
  parallel_chunks(95, 10, GetParam(),
                  [&](std::size_t begin, std::size_t end) { ends[begin / 10] = end; });
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(ends[i], 10 * i + 10);
  EXPECT_EQ(ends[9], 95U);
}

TEST_P(Threads, PassOnAnExceptionAfterAllStartedUnitsEnded) {
  EXPECT_THROW(parallel_for(100, GetParam(),
                            [](std::size_t i) {
                              if (i == 41) throw std::runtime_error("unit 41");
                            }),
               std::runtime_error);
}

TEST_P(Threads, MayBeNested) {
  std::vector<std::atomic<int>> runs(64);
  parallel_for(8, GetParam(), [&](std::size_t i) {
    parallel_for(8, GetParam(), [&](std::size_t j) { ++runs[8 * i + j]; });
  });
  for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
}

TEST(Parallel, DoesNothingForNoUnits) {
  parallel_for(0, 4, [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace kith::parallel_test
