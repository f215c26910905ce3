// SPDX-License-Identifier: Apache-2.0
#include "evaluate/overlap.hpp"

#include <algorithm>
#include <cmath>

namespace kith::detail {

Overlap overlap_of(std::span<const Partition> partitions) {
  double test = 0;
  double train = 0;
  for (const Partition& one : partitions) {
    test += static_cast<double>(one.test.size());
    train += static_cast<double>(one.train.size());
  }
  return {.ratio = test / train, .test_size = test / static_cast<double>(partitions.size())};
}

Interval share_interval(std::span<const double> values, double ratio, double counted) {
  if (values.size() == 1) {
    return wilson_interval(std::lround(values[0] * counted), std::lround(counted));
  }
  const Interval found = interval(corrected_mean(values, ratio, 1 / counted));
  return {.low = std::max(0.0, found.low), .high = std::min(1.0, found.high)};
}

}  // namespace kith::detail
