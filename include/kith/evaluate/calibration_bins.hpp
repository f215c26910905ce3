// SPDX-License-Identifier: Apache-2.0
// Whether probabilities mean what they say: predictions in bins by their largest probability.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// Predictions whose largest probability lies in one tenth of [0, 1].
struct CalibrationBin {
  Index count = 0;
  double said = 0;   ///< mean of that probability
  double right = 0;  ///< share of right predictions
};

inline constexpr std::size_t kCalibrationBins = 10;

/// Counts predictions as they come; a prediction is the most probable class.
class CalibrationCount {
 public:
  /// A row of `probabilities` per sample; `truth` is its class, -1 where it has no column.
  void add(std::span<const int> truth, const Matrix& probabilities);
  /// The ten bins, or none where nothing was added.
  [[nodiscard]] std::vector<CalibrationBin> bins() const;

 private:
  std::array<CalibrationBin, kCalibrationBins> bins_{};  // `said` and `right` are sums
  bool any_ = false;
};

/// The expected calibration error: the mean over the predictions of |said - right| of their bin.
/// NaN without predictions.
[[nodiscard]] double calibration_error(std::span<const CalibrationBin> bins);

}  // namespace kith
