// SPDX-License-Identifier: Apache-2.0
// What a learner sees. No path leads from a TrainingSet to a test sample.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kith/data/block.hpp"
#include "kith/data/labels.hpp"
#include "kith/data/whole_matrix.hpp"

namespace kith {

/// One conditioned matrix of a training set: n x n, finite, possibly asymmetric, dense or sparse.
struct TrainingMatrix {
  std::string name;
  Block block;
  std::optional<bool> symmetric{};      ///< exactly; none: nobody has looked
  std::optional<std::uint64_t> hash{};  ///< block_hash of a dense block; none: not computed yet
  /// The block is what was given times this; none: something else was done to it.
  std::optional<double> times_given{};
  std::shared_ptr<WholeMatrix> whole{};  ///< of which what was given is a block; null: not known
};

/// Everything a fit may look at. Usually one matrix; several are over the same samples in the same
/// order. Samples that are vectors have them as well, or have them alone.
struct TrainingSet {
  std::vector<TrainingMatrix> matrices;
  Labels labels;
  std::vector<std::string> ids;  ///< empty: samples are known by position
  Vector weights;                ///< per sample, positive; empty: all 1
  /// Samples x features, finite; what a sparse one leaves out is 0. No columns: none are known.
  Block vectors{};

  [[nodiscard]] Index size() const { return labels.size(); }
};

/// Similarities of new samples under one matrix: rows are queries, columns training samples.
struct QueryMatrix {
  Block to_training;                   ///< similarity of the query to each training sample
  std::optional<Block> from_training;  ///< of each training sample to the query; none: symmetric
  std::optional<Vector> self;          ///< of each query to itself; none: not known
};

/// Everything a prediction may look at: one QueryMatrix per training matrix, the same queries in
/// each.
struct QueryBlock {
  std::vector<QueryMatrix> matrices;
  Block vectors{};  ///< queries x features, where the training samples have vectors

  [[nodiscard]] Index size() const {
    return matrices.empty() ? rows(vectors) : rows(matrices.front().to_training);
  }
};

}  // namespace kith
