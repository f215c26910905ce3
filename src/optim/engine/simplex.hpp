// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>

#include "kith/core/types.hpp"

namespace kith::engine {

/// The nearest point to d of k >= 0, sum k = total > 0: k = (d - theta)_+.
struct SimplexPoint {
  Vector k;
  double theta = 0;
};
[[nodiscard]] inline SimplexPoint project_to_simplex(const VectorRef& d, double total = 1) {
  Vector sorted = d;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0;
  double theta = sorted(0) - total;
  for (Index r = 0; r < sorted.size(); ++r) {
    sum += sorted(r);
    const double next = (sum - total) / static_cast<double>(r + 1);
    if (!(sorted(r) > next)) break;
    theta = next;
  }
  return {(d.array() - theta).cwiseMax(0.0), theta};
}

}  // namespace kith::engine
