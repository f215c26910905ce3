// SPDX-License-Identifier: Apache-2.0
// What is computed for one method on one training part.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/fold_part.hpp"
#include "kith/core/error.hpp"
#include "kith/evaluate/grid.hpp"
#include "kith/learn/shared_work.hpp"

namespace kith::detail {

/// Samples that train and samples that are held out, counted as the data does.
struct Division {
  std::span<const Index> train;
  std::span<const Index> held_out;
};

/// What one method found on a division.
struct PartLosses {
  /// Summed over the held-out samples: at every point of the grid for the first input, then for the
  /// next.
  std::vector<double> losses;
  std::vector<double> squares;  ///< of the losses of single samples, summed in the same way
  double seconds = 0;
  std::optional<std::string> failure;  ///< why it could not be fitted
};
/// The losses of methods that are no committees, one input at a time, so that its conditioned block
/// and decompositions serve them all and are in memory for one input alone. `samples` is that of
/// grid_points. `begin` is called before each method on each input, `ended` with the position of
/// each method and what it found, as soon as that is all: after its last input. What they throw
/// ends the work.
[[nodiscard]] std::vector<PartLosses> losses_of(
    const ExperimentData& data, const Division& division, std::span<const Candidate* const> parts,
    Index samples, MissingPairs missing, RunContext& ctx,
    const std::function<void(const Candidate&)>& begin,
    const std::function<void(std::size_t, const PartLosses&)>& ended = {});

/// Of the mean loss over `samples`: that of an error rate, or of costs where the decision has them.
[[nodiscard]] double standard_error_of(const DecisionSettings& decision, double sum, double squares,
                                       Index samples);

/// The inputs of a method: those that were resolved, or that of the data.
[[nodiscard]] std::vector<InputVariant> inputs_of(const Candidate& part,
                                                  const ExperimentData& data);

/// Whether there are inner folds: not where a fit tunes itself and there is nothing else to choose.
[[nodiscard]] bool is_validated(const Candidate& candidate, const ExperimentData& data,
                                Index samples);

/// Whether two methods compute the same, whatever their names.
[[nodiscard]] bool same_work(const Candidate& a, const Candidate& b, const ExperimentData& data);

/// Whether an error says what a method cannot do, which ends that method and not the run.
[[nodiscard]] bool is_about_the_data(const Error& error);

struct Refit {
  Prediction prediction;
  FitInfo info;
};
[[nodiscard]] Refit refit(const FoldPart& part, SharedWork& work, const DecisionSettings& decision,
                          AnySettings settings, RunContext& ctx);

/// Kernel weights, bounds by iteration and learned spectra of the first subproblems, long lists
/// thinned: a store does not grow with them. Empty where there is nothing of the kind.
[[nodiscard]] Json learned_excerpt(const FitInfo& info);

/// The fewest training samples left when one fold is held out.
[[nodiscard]] Index smallest_training_part(std::span<const int> fold_of);

/// Whether sparse tables may keep unknown pairs: every candidate must be able to do without them.
[[nodiscard]] MissingPairs missing_pairs_for(std::span<const Candidate> candidates);

}  // namespace kith::detail
