// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/calibration_bins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kith::calibration_bins_test {
namespace {

TEST(CalibrationCount, PutsEachPredictionInTheTenthOfItsLargestProbability) {
  Matrix p(5, 2);
  p << 0.75, 0.25, 0.2, 0.8, 0.79, 0.21, 1, 0, 0.5, 0.5;
  CalibrationCount count;
  count.add(std::vector<int>{0, 1, 1, 0, -1}, p);
  const std::vector<CalibrationBin> bins = count.bins();
  ASSERT_EQ(bins.size(), kCalibrationBins);
  EXPECT_EQ(bins[7].count, 2);
  EXPECT_DOUBLE_EQ(bins[7].said, (0.75 + 0.79) / 2);
  EXPECT_EQ(bins[7].right, 0.5);
  EXPECT_EQ(bins[8].count, 1) << "0.8 is where its tenth begins";
  EXPECT_EQ(bins[8].right, 1);
  EXPECT_EQ(bins[9].count, 1) << "1 belongs to the last";
  EXPECT_EQ(bins[5].count, 1);
  EXPECT_EQ(bins[5].right, 0) << "a class without a column is never right";
  Index sum = 0;
  for (const CalibrationBin& bin : bins) sum += bin.count;
  EXPECT_EQ(sum, 5);
}

TEST(CalibrationCount, HasNoBinsWithoutProbabilities) {
  CalibrationCount count;
  count.add(std::vector<int>{0, 1}, Matrix());
  EXPECT_TRUE(count.bins().empty());
  EXPECT_TRUE(std::isnan(calibration_error(count.bins())));
}

TEST(CalibrationError, IsTheMeanDistanceWeightedByCounts) {
  std::vector<CalibrationBin> bins(3);
  bins[0] = {.count = 3, .said = 0.1, .right = 0.3};
  bins[2] = {.count = 1, .said = 0.9, .right = 0.5};
  EXPECT_DOUBLE_EQ(calibration_error(bins), (3 * 0.2 + 0.4) / 4);
}

}  // namespace
}  // namespace kith::calibration_bins_test
