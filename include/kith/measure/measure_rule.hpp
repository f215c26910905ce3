// SPDX-License-Identifier: Apache-2.0
// A measure together with the training samples it was applied to: what a model trained from raw
// data keeps, so that new samples are measured as the training samples were.
#pragma once

#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/data/labels.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/data/views.hpp"
#include "kith/measure/measure.hpp"
#include "kith/measure/raw_data.hpp"
#include "kith/measure/raw_matrix.hpp"

namespace kith {

/// True for a measure whose values depend on the classes of the training samples. Such a measure
/// belongs to a training part: measured over all samples, it has seen the labels of the held-out
/// ones.
[[nodiscard]] bool learns_from_labels(Measure measure);

/// True where S(x, z) = S(z, x) for all samples, to the last bit.
[[nodiscard]] bool is_symmetric(const MeasureSettings& settings);

/// How new samples are measured against training samples.
struct MeasureRule {
  MeasureSettings settings;  ///< with_defaults: nothing that the measure takes is "auto"
  /// The columns; where the measure learns from labels all training samples with their labels,
  /// since the values of a few columns depend on them all.
  RawData training;
  std::vector<Index> columns;  ///< positions in `training`, ascending
  Index file = 0;              ///< which of several files new samples come from, counted from 0
};

/// What is wrong with a rule, whoever made it; empty: nothing.
[[nodiscard]] std::string broken_rule(const MeasureRule& rule);

/// The pairs of the training samples, and the rule for new ones.
struct LearnedMeasure {
  MeasureRule rule;
  SimilaritySet pairs;
};
/// `labels` are of its samples; measures that do not learn from them pass over them. Throws as
/// `measure` does, and Error(kInvalidArgument) for noise: rows of new samples would have none.
[[nodiscard]] LearnedMeasure learn_measure(RawMatrix matrix, const Labels& labels,
                                           const RunContext& ctx);

/// The rule for the columns at `positions` (ascending, among the columns of `rule`) alone.
[[nodiscard]] MeasureRule restricted(const MeasureRule& rule, std::span<const Index> positions);

/// Rows of `queries` over the columns of the rule: both directions where they differ, and the value
/// of each query with itself. Throws as `measure` does.
[[nodiscard]] QueryMatrix measure_rows(const MeasureRule& rule, const RawData& queries,
                                       const RunContext& ctx);

}  // namespace kith
