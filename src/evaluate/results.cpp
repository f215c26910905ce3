// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/results.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/data/groups.hpp"
#include "kith/evaluate/statistics.hpp"
#include "kith/learn/learner.hpp"

namespace kith {
namespace {

constexpr double kLevel = 0.05;  // as in [TR] and [CGR]

/// The class F1 is about: the one named, or the last of two (1 of 0 and 1, yes of no and yes).
int positive_class(const ExperimentRecord& record, const std::string& positive) {
  const std::vector<std::string>& names = record.labels.names;
  if (names.size() != 2) return 0;
  if (positive.empty()) return 1;
  const auto found = std::find(names.begin(), names.end(), positive);
  if (found == names.end()) {
    throw invalid("the positive class {} is no class of {}; its classes are {} and {}",
                  in_quotes(positive), in_quotes(record.name), in_quotes(names[0]),
                  in_quotes(names[1]));
  }
  return static_cast<int>(found - names.begin());
}

/// The parts of `chosen` that were searched.
Json searched_part(const Json& chosen, const Json& grid) {
  Json part = Json::object();
  for (const Json& axis : grid) {
    const std::string field = axis.at("field").get<std::string>();
    if (chosen.contains(field)) part[field] = chosen.at(field);
  }
  return part;
}

/// The searched settings chosen most often, and how often; among equals the first.
std::pair<Json, int> usual_of(std::span<const Json> all, const Json& grid) {
  std::vector<std::pair<Json, int>> counted;
  for (const Json& chosen : all) {
    const Json part = searched_part(chosen, grid);
    const auto at = std::find_if(counted.begin(), counted.end(),
                                 [&](const auto& entry) { return entry.first == part; });
    if (at == counted.end()) {
      counted.emplace_back(part, 1);
    } else {
      ++at->second;
    }
  }
  std::pair<Json, int> usual;
  for (auto& entry : counted) {
    if (entry.second > usual.second) usual = std::move(entry);
  }
  return usual;
}

/// How often each method of a committee took part; none: it is no committee.
std::vector<MemberResult> members_of(const CandidateRecord& record, std::span<const Json> chosen) {
  std::vector<MemberResult> members;
  if (!record.settings.contains("members")) return members;
  for (const Json& member : record.settings.at("members")) {
    MemberResult& result = members.emplace_back();
    result.name = member.at("name").get<std::string>();
    std::vector<Json> own;
    for (const Json& one : chosen) {
      for (const Json& seat : one.value("members", Json::array())) {
        if (seat.value("method", "") == result.name) own.push_back(seat);
      }
    }
    result.partitions = static_cast<int>(own.size());
    std::tie(result.usual, result.usual_count) = usual_of(own, member.at("grid"));
  }
  return members;
}

double number_or_nan(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>()
                                               : std::numeric_limits<double>::quiet_NaN();
}

/// Takes the fits of a method for one fit with a subproblem per partition, which knows its worst.
void add_certificate(FitInfo& all, const Json& certificate) {
  if (!certificate.is_object() || !certificate.contains("status")) return;
  SolveInfo info;
  info.status = find_enum<SolveStatus>(certificate.at("status").get<std::string>())
                    .value_or(SolveStatus::kNumericalFailure);
  info.gap = number_or_nan(certificate, "gap");
  info.kkt_residual = number_or_nan(certificate, "kkt_residual");
  all.subproblems.push_back({.name = "", .info = info});
}

/// Everything about one method but the comparison with the others. Predictions, the bulk of a
/// store, are read one by one and not kept.
MethodResult read_method(const Store& store, std::int64_t candidate,
                         const ExperimentRecord& experiment, int positive) {
  const CandidateRecord record = store.candidate(candidate);
  const int classes = experiment.labels.class_count();
  MethodResult result{.name = record.name, .method = record.method};
  result.confusion = Matrix::Zero(classes, classes);
  FitInfo fits;
  for (int p = 0; p < static_cast<int>(experiment.partitions.size()); ++p) {
    const Partition& partition = experiment.partitions[static_cast<std::size_t>(p)];
    for (int fold = 0; fold < partition.folds(); ++fold) {
      const std::optional<FoldResult> inner = store.fold_result({candidate, p, fold});
      if (inner) result.seconds += inner->seconds;
    }
    const std::optional<TestResult> test = store.test_result({candidate, p, kTestFold});
    if (!test) continue;
    const std::vector<int> truth = select(experiment.labels, partition.test).ids;
    result.partitions.push_back(p);
    for (std::size_t m = 0; m < result.metrics.size(); ++m) {
      const std::optional<double> value =
          metric_value(static_cast<Metric>(m), truth, test->prediction, classes, positive);
      result.metrics[m].push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    result.confusion += confusion(truth, test->prediction.labels, classes);
    result.chosen.push_back(test->chosen);
    result.seconds += test->seconds;
    add_certificate(fits, test->certificate);
  }
  std::tie(result.usual, result.usual_count) = usual_of(result.chosen, record.grid);
  result.members = members_of(record, result.chosen);
  if (!fits.subproblems.empty()) result.worst_status = enum_name(fits.status());
  result.worst_gap = fits.gap();
  result.worst_kkt_residual = fits.kkt_residual();
  return result;
}

/// The first with the best mean among the methods with the most finished partitions; none: no
/// method has the metric.
const MethodResult* find_best(const std::vector<MethodResult>& methods, std::size_t most,
                              double sign) {
  const MethodResult* best = nullptr;
  for (const MethodResult& method : methods) {
    if (method.partitions.size() != most || std::isnan(method.mean)) continue;
    // Means of the same values in another order differ by rounding, and are equal.
    if (best == nullptr ||
        sign * (best->mean - method.mean) >
            kRoundingShare * std::max(std::abs(best->mean), std::abs(method.mean))) {
      best = &method;
    }
  }
  return best;
}

double p_value_against(const MethodResult& best, const MethodResult& method, bool smaller) {
  std::vector<double> theirs, ours;
  for (std::size_t i = 0, j = 0; i < best.partitions.size() && j < method.partitions.size();) {
    if (best.partitions[i] != method.partitions[j]) {
      best.partitions[i] < method.partitions[j] ? ++i : ++j;
      continue;
    }
    if (!std::isnan(best.values[i]) && !std::isnan(method.values[j])) {
      theirs.push_back(best.values[i]);
      ours.push_back(method.values[j]);
    }
    ++i, ++j;
  }
  if (ours.empty()) return std::numeric_limits<double>::quiet_NaN();
  return smaller ? wilcoxon_larger(ours, theirs) : wilcoxon_larger(theirs, ours);
}

void compare(std::vector<MethodResult>& methods, Metric metric) {
  std::size_t most = 1;
  for (const MethodResult& method : methods) most = std::max(most, method.partitions.size());
  const bool smaller = smaller_is_better(metric);
  const MethodResult* best = find_best(methods, most, smaller ? 1 : -1);
  if (best == nullptr) return;
  for (MethodResult& method : methods) {
    if (&method != best) method.p_value = p_value_against(*best, method, smaller);
    method.best = &method == best || (method.partitions.size() == most && method.p_value > kLevel);
  }
}

}  // namespace

bool MethodResult::ended_as_asked() const {
  if (worst_status.empty()) return true;
  const std::optional<SolveStatus> status = find_enum<SolveStatus>(worst_status);
  return status && kith::ended_as_asked(*status);
}

bool ExperimentResult::complete() const {
  return std::all_of(methods.begin(), methods.end(), [&](const MethodResult& method) {
    return static_cast<int>(method.partitions.size()) == partitions;
  });
}

ExperimentResult summarise(const Store& store, std::int64_t experiment, Metric metric,
                           const std::string& positive) {
  const ExperimentRecord record = store.experiment(experiment);
  const int positive_id = positive_class(record, positive);
  ExperimentResult result{.number = experiment,
                          .name = record.name,
                          .metric = metric,
                          .positive = {},
                          .samples = record.labels.size(),
                          .groups = count_groups(record.labels.groups.ids),
                          .class_names = record.labels.names,
                          .partitions = static_cast<int>(record.partitions.size()),
                          .methods = {}};
  if (record.labels.class_count() == 2) {
    result.positive = record.labels.names[static_cast<std::size_t>(positive_id)];
  }
  for (const std::int64_t candidate : store.candidates(experiment)) {
    MethodResult method = read_method(store, candidate, record, positive_id);
    method.values = method.metrics[static_cast<std::size_t>(metric)];
    const std::vector<double> values = existing(method.values);
    method.mean = mean(values);
    method.sd = standard_deviation(values);
    result.methods.push_back(std::move(method));
  }
  compare(result.methods, metric);
  return result;
}

RankTable rank_methods(const std::vector<ExperimentResult>& results) {
  RankTable table;
  if (results.size() < 2) return table;
  const auto finished_mean = [](const ExperimentResult& result, const std::string& name) {
    for (const MethodResult& method : result.methods) {
      if (method.name != name) continue;
      if (static_cast<int>(method.partitions.size()) == result.partitions) return method.mean;
    }
    return std::numeric_limits<double>::quiet_NaN();
  };
  for (const MethodResult& method : results.front().methods) {
    if (std::all_of(results.begin(), results.end(), [&](const ExperimentResult& result) {
          return !std::isnan(finished_mean(result, method.name));
        })) {
      table.methods.push_back(method.name);
    }
  }
  if (table.methods.size() < 2) return {};
  table.ranks.assign(table.methods.size(), 0);
  for (const ExperimentResult& result : results) {
    std::vector<double> means;
    double largest = 0;
    for (const std::string& name : table.methods) {
      const double value = finished_mean(result, name);
      means.push_back(smaller_is_better(result.metric) ? value : -value);
      largest = std::max(largest, std::abs(value));
    }
    const std::vector<double> rank = ranks(means, kRoundingShare * largest);
    for (std::size_t m = 0; m < rank.size(); ++m) {
      table.ranks[m] += rank[m] / static_cast<double>(results.size());
    }
  }
  table.critical_difference = critical_difference(static_cast<int>(table.methods.size()),
                                                  static_cast<int>(results.size()), kLevel);
  return table;
}

}  // namespace kith
