// SPDX-License-Identifier: Apache-2.0
// What a store says about one data set, with tests of significance: what tables and reports show.
#pragma once

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/core/mention.hpp"
#include "kith/evaluate/metrics.hpp"
#include "kith/evaluate/paired_tests.hpp"
#include "kith/evaluate/store.hpp"

namespace kith {

/// How methods are compared. `auto`: as the papers did by their protocols (wilcoxon); by the
/// protocol kith the corrected resampled t-test, on one partition McNemar's, which compares errors.
enum class SignificanceTest { kAuto, kCorrectedT, kMcnemar, kWilcoxon, kNone };
constexpr auto enum_names(SignificanceTest /*of*/) {
  return named("auto", "corrected-t", "mcnemar", "wilcoxon", "none");
}

/// What `auto` stands for on a data set. Throws Error where another test cannot be had there.
[[nodiscard]] SignificanceTest chosen_test(SignificanceTest test, Metric metric,
                                           std::size_t partitions, std::string_view protocol,
                                           std::string_view data_set);

/// A mean with its 95 % interval; NaN where there is none.
struct Estimate {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// One method minus another, over the partitions that both have.
struct Difference {
  Estimate estimate;  ///< of the metric: by the corrected t, on one partition Newcombe's
  /// Two-sided; of Wilcoxon's test one-sided, that the one with the worse mean is worse. NaN where
  /// the test needs more partitions.
  double p_value = std::numeric_limits<double>::quiet_NaN();
  double p_adjusted = std::numeric_limits<double>::quiet_NaN();  ///< by Holm's method
  /// Below, within and above one point; of at least two partitions.
  std::optional<Posterior> bayes = std::nullopt;
};

/// The p-value that decides. The papers print those of single tests, by Wilcoxon.
[[nodiscard]] double deciding_p(const Difference& difference, SignificanceTest test);

/// Two methods by their places in the list of the experiment.
struct MethodPair {
  std::size_t first = 0;
  std::size_t second = 0;
  Difference difference;  ///< adjusted over all pairs
};

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
  bool leads = false;  ///< the best mean; of equals the first
  /// From the method that leads, adjusted over all others; nothing for that one itself.
  std::optional<Difference> to_best = std::nullopt;
  /// It leads or is not significantly worse at 5 %. Only methods with the most finished partitions
  /// can be: a single lucky one makes no best method. None is where nothing could be significant.
  bool best = false;
  std::vector<Estimate> recall;  ///< of each class: the share of its samples that was found
  /// On the only partition of an experiment: whether each test sample was missed; else empty.
  std::vector<bool> missed;
  Matrix confusion;          ///< (truth, said), summed over the partitions
  double seconds = 0;        ///< of all its units
  std::string worst_status;  ///< of its certificates ("solved", ...), empty: it has none
  double worst_gap = std::numeric_limits<double>::quiet_NaN();
  double worst_kkt_residual = std::numeric_limits<double>::quiet_NaN();

  /// Whether its solvers ended as they should on every finished partition.
  [[nodiscard]] bool ended_as_asked() const;
};

/// Always predicting the class with the most training samples, of equals the first; its
/// probabilities are the shares of the classes there. Over all partitions.
struct MajorityBaseline {
  std::string name;  ///< of the class, on most partitions
  /// Each metric, NaN where it does not exist.
  std::array<double, kEnumNames<Metric>.size()> metrics;
};

/// On how many finished partitions samples were tested.
struct TestCounts {
  int least = 0;
  int most = 0;
  Index never = 0;  ///< samples
};

struct ExperimentResult {
  std::int64_t number = 0;  ///< of the experiment in its store
  std::string name;
  Metric metric = Metric::kError;
  std::string positive;  ///< the class F1 is about; empty unless there are two
  Index samples = 0;
  Index groups = 0;  ///< that stayed whole in every split; 0 where samples stand alone
  std::vector<std::string> class_names;
  int partitions = 0;                               ///< planned
  std::vector<MethodResult> methods;                ///< in the order of the store
  SignificanceTest test = SignificanceTest::kNone;  ///< the one that was used
  /// Whether some difference could have been significant.
  bool could_tell = false;
  std::string test_note;  ///< how p was found; where nothing could be significant, what would help
  std::vector<MethodPair> pairs;
  MajorityBaseline baseline;
  TestCounts tested;
  [[nodiscard]] bool complete() const;
};

/// `positive` names the class F1 is about; empty: the last of the two. Throws Error when there are
/// two classes and it is neither, and where `test` is asked for and cannot be had.
[[nodiscard]] ExperimentResult summarise(const Store& store, std::int64_t experiment, Metric metric,
                                         const std::string& positive = "",
                                         SignificanceTest test = SignificanceTest::kAuto);

/// Average ranks of the methods that have finished on every data set, in the order of the first
/// one. From five data sets on Friedman's test and Nemenyi's critical difference at 5 %: fewer can
/// hardly tell anything. Empty with fewer than two data sets or methods.
struct RankTable {
  std::vector<std::string> methods;
  std::vector<double> ranks;  ///< average; 1 is best, equals share
  std::optional<FriedmanTest> friedman = std::nullopt;
  double critical_difference = std::numeric_limits<double>::quiet_NaN();
  std::string note;  ///< what the ranks say
};
[[nodiscard]] RankTable rank_methods(const std::vector<ExperimentResult>& results);

/// What `evaluate --json` and `report --format json` print; docs/report.md describes the fields.
/// One data set: its object. Several: `data_sets`, one such object each, and `ranks`. Seconds stand
/// under the one key `timing` at the top.
[[nodiscard]] Json results_json(const Store& store, const std::vector<ExperimentResult>& results);
/// The same with the mentions in its notes spelled.
[[nodiscard]] Json spelled_notes(Json results, Spelling spelling);

}  // namespace kith
