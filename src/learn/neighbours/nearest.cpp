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
  SparseBlock mean = a.without_rows();
  for (Index i = 0; i < a.rows(); ++i) {
    merge_rows(a.row(i), b.row(i), a.absent_value(), [&](Index column, double x, double y) {
      mean.add(column, std::isnan(x) ? y : std::isnan(y) ? x : 0.5 * (x + y));
    });
    mean.end_row();
  }
  return mean;
}

Block mean_of(const QueryMatrix& query) {
  if (!query.from_training) return query.to_training;  // sparse or dense
  const auto* to = std::get_if<SparseBlock>(&query.to_training);
  const auto* from = std::get_if<SparseBlock>(&*query.from_training);
  if (to != nullptr && from != nullptr) return mean_of(*to, *from);
  return mean_rows(query);
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
  const SparseRow row = sparse.row(query);
  for (std::size_t e = 0; e < row.size(); ++e) add(row.columns[e], row.values[e]);
  if (sparse.absent == Absent::kZero) {
    // The first `count` absent samples in tie order are all that could be chosen.
    Index zeros = 0;
    for (std::size_t p = 0; p < ties.sample_at.size() && zeros < count; ++p) {
      const Index sample = ties.sample_at[p];
      if (std::ranges::binary_search(row.columns, sample)) continue;
      add(sample, 0);
      ++zeros;
    }
  }
  return first_of(candidates, count);
}

}  // namespace kith
