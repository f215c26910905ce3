// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/calibration_bins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith {

void CalibrationCount::add(std::span<const int> truth, const Matrix& probabilities) {
  if (probabilities.size() == 0) return;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    Index top = 0;
    const double p = probabilities.row(static_cast<Index>(i)).maxCoeff(&top);
    const double place = std::clamp(p * static_cast<double>(kCalibrationBins), 0.0,
                                    static_cast<double>(kCalibrationBins - 1));
    CalibrationBin& bin = bins_[static_cast<std::size_t>(place)];
    ++bin.count;
    bin.said += p;
    bin.right += top == truth[i] ? 1 : 0;
    any_ = true;
  }
}

std::vector<CalibrationBin> CalibrationCount::bins() const {
  if (!any_) return {};
  std::vector<CalibrationBin> result(bins_.begin(), bins_.end());
  for (CalibrationBin& bin : result) {
    if (bin.count == 0) continue;
    bin.said /= static_cast<double>(bin.count);
    bin.right /= static_cast<double>(bin.count);
  }
  return result;
}

double calibration_error(std::span<const CalibrationBin> bins) {
  double sum = 0;
  Index count = 0;
  for (const CalibrationBin& bin : bins) {
    sum += static_cast<double>(bin.count) * std::abs(bin.said - bin.right);
    count += bin.count;
  }
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  return sum / static_cast<double>(count);
}

}  // namespace kith
