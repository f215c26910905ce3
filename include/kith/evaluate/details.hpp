// SPDX-License-Identifier: Apache-2.0
// What a store says about one method beyond the table: sample by sample, over its grid, about its
// probabilities and its solvers. What pages draw.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/evaluate/calibration_bins.hpp"
#include "kith/evaluate/curves.hpp"
#include "kith/evaluate/store.hpp"

namespace kith {

struct SearchedAxis {
  std::string field;
  std::vector<std::string> values;  ///< as the grid has them, capped where they had to be
};

/// What the solver said on one partition; NaN where it says nothing.
struct PartitionRecord {
  int partition = 0;
  std::string status;
  double gap = 0;
  double kkt_residual = 0;
  double iterations = 0;
  double seconds = 0;  ///< of all folds and the test
};

struct MethodDetails {
  std::vector<int> tested;  ///< per sample: in how many finished test parts it was
  std::vector<int> wrong;   ///< and how often its label was missed there
  std::vector<int> said;    ///< class it was given most often; -1: never; C of C classes: a tie
  std::vector<SearchedAxis> axes;
  /// Loss per held-out sample at each point of the grid (the last axis fastest), over the finished
  /// partitions whose grid is that of the first; empty where nothing was searched.
  std::vector<double> validation;
  std::vector<CalibrationBin> calibration;  ///< ten, or none without probabilities
  std::optional<Curves> curves;             ///< none without scores and probabilities
  std::vector<PartitionRecord> partitions;
  Json learned;  ///< what the first partition kept of weights, bounds and spectra; null: nothing
};

/// `record` is that of the candidate's experiment.
[[nodiscard]] MethodDetails method_details(const Store& store, std::int64_t candidate,
                                           const ExperimentRecord& record);

}  // namespace kith
