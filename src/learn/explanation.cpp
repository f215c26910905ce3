// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/explanation.hpp"

#include <algorithm>
#include <cmath>

namespace kith {
namespace {

std::vector<Contribution> by_magnitude(std::vector<Contribution> samples) {
  std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) {
    return std::abs(a.amount) > std::abs(b.amount);
  });
  return samples;
}

}  // namespace

std::vector<Contribution> Explanation::largest(Index count) const {
  std::vector<Contribution> sorted = by_magnitude(samples);
  if (std::ssize(sorted) > count) sorted.resize(static_cast<std::size_t>(count));
  return sorted;
}

double Explanation::others(Index count) const {
  const std::vector<Contribution> sorted = by_magnitude(samples);
  double sum = 0;
  for (auto k = static_cast<std::size_t>(count); k < sorted.size(); ++k) sum += sorted[k].amount;
  return sum;
}

}  // namespace kith
