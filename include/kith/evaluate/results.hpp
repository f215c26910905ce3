// SPDX-License-Identifier: Apache-2.0
// What a store says about one data set, with the statistics of the papers: what tables and reports
// show.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/evaluate/metrics.hpp"
#include "kith/evaluate/store.hpp"

namespace kith {

struct MethodResult {
  std::string name;
  std::string method;
  std::vector<int> partitions;  ///< finished ones
  std::vector<double> values;   ///< the metric on each of them; NaN where it does not exist
  std::vector<Json> chosen;     ///< settings on each
  double mean = std::numeric_limits<double>::quiet_NaN();
  double sd = std::numeric_limits<double>::quiet_NaN();  ///< with divisor count - 1
  /// One-sided Wilcoxon signed-rank test that it is worse than the best, over the partitions both
  /// have; NaN for the best itself and where it cannot be had.
  double p_value = std::numeric_limits<double>::quiet_NaN();
  bool best = false;         ///< the best mean, or not significantly worse than it at 5 %
  double seconds = 0;        ///< of all its units
  std::string worst_status;  ///< of its certificates ("solved", ...), empty: it has none
};

struct ExperimentResult {
  std::string name;
  Metric metric = Metric::kError;
  Index samples = 0;
  std::vector<std::string> class_names;
  int partitions = 0;                 ///< planned
  std::vector<MethodResult> methods;  ///< in the order of the store
  [[nodiscard]] bool complete() const;
};

[[nodiscard]] ExperimentResult summarise(const Store& store, std::int64_t experiment, Metric metric,
                                         const std::string& positive = "");

/// Average ranks of the methods that every data set has, and Nemenyi's critical difference at 5 %.
struct RankTable {
  std::vector<std::string> methods;
  std::vector<double> ranks;  ///< average; 1 is best, equals share
  double critical_difference = std::numeric_limits<double>::quiet_NaN();
};
[[nodiscard]] RankTable rank_methods(const std::vector<ExperimentResult>& results);

/// What `evaluate --json` and `report --format json` print.
[[nodiscard]] Json results_json(const Store& store, const std::vector<ExperimentResult>& results);

}  // namespace kith
