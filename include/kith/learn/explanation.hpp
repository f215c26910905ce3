// SPDX-License-Identifier: Apache-2.0
// Which training samples decided a prediction. A method whose models M can say so has
//
//   std::vector<Explanation> explain(const M& model, const QueryBlock& queries,
//                                    std::span<const int> labels, RunContext& ctx);
//
// with the queries that `predict` takes and the label of each. Where one model cannot say it,
// though others of its type can, it throws Error(kInvalidArgument) with the reason.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "kith/core/settings.hpp"
#include "kith/core/types.hpp"

namespace kith {

enum class ExplainedBy {
  /// A coefficient times a similarity each. With the offset they add up to the decision values in
  /// favour of the label, summed over the tasks that it is part of: its score, of two classes.
  kTerms,
  /// A weight each, for the class of the sample. Those of one class add up to its score.
  kVotes,
};
constexpr auto enum_names(ExplainedBy /*of*/) { return named("terms", "votes"); }

struct Contribution {
  Index sample = 0;  ///< position among the training samples
  double amount = 0;
};

struct Explanation {
  ExplainedBy by = ExplainedBy::kTerms;
  std::vector<Contribution> samples;  ///< all that have a part; neighbours the nearest first
  double offset = 0;                  ///< of terms

  /// The `count` largest by magnitude, in that order; equals as they are in `samples`.
  [[nodiscard]] std::vector<Contribution> largest(Index count) const;
  /// What all others contribute together.
  [[nodiscard]] double others(Index count) const;
};

}  // namespace kith
