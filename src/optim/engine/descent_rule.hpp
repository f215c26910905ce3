// SPDX-License-Identifier: Apache-2.0
// Armijo's rule of [ZGZZ] Algorithm 1, lines 5 to 9, as metric/descent.cpp reads it.
#pragma once

#include <algorithm>

namespace kith::engine {

inline constexpr double kShrink = 0.5;     // beta of line 6
inline constexpr double kArmijo = 1e-4;    // sigma
inline constexpr int kMostHalvings = 120;  // shorter steps move nothing

[[nodiscard]] inline bool passes_armijo(double f, double trial, double promised) {
  return trial <= f - kArmijo * std::max(0.0, promised);
}

}  // namespace kith::engine
