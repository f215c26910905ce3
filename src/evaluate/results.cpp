// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/results.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "core/errors.hpp"
#include "evaluate/comparison.hpp"
#include "kith/core/text.hpp"
#include "kith/data/groups.hpp"
#include "kith/evaluate/statistics.hpp"
#include "kith/learn/learner.hpp"

namespace kith {
namespace {

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

/// Of each class the share of its samples that was found, over partitions.
class Recalls {
 public:
  explicit Recalls(int classes)
      : shares_(static_cast<std::size_t>(classes)), samples_(static_cast<std::size_t>(classes)) {}

  void add(const Matrix& confusion) {
    for (std::size_t c = 0; c < shares_.size(); ++c) {
      const auto at = static_cast<Index>(c);
      const double samples = confusion.row(at).sum();
      if (samples == 0) continue;
      shares_[c].push_back(confusion(at, at) / samples);
      samples_[c] += samples;
    }
  }

  [[nodiscard]] std::vector<Estimate> estimates(double ratio) const {
    std::vector<Estimate> all(shares_.size());
    for (std::size_t c = 0; c < shares_.size(); ++c) {
      if (shares_[c].empty()) continue;
      const double counted = samples_[c] / static_cast<double>(shares_[c].size());
      const Interval found = detail::share_interval(shares_[c], ratio, counted);
      all[c] = {.mean = mean(shares_[c]), .low = found.low, .high = found.high};
    }
    return all;
  }

 private:
  std::vector<std::vector<double>> shares_;
  std::vector<double> samples_;
};

/// Everything about one method but the comparison with the others. Predictions, the bulk of a
/// store, are read one by one and not kept.
MethodResult read_method(const Store& store, std::int64_t candidate,
                         const ExperimentRecord& experiment, int positive, double ratio) {
  const CandidateRecord record = store.candidate(candidate);
  const int classes = experiment.labels.class_count();
  MethodResult result{.name = record.name, .method = record.method};
  result.confusion = Matrix::Zero(classes, classes);
  FitInfo fits;
  Recalls recalls(classes);
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
    const Matrix counts = confusion(truth, test->prediction.labels, classes);
    recalls.add(counts);
    result.confusion += counts;
    if (experiment.partitions.size() == 1) {
      for (std::size_t i = 0; i < truth.size(); ++i) {
        result.missed.push_back(test->prediction.labels[i] != truth[i]);
      }
    }
    result.chosen.push_back(test->chosen);
    result.seconds += test->seconds;
    add_certificate(fits, test->certificate);
  }
  std::tie(result.usual, result.usual_count) = usual_of(result.chosen, record.grid);
  result.members = members_of(record, result.chosen);
  result.recall = recalls.estimates(ratio);
  if (!fits.subproblems.empty()) result.worst_status = enum_name(fits.status());
  result.worst_gap = fits.gap();
  result.worst_kkt_residual = fits.kkt_residual();
  return result;
}

MajorityBaseline baseline_of(const ExperimentRecord& record, int positive) {
  const int classes = record.labels.class_count();
  std::array<std::vector<double>, kEnumNames<Metric>.size()> values;
  std::vector<int> chosen(static_cast<std::size_t>(classes));
  for (const Partition& partition : record.partitions) {
    const std::vector<Index> counts = select(record.labels, partition.train).counts();
    const auto most = std::ranges::max_element(counts) - counts.begin();
    ++chosen[static_cast<std::size_t>(most)];
    const std::vector<int> truth = select(record.labels, partition.test).ids;
    Prediction same;
    same.labels.assign(truth.size(), static_cast<int>(most));
    same.probabilities = Matrix::Zero(std::ssize(truth), classes);
    for (int c = 0; c < classes; ++c) {
      same.probabilities.col(c).setConstant(
          static_cast<double>(counts[static_cast<std::size_t>(c)]) /
          static_cast<double>(partition.train.size()));
    }
    for (std::size_t m = 0; m < values.size(); ++m) {
      const std::optional<double> value =
          metric_value(static_cast<Metric>(m), truth, same, classes, positive);
      if (value) values[m].push_back(*value);
    }
  }
  MajorityBaseline baseline;
  const auto most = std::ranges::max_element(chosen) - chosen.begin();
  baseline.name = record.labels.names[static_cast<std::size_t>(most)];
  for (std::size_t m = 0; m < values.size(); ++m) baseline.metrics[m] = mean(values[m]);
  return baseline;
}

/// Over the partitions that some method has finished.
TestCounts count_tests(const ExperimentRecord& record, const std::vector<MethodResult>& methods) {
  std::vector<bool> finished(record.partitions.size());
  for (const MethodResult& method : methods) {
    for (const int p : method.partitions) finished[static_cast<std::size_t>(p)] = true;
  }
  std::vector<int> counts(static_cast<std::size_t>(record.labels.size()));
  for (std::size_t p = 0; p < finished.size(); ++p) {
    if (!finished[p]) continue;
    for (const Index i : record.partitions[p].test) ++counts[static_cast<std::size_t>(i)];
  }
  const auto [least, most] = std::ranges::minmax_element(counts);
  return {.least = *least, .most = *most, .never = std::ranges::count(counts, 0)};
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
                           const std::string& positive, SignificanceTest test) {
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
                          .methods = {},
                          .test = chosen_test(test, metric, record.partitions.size(),
                                              record.protocol.value("name", "kith"), record.name),
                          .test_note = {},
                          .pairs = {},
                          .baseline = baseline_of(record, positive_id),
                          .tested = {}};
  const detail::Overlap overlap = detail::overlap_of(record.partitions);
  if (record.labels.class_count() == 2) {
    result.positive = record.labels.names[static_cast<std::size_t>(positive_id)];
  }
  for (const std::int64_t candidate : store.candidates(experiment)) {
    MethodResult method = read_method(store, candidate, record, positive_id, overlap.ratio);
    method.values = method.metrics[static_cast<std::size_t>(metric)];
    const std::vector<double> values = existing(method.values);
    method.mean = mean(values);
    method.sd = standard_deviation(values);
    result.methods.push_back(std::move(method));
  }
  result.tested = count_tests(record, result.methods);
  detail::compare(result, overlap);
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
  Matrix all(std::ssize(results), std::ssize(table.methods));
  for (std::size_t r = 0; r < results.size(); ++r) {
    std::vector<double> means;
    double largest = 0;
    for (const std::string& name : table.methods) {
      const double value = finished_mean(results[r], name);
      means.push_back(smaller_is_better(results[r].metric) ? value : -value);
      largest = std::max(largest, std::abs(value));
    }
    const std::vector<double> own = ranks(means, kRoundingShare * largest);
    for (std::size_t m = 0; m < own.size(); ++m) {
      all(static_cast<Index>(r), static_cast<Index>(m)) = own[m];
    }
  }
  detail::rank(table, all);
  return table;
}

}  // namespace kith
