// SPDX-License-Identifier: Apache-2.0
#include "kith/core/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kith::rng_test {
namespace {

TEST(RngStreams, GiveTheSameNumbersForTheSameSeedPurposeAndIndex) {
  Rng a = RngStreams(7).stream("folds", 3);
  Rng b = RngStreams(7).stream("folds", 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(RngStreams, DifferBySeedByPurposeAndByIndex) {
  const RngStreams streams(7);
  std::set<std::uint64_t> firsts;
  firsts.insert(streams.stream("folds", 0).next());
  firsts.insert(streams.stream("folds", 1).next());
  firsts.insert(streams.stream("partitions", 0).next());
  firsts.insert(RngStreams(8).stream("folds", 0).next());
  firsts.insert(streams.child("folds", 0).stream("folds", 0).next());
  EXPECT_EQ(firsts.size(), 5U);
}

TEST(Rng, DrawsBelowABoundUniformly) {
  Rng rng(1);
  std::vector<int> counts(7);
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts[rng.below(7)];
  // Binomial with mean 10000 and standard deviation 93: five deviations.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 465);
}

TEST(Rng, DrawsNormalsWithMeanZeroAndVarianceOne) {
  Rng rng(2);
  constexpr int kDraws = 100000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(double{kDraws}));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
}

TEST(Rng, PermutationHoldsEveryPositionOnce) {
  Rng rng(3);
  std::vector<Index> order = rng.permutation(50);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (Index i = 0; i < 50; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_TRUE(rng.permutation(0).empty());
}

}  // namespace
}  // namespace kith::rng_test
