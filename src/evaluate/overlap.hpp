// SPDX-License-Identifier: Apache-2.0
// Intervals of means over partitions that share samples.
#pragma once

#include <span>

#include "kith/evaluate/paired_tests.hpp"
#include "kith/evaluate/partitions.hpp"

namespace kith::detail {

/// What all intervals over some partitions share.
struct Overlap {
  double ratio = 0;      ///< samples for testing over those for training
  double test_size = 0;  ///< mean over the partitions
};
[[nodiscard]] Overlap overlap_of(std::span<const Partition> partitions);

/// Of 95 % about the mean of shares of `counted` samples each, within [0, 1]: the corrected
/// resampled t over several values, Wilson's interval for one. Throws Error without values.
[[nodiscard]] Interval share_interval(std::span<const double> values, double ratio, double counted);

}  // namespace kith::detail
