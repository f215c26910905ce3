// SPDX-License-Identifier: Apache-2.0
// Keogh's lower bound, and neighbours found with it: candidates come in the order of their bounds,
// and the search ends at the first bound above the worst distance that is still wanted.
#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>

#include "kith/measure/dtw.hpp"

namespace kith {
namespace {

/// Sums of squares in another order differ in their last bits; a bound must not lose a neighbour by
/// them.
constexpr double kBoundSlack = 1 + 1e-9;

/// The largest (sign 1) or smallest (sign -1) of the values that enter at the back and leave at the
/// front, in constant time per step on average.
class MovingExtreme {
 public:
  explicit MovingExtreme(double sign) : sign_(sign) {}
  void enter(Index position, double value) {
    while (!inside_.empty() && sign_ * inside_.back().second <= sign_ * value) inside_.pop_back();
    inside_.emplace_back(position, value);
  }
  void leave_before(Index position) {
    while (inside_.front().first < position) inside_.pop_front();
  }
  [[nodiscard]] double value() const { return inside_.front().second; }

 private:
  double sign_;
  std::deque<std::pair<Index, double>> inside_;
};

}  // namespace

double dtw_lower_bound(std::span<const double> a, std::span<const double> b,
                       const DtwSettings& settings) {
  const auto n = static_cast<Index>(a.size());
  const auto m = static_cast<Index>(b.size());
  const Index all = std::max(n, m);
  const Index w = settings.band ? std::max(*settings.band, std::abs(n - m)) : all;
  MovingExtreme largest(1);
  MovingExtreme smallest(-1);
  Index entered = 0;
  double squares = 0;
  for (Index i = 0; i < n; ++i) {
    for (; entered < m && entered <= i + std::min(w, all); ++entered) {
      largest.enter(entered, b[static_cast<std::size_t>(entered)]);
      smallest.enter(entered, b[static_cast<std::size_t>(entered)]);
    }
    largest.leave_before(i - std::min(w, all));
    smallest.leave_before(i - std::min(w, all));
    const double value = a[static_cast<std::size_t>(i)];
    const double outside = std::max({value - largest.value(), smallest.value() - value, 0.0});
    squares += outside * outside;
  }
  return std::sqrt(squares);
}

std::vector<DtwNeighbour> dtw_nearest(std::span<const double> query,
                                      std::span<const Series> training, Index count,
                                      const DtwSettings& settings) {
  std::vector<DtwNeighbour> candidates;  // with bounds in place of distances
  for (std::size_t j = 0; j < training.size(); ++j) {
    candidates.push_back({static_cast<Index>(j), dtw_lower_bound(query, training[j], settings)});
  }
  const auto nearer = [](const DtwNeighbour& x, const DtwNeighbour& y) {
    return std::tie(x.distance, x.position) < std::tie(y.distance, y.position);
  };
  std::sort(candidates.begin(), candidates.end(), nearer);
  std::vector<DtwNeighbour> nearest;
  for (const DtwNeighbour& candidate : candidates) {
    const bool full = static_cast<Index>(nearest.size()) == count;
    if (count == 0 || (full && candidate.distance > kBoundSlack * nearest.back().distance)) break;
    const DtwNeighbour found{
        candidate.position,
        dtw_distance(query, training[static_cast<std::size_t>(candidate.position)], settings)};
    if (full && !nearer(found, nearest.back())) continue;
    if (full) nearest.pop_back();
    nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), found, nearer), found);
  }
  return nearest;
}

}  // namespace kith
