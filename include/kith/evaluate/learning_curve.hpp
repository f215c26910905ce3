// SPDX-License-Identifier: Apache-2.0
// What a store says of methods by the number of their training samples: whether more would help.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/evaluate/paired_tests.hpp"
#include "kith/evaluate/store.hpp"

namespace kith {

/// One method with training parts of one size.
struct SizedMethod {
  std::string name;
  std::vector<int> partitions;  ///< finished ones, counted from 0
  std::vector<double> errors;   ///< the share of wrong labels on each of them
  /// Over these; sd with divisor count - 1. NaN without any.
  double mean = std::numeric_limits<double>::quiet_NaN();
  double sd = std::numeric_limits<double>::quiet_NaN();
  /// Of 95 % about the mean: the corrected resampled t over several partitions, Wilson's for one.
  Interval interval;
};

struct CurvePoint {
  std::string size;    ///< as it was asked for: "20%", "50"; "100%" are all training samples
  double samples = 0;  ///< for training, mean over the partitions
  std::vector<SizedMethod> methods;  ///< in the order of the store
};

/// By how much the error of a method fell from the last size but one to all training samples.
struct LastGain {
  std::string method;  ///< of least mean error with all samples, of equals the first; empty: none
  double from = 0;     ///< its errors, means over the partitions that have both
  double to = 0;
  Interval fall;  ///< of 95 %, as above; of one partition by Newcombe's method
};

struct LearningCurve {
  std::vector<CurvePoint> points;  ///< ascending; none: only all training samples were used
  LastGain gain;
  std::string note;  ///< whether more samples would help, in words
};

/// Of the error. The interval over overlapping partitions takes the samples of whole training parts
/// for its correction at every size: test parts overlap alike, and smaller training parts less.
[[nodiscard]] LearningCurve learning_curve(const Store& store, std::int64_t experiment);

/// `sizes` and `sizes_note` of `results_json`: null where there is no curve.
[[nodiscard]] Json sizes_json(const LearningCurve& curve);

}  // namespace kith
