// SPDX-License-Identifier: Apache-2.0
// Whether the numbers of new rows are of the kind that a model was trained on: distances given as
// similarities, or E-values as scores, are of the right shape and predict nonsense.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kith/pipeline/trained_model.hpp"

namespace kith {

/// What a model keeps of one table as it was given, over the columns it needs. None where fewer
/// than two samples have a known pair there.
[[nodiscard]] std::optional<GivenValues> given_values(const GivenTable& table,
                                                      std::span<const Index> columns);

/// Compares rows of new samples, as they were given, with those of the training samples: the mean
/// of a row is among the means of the training rows, or not far from them. The more rows, the
/// nearer. Of fewer than 20 training samples nothing is said.
class QueryDoubts {
 public:
  /// `record` is kept by reference.
  explicit QueryDoubts(const ModelRecord& record);
  QueryDoubts(ModelRecord&&) = delete;

  /// Rows over `record.positions`, over all training samples or over all that were given.
  void add(const QueryBlock& queries);
  /// One sentence for each matrix whose rows are unlike; `sources`, one per matrix or none, are
  /// what they are called.
  [[nodiscard]] std::vector<std::string> notes(std::span<const std::string> sources = {}) const;

 private:
  struct Seen {
    double sum = 0;  ///< of the means of rows
    double rows = 0;
  };
  const ModelRecord* record_;
  std::vector<Seen> seen_;
};

}  // namespace kith
