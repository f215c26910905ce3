// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// 0, 1, ..., count - 1.
[[nodiscard]] inline std::vector<Index> all_positions(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// The values at `positions`, in that order; none where there are no values at all.
template <class Value>
[[nodiscard]] std::vector<Value> values_at(const std::vector<Value>& values,
                                           std::span<const Index> positions) {
  std::vector<Value> chosen;
  if (values.empty()) return chosen;
  chosen.reserve(positions.size());
  for (const Index i : positions) chosen.push_back(values[static_cast<std::size_t>(i)]);
  return chosen;
}

}  // namespace kith
