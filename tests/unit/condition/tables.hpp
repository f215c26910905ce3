// SPDX-License-Identifier: Apache-2.0
// Tables and what the input rules make of them, for the tests of `condition`.
#pragma once

#include <limits>

#include "kith/condition/pipeline.hpp"
#include "kith/core/rng.hpp"

namespace kith::test {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline RowMatrix random_table(Index n, std::uint64_t seed, bool symmetric) {
  Rng rng(seed);
  RowMatrix values(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) values(i, j) = 0.2 + rng.uniform();
  }
  for (Index i = 0; i < n; ++i) values(i, i) = 1 + rng.uniform();
  if (symmetric) values = (0.5 * (values + values.transpose())).eval();
  return values;
}

inline RowMatrix random_distances(Index n, std::uint64_t seed, bool symmetric) {
  RowMatrix values = random_table(n, seed, symmetric);
  values.diagonal().setZero();
  return values;
}

inline SimilaritySet set_of(const RowMatrix& values, PairKind kind = PairKind::kSimilarity) {
  SimilaritySet set;
  set.name = "s";
  set.kind = kind;
  set.block = DenseBlock(values);
  return set;
}

inline RowMatrix numbers(const Block& block) { return to_dense(block).values(); }
inline RowMatrix numbers(const ConditionedInput& input) { return numbers(input.matrix.block); }

inline RowMatrix conditioned(const SimilaritySet& set, const InputSettings& settings) {
  return numbers(condition_training(set, settings, {}));
}

/// Every training row with its column and self-value, as queries.
inline QueryMatrix training_as_new(const RowMatrix& values) {
  return {.to_training = DenseBlock(values),
          .from_training = DenseBlock(RowMatrix(values.transpose())),
          .self = Vector(values.diagonal())};
}

}  // namespace kith::test
