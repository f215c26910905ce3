// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/prototypes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

std::vector<Index> choose_prototypes(std::optional<Index> count, Index samples,
                                     const RunContext& ctx) {
  if (!count || *count >= samples) return all_positions(samples);
  Rng rng = ctx.rng.stream("prototypes");
  std::vector<Index> chosen = rng.permutation(samples);
  chosen.resize(static_cast<std::size_t>(*count));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

DenseBlock columns_of(const DenseBlock& block, std::span<const Index> columns) {
  if (static_cast<Index>(columns.size()) == block.cols()) return block;
  RowMatrix part(block.rows(), static_cast<Index>(columns.size()));
  for (Index i = 0; i < block.rows(); ++i) {
    for (std::size_t j = 0; j < columns.size(); ++j) {
      part(i, static_cast<Index>(j)) = block(i, columns[j]);
    }
  }
  return DenseBlock(std::move(part));
}

DenseBlock needed_of(const DenseBlock& rows, Index samples, std::span<const Index> columns) {
  const auto needed = static_cast<Index>(columns.size());
  if (rows.cols() == needed) return rows;
  if (rows.cols() == samples) return columns_of(rows, columns);
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("queries have {} columns; the model needs {} (or all {} training samples)",
                  rows.cols(), needed, samples));
}

}  // namespace kith
