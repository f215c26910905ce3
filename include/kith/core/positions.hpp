// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// 0, 1, ..., count - 1.
[[nodiscard]] inline std::vector<Index> all_positions(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace kith
