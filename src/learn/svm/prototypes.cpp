// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/prototypes.hpp"

#include <algorithm>

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
  return std::get<DenseBlock>(select(block, all_positions(block.rows()), columns));
}

}  // namespace kith
