// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/neighbours/nearest.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "kith/learn/learner.hpp"

namespace kith {
namespace {

/// The mean of two sparse tables of the same shape, over pairs that either lists; a pair known in
/// one direction only keeps that value.
SparseBlock mean_of(const SparseBlock& a, const SparseBlock& b) {
  SparseBlock mean;
  mean.cols = a.cols;
  mean.absent = a.absent;
  for (Index i = 0; i < a.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    auto p = static_cast<std::size_t>(a.starts[row]);
    auto q = static_cast<std::size_t>(b.starts[row]);
    const auto p_end = static_cast<std::size_t>(a.starts[row + 1]);
    const auto q_end = static_cast<std::size_t>(b.starts[row + 1]);
    while (p < p_end || q < q_end) {
      const bool from_a = q == q_end || (p < p_end && a.columns[p] <= b.columns[q]);
      const bool from_b = p == p_end || (q < q_end && b.columns[q] <= a.columns[p]);
      const double zero = a.absent == Absent::kZero ? 0 : std::nan("");
      const double x = from_a ? a.values[p] : zero;
      const double y = from_b ? b.values[q] : zero;
      mean.columns.push_back(from_a ? a.columns[p] : b.columns[q]);
      mean.values.push_back(std::isnan(x) ? y : std::isnan(y) ? x : 0.5 * (x + y));
      p += from_a ? 1 : 0;
      q += from_b ? 1 : 0;
    }
    mean.starts.push_back(static_cast<std::int64_t>(mean.values.size()));
  }
  return mean;
}

Block mean_of(const QueryMatrix& query) {
  if (!query.from_training) return query.to_training;
  const auto* to = std::get_if<SparseBlock>(&query.to_training);
  const auto* from = std::get_if<SparseBlock>(&*query.from_training);
  if (to != nullptr && from != nullptr) return mean_of(*to, *from);
  return DenseBlock(
      0.5 * (to_dense(query.to_training).values() + to_dense(*query.from_training).values()));
}

struct NearSample {
  double similarity;
  Index place;
  Index sample;
};

bool nearer(const NearSample& a, const NearSample& b) {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.place < b.place;
}

Neighbours first_of(std::vector<NearSample>& candidates, Index count) {
  const auto kept = std::min(static_cast<std::size_t>(count), candidates.size());
  const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(kept);
  std::nth_element(candidates.begin(), middle, candidates.end(), nearer);
  std::sort(candidates.begin(), middle, nearer);
  Neighbours neighbours;
  for (std::size_t i = 0; i < kept; ++i) {
    neighbours.samples.push_back(candidates[i].sample);
    neighbours.similarities.push_back(candidates[i].similarity);
  }
  return neighbours;
}

}  // namespace

TieOrder tie_order(std::vector<Index> place) {
  TieOrder order;
  order.sample_at.resize(place.size());
  for (std::size_t i = 0; i < place.size(); ++i) {
    order.sample_at[static_cast<std::size_t>(place[i])] = static_cast<Index>(i);
  }
  order.place = std::move(place);
  return order;
}

TieOrder tie_order(Index samples, TieRule rule, const RunContext& ctx) {
  if (rule == TieRule::kRandom) {
    return tie_order(ctx.rng.stream("neighbour ties").permutation(samples));
  }
  return tie_order(all_positions(samples));
}

NeighbourRows::NeighbourRows(const QueryMatrix& query) : rows_(mean_of(query)) {}

Index NeighbourRows::queries() const { return rows(rows_); }

Index NeighbourRows::samples() const { return cols(rows_); }

Neighbours NeighbourRows::nearest(Index query, Index count, const TieOrder& ties) const {
  std::vector<NearSample> candidates;
  const auto add = [&](Index sample, double similarity) {
    if (std::isnan(similarity)) return;
    candidates.push_back({similarity, ties.place[static_cast<std::size_t>(sample)], sample});
  };
  if (const auto* dense = std::get_if<DenseBlock>(&rows_)) {
    candidates.reserve(static_cast<std::size_t>(dense->cols()));
    const std::span<const double> row = dense->row(query);
    for (Index j = 0; j < dense->cols(); ++j) add(j, row[static_cast<std::size_t>(j)]);
    return first_of(candidates, count);
  }
  const auto& sparse = std::get<SparseBlock>(rows_);
  const auto begin = sparse.columns.begin() + sparse.starts[static_cast<std::size_t>(query)];
  const auto end = sparse.columns.begin() + sparse.starts[static_cast<std::size_t>(query) + 1];
  for (auto at = begin; at != end; ++at) {
    add(*at, sparse.values[static_cast<std::size_t>(at - sparse.columns.begin())]);
  }
  if (sparse.absent == Absent::kZero) {
    // The first `count` absent samples in tie order are all that could be chosen.
    Index zeros = 0;
    for (std::size_t p = 0; p < ties.sample_at.size() && zeros < count; ++p) {
      const Index sample = ties.sample_at[p];
      if (std::binary_search(begin, end, static_cast<std::int32_t>(sample))) continue;
      add(sample, 0);
      ++zeros;
    }
  }
  return first_of(candidates, count);
}

}  // namespace kith
