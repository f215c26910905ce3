// SPDX-License-Identifier: Apache-2.0
// The rounds stand alone: there are finitely many choices, each round gains, and a clustering has
// no status.
#include "kith/learn/generative/medoids.hpp"

#include <algorithm>
#include <limits>

#include "kith/learn/generative/statistics.hpp"

namespace kith {
namespace {

/// Relative: a gain below it is rounding, and rounds that only gain rounding never end.
constexpr double kGain = 1e-12;
constexpr int kMostRounds = 100;

/// The member whose choice lifts the sum of best similarities most.
Index next_medoid(const MatrixRef& S, std::span<const Index> members, std::span<const Index> chosen,
                  const std::vector<double>& best) {
  Index next = -1;
  double most = -1;
  for (const Index candidate : members) {
    if (std::find(chosen.begin(), chosen.end(), candidate) != chosen.end()) continue;
    double gain = 0;
    double scale = 0;
    for (std::size_t z = 0; z < members.size(); ++z) {
      const double own = S(members[z], candidate);
      gain += std::max(0.0, own - best[z]);
      scale += std::abs(own) + std::abs(best[z]);
    }
    if (next < 0 || gain > most + kGain * scale) {
      next = candidate;
      most = gain;
    }
  }
  return next;
}

std::vector<Index> greedy_start(const MatrixRef& S, std::span<const Index> members, Index count) {
  std::vector<Index> chosen = {
      members[centroid(members, [&](Index i, Index j) { return S(i, j); })]};
  std::vector<double> best(members.size(), -std::numeric_limits<double>::infinity());
  while (true) {
    for (std::size_t z = 0; z < members.size(); ++z) {
      best[z] = std::max(best[z], S(members[z], chosen.back()));
    }
    if (static_cast<Index>(chosen.size()) == count) return chosen;
    chosen.push_back(next_medoid(S, members, chosen, best));
  }
}

/// Each member with its most similar medoid; a medoid with itself.
std::vector<std::vector<Index>> clusters(const MatrixRef& S, std::span<const Index> members,
                                         std::span<const Index> chosen) {
  std::vector<std::vector<Index>> groups(chosen.size());
  for (const Index z : members) {
    std::size_t nearest = 0;
    for (std::size_t l = 0; l < chosen.size(); ++l) {
      if (chosen[l] == z) {
        nearest = l;
        break;
      }
      if (S(z, chosen[l]) > S(z, chosen[nearest])) nearest = l;
    }
    groups[nearest].push_back(z);
  }
  return groups;
}

double total(const MatrixRef& S, std::span<const Index> members, std::span<const Index> chosen) {
  double sum = 0;
  for (const Index z : members) {
    double best = -std::numeric_limits<double>::infinity();
    for (const Index medoid : chosen) best = std::max(best, S(z, medoid));
    sum += best;
  }
  return sum;
}

}  // namespace

std::vector<Index> medoids(const MatrixRef& S, std::span<const Index> members, Index count) {
  if (members.empty()) return {};
  count = std::clamp<Index>(count, 1, static_cast<Index>(members.size()));
  std::vector<Index> chosen = greedy_start(S, members, count);
  double reached = total(S, members, chosen);
  for (int round = 0; round < kMostRounds && count > 1; ++round) {
    std::vector<Index> moved;
    for (const std::vector<Index>& group : clusters(S, members, chosen)) {
      moved.push_back(group[centroid(group, [&](Index i, Index j) { return S(i, j); })]);
    }
    const double sum = total(S, members, moved);
    if (!(sum > reached + kGain * std::abs(reached))) break;
    chosen = std::move(moved);
    reached = sum;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace kith
