// SPDX-License-Identifier: Apache-2.0
// What a store says about one data set, with the statistics of the papers: what tables and reports
// show.
#pragma once

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/core/mention.hpp"
#include "kith/evaluate/metrics.hpp"
#include "kith/evaluate/store.hpp"

namespace kith {

/// A method inside a committee, over the finished partitions of the committee.
struct MemberResult {
  std::string name;
  int partitions = 0;   ///< on how many it took part
  Json usual;           ///< of its searched settings, those it took part with most often
  int usual_count = 0;  ///< on how many partitions
};

struct MethodResult {
  std::string name;
  std::string method;
  std::vector<int> partitions;  ///< finished ones, counted from 0
  /// Each metric on each of them; NaN where it does not exist.
  std::array<std::vector<double>, kEnumNames<Metric>.size()> metrics;
  std::vector<double> values;         ///< those of the metric asked for
  std::vector<Json> chosen;           ///< settings on each
  Json usual;                         ///< of the searched settings, those chosen most often
  int usual_count = 0;                ///< on how many partitions
  std::vector<MemberResult> members;  ///< of a committee, all that it was made of, in their order
  /// Of the metric asked for, over the partitions that have it; sd with divisor count - 1.
  double mean = std::numeric_limits<double>::quiet_NaN();
  double sd = std::numeric_limits<double>::quiet_NaN();
  /// One-sided Wilcoxon signed-rank test that it is worse than the best, over the partitions both
  /// have; NaN for the best itself and where it cannot be had.
  double p_value = std::numeric_limits<double>::quiet_NaN();
  /// The best mean, or not significantly worse than it at 5 %. Only methods with the most finished
  /// partitions can be: a single lucky one makes no best method.
  bool best = false;
  Matrix confusion;          ///< (truth, said), summed over the partitions
  double seconds = 0;        ///< of all its units
  std::string worst_status;  ///< of its certificates ("solved", ...), empty: it has none
  double worst_gap = std::numeric_limits<double>::quiet_NaN();
  double worst_kkt_residual = std::numeric_limits<double>::quiet_NaN();

  /// Whether its solvers ended as they should on every finished partition.
  [[nodiscard]] bool ended_as_asked() const;
};

struct ExperimentResult {
  std::int64_t number = 0;  ///< of the experiment in its store
  std::string name;
  Metric metric = Metric::kError;
  std::string positive;  ///< the class F1 is about; empty unless there are two
  Index samples = 0;
  Index groups = 0;  ///< that stayed whole in every split; 0 where samples stand alone
  std::vector<std::string> class_names;
  int partitions = 0;                 ///< planned
  std::vector<MethodResult> methods;  ///< in the order of the store
  [[nodiscard]] bool complete() const;
};

/// `positive` names the class F1 is about; empty: the last of the two. Throws Error when there are
/// two classes and it is neither.
[[nodiscard]] ExperimentResult summarise(const Store& store, std::int64_t experiment, Metric metric,
                                         const std::string& positive = "");

/// Average ranks of the methods that have finished on every data set, in the order of the first
/// one, and Nemenyi's critical difference at 5 %. Empty with fewer than two data sets or methods.
struct RankTable {
  std::vector<std::string> methods;
  std::vector<double> ranks;  ///< average; 1 is best, equals share
  double critical_difference = std::numeric_limits<double>::quiet_NaN();
};
[[nodiscard]] RankTable rank_methods(const std::vector<ExperimentResult>& results);

/// What `evaluate --json` and `report --format json` print; docs/report.md describes the fields.
/// One data set: its object. Several: `data_sets`, one such object each, and `ranks`. Seconds stand
/// under the one key `timing` at the top.
[[nodiscard]] Json results_json(const Store& store, const std::vector<ExperimentResult>& results);
/// The same with the mentions in its notes spelled.
[[nodiscard]] Json spelled_notes(Json results, Spelling spelling);

}  // namespace kith
