// SPDX-License-Identifier: Apache-2.0
// From the table a user gave to the matrix a learner sees, and the same for new rows. The steps, in
// this order, with their formulas in docs/input.md:
//
//   symmetrise -> missing -> from-distance -> diagonal -> scale -> rescale -> transform
//
// Everything that is measured on the way (ranges, means, a diagonal) is measured on the training
// block alone and kept in an InputRule, which is then applied to new rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/condition/input_settings.hpp"
#include "kith/core/context.hpp"
#include "kith/core/json.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/data/views.hpp"

namespace kith {

/// The settings with everything they measured on a training block. A field that its settings do not
/// use keeps its default.
struct InputRule {
  InputSettings settings;
  PairKind kind = PairKind::kSimilarity;
  Index samples = 0;            ///< training samples, after drop-sample
  Index given_samples = 0;      ///< before it
  std::vector<Index> kept;      ///< positions among the given samples; empty: all of them
  bool keeps_missing = false;   ///< sparse blocks in which an absent pair stays unknown
  bool was_asymmetric = false;  ///< the two directions of what was given differed

  double fill = 0;              ///< similarity (double-centre: distance) of a missing pair
  double largest_distance = 0;  ///< max-minus
  double gamma = 1;             ///< exp: the given one, or 1 / the median distance
  Vector row_mean;              ///< double-centre: mean_k d(j,k)^2
  Vector column_mean;           ///< double-centre: mean_k d(k,j)^2
  double grand_mean = 0;        ///< double-centre: mean of d^2
  double low = 0;               ///< unit: (s - low) / span
  double span = 1;
  Vector root_diagonal;  ///< cosine: sqrt(S_jj)
  double spread = 1;     ///< rescale=spread: what every similarity is divided by
  DenseBlock rows;       ///< rows-rbf: the training rows
};

struct ConditionedInput {
  TrainingMatrix matrix;
  InputRule rule;
  std::vector<std::string> applied;  ///< what was done before and here, one sentence each, in order
  std::vector<Index> kept;           ///< positions of the samples that are left, ascending
};

/// What a learner can work with, beside complete numbers.
enum class MissingPairs {
  kRefused,
  kKept,  ///< a sparse block may keep absent pairs: they are then no neighbours
};

/// `set` must be square (data/similarity_set). O(n^2), with rows-rbf O(n^3). Throws Error naming
/// the first pair or sample that breaks a rule. The result is finite.
[[nodiscard]] ConditionedInput condition_training(SimilaritySet set, const InputSettings& settings,
                                                  const RunContext& ctx,
                                                  MissingPairs missing = MissingPairs::kRefused);

/// How errors name new rows, where more than their positions is known. Views: valid during a call.
struct QueryNames {
  std::string_view source;                 ///< the file with similarities to the training samples
  std::string_view from_source;            ///< with those from them
  std::span<const std::string> queries{};  ///< an id per row
  std::span<const std::string> samples{};  ///< an id per column
  std::span<const Index> positions{};      ///< without ids: of each column among the samples
};

/// New rows as they were read: `raw` has as many columns as the training block had (before or after
/// drop-sample), in its order. For distances every number of `raw` is a distance, and a query's
/// distance to itself is 0 unless `self` says otherwise. A training row presented as new comes back
/// as its row of the conditioned training block, save where a diagonal rule changed that row.
/// Throws Error naming the first query and training sample that break a rule.
[[nodiscard]] QueryMatrix condition_query(const InputRule& rule, QueryMatrix raw,
                                          const RunContext& ctx, const QueryNames& names = {});

/// What a user should know about new rows that come without `from_training`; empty: nothing.
/// `takes_both`: the method averages both directions where no setting has combined them.
[[nodiscard]] std::string query_note(const InputRule& rule, bool has_from, bool takes_both);

/// True when new rows need their self-similarities from outside (cosine with a given diagonal).
[[nodiscard]] bool needs_self(const InputRule& rule);

/// The rule for queries that have only the training columns `columns`, or nothing where a new row
/// needs all of them (double-centre, rows-rbf, max-row).
[[nodiscard]] std::optional<InputRule> restricted(const InputRule& rule,
                                                  std::span<const Index> columns);

/// The arrays of a rule, for files. Vectors are 1 x n.
struct NamedTensor {
  std::string name;
  DenseBlock values;
};
[[nodiscard]] Json rule_json(const InputRule& rule);
[[nodiscard]] std::vector<NamedTensor> rule_tensors(const InputRule& rule);
/// Throws Error(kBadInput) when the parts do not fit together.
[[nodiscard]] InputRule restore_rule(const Json& json, std::span<const NamedTensor> tensors);

}  // namespace kith
