// SPDX-License-Identifier: Apache-2.0
// Sums over the coordinates of two vectors.
#pragma once

#include <array>

#include "kith/core/types.hpp"

namespace kith::detail {

/// The sum of term(x[k], z[k]) in eight interleaved parts: the processor works on them side by
/// side, and the order of the additions is fixed.
template <class Term>
[[nodiscard]] double lane_sum(const double* x, const double* z, Index d, const Term& term) {
  constexpr Index kLanes = 8;
  std::array<double, kLanes> sums{};
  Index k = 0;
  for (; k + kLanes <= d; k += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] += term(x[k + lane], z[k + lane]);
    }
  }
  for (Index lane = 0; k < d; ++k, ++lane) sums[static_cast<std::size_t>(lane)] += term(x[k], z[k]);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace kith::detail
