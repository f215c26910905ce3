// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace kith {

/// The unit in which a solver sees numbers of this size: 1 where they are ordinary, else a power of
/// two next to them, division by which rounds nothing.
[[nodiscard]] inline double own_unit(double size, double ordinary = 1) {
  if (!(size > 0) || !std::isfinite(size)) return 1;
  if (size <= ordinary && size >= 1 / ordinary) return 1;
  return std::ldexp(1.0, std::clamp(std::ilogb(size), -1000, 1000));
}

/// Up to this size, and down to its inverse, learned kernels are solved as they are.
inline constexpr double kOrdinarySimilarities = 0x1p16;

}  // namespace kith
