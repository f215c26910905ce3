// SPDX-License-Identifier: Apache-2.0
#include "condition/missing.hpp"

#include <cassert>
#include <cmath>

#include "core/errors.hpp"

namespace kith::detail {
namespace {

/// Missing pairs of i with j, both directions; a self-pair counts once.
int missing_between(const RowMatrix& values, Index i, Index j) {
  return (std::isnan(values(i, j)) ? 1 : 0) + (i != j && std::isnan(values(j, i)) ? 1 : 0);
}

/// The missing pairs each sample takes part in.
std::vector<Index> missing_counts(const RowMatrix& values) {
  std::vector<Index> counts(static_cast<std::size_t>(values.rows()), 0);
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      if (!std::isnan(values(i, j))) continue;
      ++counts[static_cast<std::size_t>(i)];
      if (i != j) ++counts[static_cast<std::size_t>(j)];
    }
  }
  return counts;
}

}  // namespace

std::vector<Index> samples_without_missing(const RowMatrix& values) {
  constexpr Index kDropped = -1;
  std::vector<Index> counts = missing_counts(values);
  while (true) {
    Index worst = -1;
    Index most = 0;
    for (Index i = 0; i < values.rows(); ++i) {
      const Index count = counts[static_cast<std::size_t>(i)];
      if (count > 0 && count >= most) {
        worst = i;
        most = count;
      }
    }
    if (worst < 0) break;
    for (Index j = 0; j < values.rows(); ++j) {
      if (j != worst && counts[static_cast<std::size_t>(j)] != kDropped) {
        counts[static_cast<std::size_t>(j)] -= missing_between(values, worst, j);
      }
    }
    counts[static_cast<std::size_t>(worst)] = kDropped;
  }
  std::vector<Index> kept;
  for (Index i = 0; i < values.rows(); ++i) {
    if (counts[static_cast<std::size_t>(i)] != kDropped) kept.push_back(i);
  }
  return kept;
}

void refuse_missing(const Table& table, const PairNames& names, const std::string& advice) {
  const auto first = first_missing(table);
  assert(first.has_value() && "called only when a pair is missing");
  const std::int64_t count = missing_pairs(table);
  throw invalid("{}{} of {} pairs {} missing, the first from {}; {}", names.prefix(), count,
                rows(table) * cols(table), count == 1 ? "is" : "are",
                names.direction(first->first, first->second), advice);
}

void fill_missing(Table& table, double value, int threads) {
  if (auto* sparse = std::get_if<SparseBlock>(&table)) {
    if (sparse->absent == Absent::kZero) return;
    if (value == 0) {
      sparse->absent = Absent::kZero;
      return;
    }
    make_dense(table);
  }
  edit_rows(table, threads, [&](Index, std::span<double> values, const std::int32_t*) {
    for (double& number : values) number = std::isnan(number) ? value : number;
  });
}

}  // namespace kith::detail
