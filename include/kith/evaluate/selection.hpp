// SPDX-License-Identifier: Apache-2.0
// The committee for one data set, or one method with its best settings: what `kith train --method
// auto` and `--tune` go by.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kith/evaluate/experiment.hpp"
#include "kith/pipeline/committee.hpp"

namespace kith {

struct SelectionEntry {
  Candidate method;
  AnySettings settings;  ///< of its best grid point
  InputVariant input;    ///< with which it was found
  double loss = 0;       ///< per sample: the share of wrong labels, or the mean cost
  double error = 0;      ///< the standard error of the loss
  double seconds = 0;    ///< of the cross-validation, over all folds
  bool seated = false;   ///< it is part of the answer
  std::optional<std::string> skipped{};  ///< why it was not tried, or could not be fitted
  std::vector<std::string> notes{};      ///< on its grid, for the user
};
struct Selection {
  std::vector<SelectionEntry> entries;  ///< in the order of the methods
  std::size_t best = 0;                 ///< of least loss; the first among equals
  Index folds = 0;                      ///< that were finished
  Index folds_asked = 0;                ///< more than were finished where a budget ended them
  std::vector<std::string> notes{};     ///< on what a budget left out, for the user
  Index variants = 0;                   ///< ways to treat the input
  std::optional<double> budget{};       ///< seconds that everything may take; none: no limit
};

struct SelectionSettings {
  Index folds = 5;
  Stratify stratify = Stratify::kAuto;
  /// Seconds for everything: what was done before (`spent`), estimates, cross-validation and the
  /// fits to all samples. Methods that will not fit in are skipped, the costliest first, by the
  /// time that each takes on a small sample; at least the cheapest is tried on one fold. How long
  /// the others took corrects the estimates, and those that fit in after all are tried then. None:
  /// no limit.
  std::optional<double> budget{};
  double spent = 0;  ///< seconds since the command began: reading, measuring
};

/// Cross-validates every method over its inputs and its grid on folds of the whole data set, with
/// the engine of `evaluate`, and seats those that take part in the answer (pipeline/committee).
/// Methods that learn from vectors sit alone: then the best one is seated. Throws Error where a
/// class has so few samples that a part of the folds is left with one class.
[[nodiscard]] Selection select_methods(const ExperimentData& data,
                                       std::span<const Candidate> methods,
                                       const SelectionSettings& settings, RunContext& ctx);

/// Fits what was selected to all samples: a committee, or a plain model where one method is seated.
/// `samples` are the raw samples that `data` was measured from, `vectors` those of methods on
/// vectors, if there are any.
[[nodiscard]] Training train_selected(const Selection& selection, const ExperimentData& data,
                                      std::span<const RawMatrix> samples, const VectorData* vectors,
                                      const DecisionSettings& decision, RunContext& ctx);

/// What `auto` is: no method of the registry, it has members in the place of settings.
inline constexpr std::string_view kAutoSummary =
    "a committee: the best of several methods by cross-validation, which predict together";
[[nodiscard]] Json auto_json();

/// The values of what was searched, of the method and of its input: "cost=1, scale=unit".
[[nodiscard]] std::string found_text(const SelectionEntry& entry, const ExperimentData& data);
/// What `train --json` and the model file say of it; without seconds, so that the same search gives
/// the same file.
[[nodiscard]] Json selection_json(const Selection& selection, const ExperimentData& data);
/// Adds the seconds of each method to what `train --json` prints of a fit.
void add_seconds(const Selection& selection, Json& training);
/// Notes on what a budget left out, and on the grids of those that are part of the answer.
[[nodiscard]] std::vector<std::string> notes_of(const Selection& selection);
/// Puts both into the certificate of the model that was trained by it.
void record(const Selection& selection, const ExperimentData& data, TrainedModel& model);

}  // namespace kith
