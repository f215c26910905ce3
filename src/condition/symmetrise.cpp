// SPDX-License-Identifier: Apache-2.0
#include "condition/symmetrise.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace kith::detail {
namespace {

/// Pairs are combined tile by tile, so that both (i, j) and (j, i) stay in cache.
constexpr Index kTile = 64;

double combine(Symmetrise how, double a, double b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  switch (how) {
    case Symmetrise::kMean:
      return 0.5 * a + 0.5 * b;  // a where a == b, and no overflow
    case Symmetrise::kMax:
      return std::max(a, b);
    case Symmetrise::kMin:
      return std::min(a, b);
    case Symmetrise::kAuto:
    case Symmetrise::kKeep:
      break;
  }
  assert(false && "auto and keep never combine");
  return a;
}

bool symmetrise_tile(RowMatrix& values, Index i0, Index j0, Symmetrise how) {
  bool differed = false;
  const Index n = values.rows();
  for (Index i = i0; i < std::min(i0 + kTile, n); ++i) {
    for (Index j = std::max(j0, i + 1); j < std::min(j0 + kTile, n); ++j) {
      if (!differ(values(i, j), values(j, i))) continue;
      differed = true;
      const double both = combine(how, values(i, j), values(j, i));
      values(i, j) = both;
      values(j, i) = both;
    }
  }
  return differed;
}

bool symmetrise_dense(RowMatrix& values, Symmetrise how, int threads) {
  const Index n = values.rows();
  const auto stripes = static_cast<std::size_t>((n + kTile - 1) / kTile);
  std::vector<char> differed(stripes, 0);
  parallel_for(stripes, threads, [&](std::size_t stripe) {
    const Index i0 = static_cast<Index>(stripe) * kTile;
    for (Index j0 = i0; j0 < n; j0 += kTile) {
      if (symmetrise_tile(values, i0, j0, how)) differed[stripe] = 1;
    }
  });
  return std::find(differed.begin(), differed.end(), 1) != differed.end();
}

/// Merges the rows of two sparse blocks with the same meaning of absent pairs.
SparseBlock merged(const SparseBlock& a, const SparseBlock& b, Symmetrise how) {
  SparseBlock both = a.without_rows();
  both.starts.reserve(a.starts.size());
  for (Index i = 0; i < a.rows(); ++i) {
    merge_rows(a.row(i), b.row(i), a.absent_value(),
               [&](Index column, double x, double y) { both.add(column, combine(how, x, y)); });
    both.end_row();
  }
  return both;
}

}  // namespace

bool combines(Symmetrise how) {
  return how == Symmetrise::kMean || how == Symmetrise::kMax || how == Symmetrise::kMin;
}

bool symmetrise(Table& table, Symmetrise how, int threads) {
  if (auto* dense = std::get_if<RowMatrix>(&table)) return symmetrise_dense(*dense, how, threads);
  auto& sparse = std::get<SparseBlock>(table);
  const SparseBlock turned = transposed(sparse);
  if (sparse == turned) return false;
  sparse = merged(sparse, turned, how);
  return true;
}

Table combined(Table a, Table b, Symmetrise how, int threads) {
  const auto* sparse_a = std::get_if<SparseBlock>(&a);
  const auto* sparse_b = std::get_if<SparseBlock>(&b);
  if (sparse_a != nullptr && sparse_b != nullptr && sparse_a->absent == sparse_b->absent) {
    return merged(*sparse_a, *sparse_b, how);
  }
  make_dense(a);
  const RowMatrix& other = make_dense(b);
  edit_rows(a, threads, [&](Index i, std::span<double> values, const std::int32_t*) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      values[j] = combine(how, values[j], other(i, static_cast<Index>(j)));
    }
  });
  return a;
}

}  // namespace kith::detail
