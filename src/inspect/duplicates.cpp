// SPDX-License-Identifier: Apache-2.0
#include "inspect/duplicates.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kith/core/parallel.hpp"

namespace kith {
namespace {

/// Of the range of the matrix: what is within it is equal but for rounding.
constexpr double kRounding = 1e-12;
/// Of the range: what is within it is nearly equal.
constexpr double kNear = 1e-3;
constexpr std::size_t kPairsNamed = 10;

/// What one sample is to those before it.
struct Column {
  DuplicateSummary found;
  bool has_twin = false;
};

auto rank_of(const DuplicatePair& pair) {
  return std::tuple(!pair.contradicting, !pair.same, pair.second, pair.first);
}

void keep_first(std::vector<DuplicatePair>& pairs) {
  std::sort(pairs.begin(), pairs.end(),
            [](const auto& a, const auto& b) { return rank_of(a) < rank_of(b); });
  if (pairs.size() > kPairsNamed) pairs.resize(kPairsNamed);
}

/// Between the rows of two samples, their own pair first; one above `limit` ends the search.
double largest_difference(const MatrixRef& S, Index i, Index j, double limit) {
  double largest = std::max(std::abs(S(i, i) - S(i, j)), std::abs(S(j, i) - S(j, j)));
  for (Index k = 0; k < S.rows() && largest <= limit; ++k) {
    largest = std::max(largest, std::abs(S(k, i) - S(k, j)));
  }
  return largest;
}

void add(DuplicateSummary& summary, const DuplicatePair& pair) {
  ++(pair.same ? summary.same : summary.near);
  if (pair.contradicting) ++summary.contradicting;
  summary.pairs.push_back(pair);
  if (summary.pairs.size() > 2 * kPairsNamed) keep_first(summary.pairs);
}

}  // namespace

DuplicateSummary find_duplicates(const MatrixRef& S, const Labels* labels, const RunContext& ctx) {
  const Index n = S.rows();
  DuplicateSummary summary;
  if (n < 2) return summary;
  const double range = S.maxCoeff() - S.minCoeff();
  if (!(range > 0)) return summary;  // a constant matrix tells nobody from anybody
  const auto empty = [&](Index i) { return S.col(i).cwiseAbs().maxCoeff() == 0; };
  std::vector<Column> columns(static_cast<std::size_t>(n));
  parallel_chunks(columns.size(), 64, ctx.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      const auto j = static_cast<Index>(at);
      if (empty(j)) continue;
      for (Index i = 0; i < n; ++i) {
        if (i == j) continue;
        const double apart = largest_difference(S, i, j, kNear * range);
        if (apart > kNear * range) continue;
        const bool same = apart <= kRounding * range;
        columns[at].has_twin = true;
        if (i > j) continue;  // counted by the other
        add(columns[at].found,
            {.first = i,
             .second = j,
             .same = same,
             .contradicting =
                 labels != nullptr && labels->ids[static_cast<std::size_t>(i)] != labels->ids[at]});
      }
    }
  });
  for (const Column& column : columns) {
    summary.same += column.found.same;
    summary.near += column.found.near;
    summary.contradicting += column.found.contradicting;
    summary.samples += column.has_twin ? 1 : 0;
    summary.pairs.insert(summary.pairs.end(), column.found.pairs.begin(), column.found.pairs.end());
  }
  keep_first(summary.pairs);
  for (DuplicatePair& pair : summary.pairs) {
    pair.names = {std::to_string(pair.first + 1), std::to_string(pair.second + 1)};
    if (labels != nullptr) {
      pair.classes = {labels->name_of(pair.first), labels->name_of(pair.second)};
    }
  }
  return summary;
}

}  // namespace kith
