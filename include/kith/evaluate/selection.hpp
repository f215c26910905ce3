// SPDX-License-Identifier: Apache-2.0
// The best of several methods for one data set: what `kith train --method auto` goes by.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kith/evaluate/experiment.hpp"

namespace kith {

struct SelectionEntry {
  std::string name;
  AnySettings settings;  ///< of its best grid point
  double loss = 0;       ///< per sample: the share of wrong labels, or the mean cost
};
struct Selection {
  std::vector<SelectionEntry> entries;  ///< in the order of the candidates
  std::size_t best = 0;                 ///< of least loss; the first among equals
};

/// Cross-validates every candidate over its grid on the folds of the whole data set, with the
/// engine of `evaluate`.
[[nodiscard]] Selection select_method(const ExperimentData& data,
                                      std::span<const Candidate> candidates, Index folds,
                                      Stratify stratify, RunContext& ctx);

/// What `train --json` and the model file say of it.
[[nodiscard]] Json selection_json(const Selection& selection);

}  // namespace kith
