// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kith/evaluate/learning_curve.hpp"
#include "kith/evaluate/results.hpp"
#include "kith/evaluate/statistics.hpp"

namespace kith {
namespace {

Json reals(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(real(value));
  return list;
}

/// Mean, sd and values of one metric; null where no partition has it.
Json metric_json(std::span<const double> values) {
  const std::vector<double> found = existing(values);
  if (found.empty()) return {};
  return {{"mean", mean(found)}, {"sd", standard_deviation(found)}, {"values", reals(values)}};
}

Json confusion_json(const Matrix& counts) {
  Json rows = Json::array();
  for (Index truth = 0; truth < counts.rows(); ++truth) {
    Json row = Json::array();
    for (Index said = 0; said < counts.cols(); ++said) {
      row.push_back(static_cast<long>(counts(truth, said)));
    }
    rows.push_back(row);
  }
  return rows;
}

Json certificate_json(const MethodResult& method) {
  if (method.worst_status.empty()) return {};
  return {{"status", method.worst_status},
          {"gap", real(method.worst_gap)},
          {"kkt_residual", real(method.worst_kkt_residual)}};
}

/// The settings chosen most often.
Json most_json(const Json& settings, int partitions) {
  return {{"settings", settings}, {"partitions", partitions}};
}

Json estimate_json(const Estimate& estimate) {
  if (std::isnan(estimate.mean)) return {};
  return {{"mean", estimate.mean}, {"low", real(estimate.low)}, {"high", real(estimate.high)}};
}

Json bayes_json(const std::optional<Posterior>& bayes, bool smaller) {
  if (!bayes) return {};
  return {{"better", smaller ? bayes->below : bayes->above},
          {"equal", bayes->within},
          {"worse", smaller ? bayes->above : bayes->below}};
}

Json test_json(const ExperimentResult& result) {
  return {{"name", enum_name(result.test)},
          {"level", 0.05},
          {"sides", result.test == SignificanceTest::kWilcoxon ? 1 : 2},
          {"possible", result.could_tell},
          {"note", result.test_note}};
}

Json baseline_json(const MajorityBaseline& baseline) {
  Json metrics = Json::object();
  for (std::size_t m = 0; m < baseline.metrics.size(); ++m) {
    metrics[std::string(kEnumNames<Metric>[m])] = real(baseline.metrics[m]);
  }
  return {{"class", baseline.name}, {"metrics", metrics}};
}

Json pairs_json(const ExperimentResult& result) {
  Json pairs = Json::array();
  for (const MethodPair& pair : result.pairs) {
    const Difference& one = pair.difference;
    pairs.push_back({{"methods", {pair.first, pair.second}},
                     {"difference", real(one.estimate.mean)},
                     {"low", real(one.estimate.low)},
                     {"high", real(one.estimate.high)},
                     {"p_value", real(one.p_value)},
                     {"p_adjusted", real(one.p_adjusted)}});
  }
  return pairs;
}

Json method_json(const MethodResult& method, bool smaller, const CandidateRecord& candidate) {
  const std::vector<double>& errors = method.metrics[static_cast<std::size_t>(Metric::kError)];
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Json finished = Json::array();
  for (const int partition : method.partitions) finished.push_back(partition + 1);
  Json metrics = Json::object();
  for (std::size_t m = 0; m < method.metrics.size(); ++m) {
    const Json one = metric_json(method.metrics[m]);
    if (!one.is_null()) metrics[std::string(kEnumNames<Metric>[m])] = one;
  }
  Json json = {{"method", method.name},
               {"mean_error", real(mean(errors))},
               {"sd_error", real(standard_deviation(errors))},
               {"errors", reals(errors)},
               {"chosen", method.chosen},
               {"leads", method.leads},
               {"p_value", real(method.to_best ? method.to_best->p_value : kNone)},
               {"p_adjusted", real(method.to_best ? method.to_best->p_adjusted : kNone)},
               {"difference", method.to_best ? estimate_json(method.to_best->estimate) : Json()},
               {"bayes", method.to_best ? bayes_json(method.to_best->bayes, smaller) : Json()},
               {"best", method.best},
               {"finished", finished},
               {"chosen_most", most_json(method.usual, method.usual_count)},
               {"metrics", metrics},
               {"confusion", confusion_json(method.confusion)},
               {"recall", Json::array()},
               {"certificate", certificate_json(method)},
               {"base_method", method.method},
               {"settings", candidate.settings},
               {"grid", candidate.grid}};
  for (const Estimate& one : method.recall) json["recall"].push_back(estimate_json(one));
  for (const MemberResult& member : method.members) {
    json["members"].push_back({{"method", member.name},
                               {"partitions", member.partitions},
                               {"chosen_most", most_json(member.usual, member.usual_count)}});
  }
  return json;
}

Json data_set_json(const Store& store, const ExperimentResult& result) {
  const ExperimentRecord record = store.experiment(result.number);
  Json classes = Json::object();
  const std::vector<Index> counts = record.labels.counts();
  for (std::size_t c = 0; c < counts.size(); ++c) classes[record.labels.names[c]] = counts[c];
  Json methods = Json::array();
  const std::vector<std::int64_t> candidates = store.candidates(result.number);
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    methods.push_back(method_json(result.methods[m], smaller_is_better(result.metric),
                                  store.candidate(candidates[m])));
  }
  Json notes = Json::array();
  for (const Json& one : record.about.value("notes", Json::array())) notes.push_back(one["note"]);
  Json json = {{"name", result.name},
               {"n", result.samples},
               {"classes", classes},
               {"groups", result.groups == 0 ? Json() : Json(result.groups)},
               {"fingerprint", fmt::format("{:016x}", record.fingerprint)},
               {"protocol", record.protocol},
               {"input", record.input},
               {"matrices", record.about.contains("matrices") ? record.about["matrices"] : Json()},
               {"partitions", result.partitions},
               {"complete", result.complete()},
               {"metric", enum_name(result.metric)},
               {"positive", result.positive.empty() ? Json() : Json(result.positive)},
               {"test", test_json(result)},
               {"baseline", baseline_json(result.baseline)},
               {"test_counts",
                {{"least", result.tested.least},
                 {"most", result.tested.most},
                 {"never", result.tested.never}}},
               {"methods", methods},
               {"pairs", pairs_json(result)},
               {"notes", notes}};
  if (const Json sizes = sizes_json(learning_curve(store, result.number)); !sizes.is_null()) {
    json.update(sizes);
  }
  return json;
}

Json seconds_json(const ExperimentResult& result) {
  double sum = 0;
  Json methods = Json::object();
  for (const MethodResult& method : result.methods) {
    sum += method.seconds;
    methods[method.name] = method.seconds;
  }
  return {{"seconds", sum}, {"methods", methods}};
}

Json ranks_json(const RankTable& table, std::size_t data_sets) {
  Json methods = Json::array();
  for (std::size_t m = 0; m < table.methods.size(); ++m) {
    methods.push_back({{"method", table.methods[m]}, {"rank", table.ranks[m]}});
  }
  Json friedman;
  if (table.friedman) {
    friedman = {{"statistic", real(table.friedman->statistic)},
                {"p_value", table.friedman->p_value}};
  }
  return {{"methods", methods},
          {"data_sets", data_sets},
          {"friedman", friedman},
          {"critical_difference", real(table.critical_difference)},
          {"note", table.note}};
}

}  // namespace

Json results_json(const Store& store, const std::vector<ExperimentResult>& results) {
  if (results.size() == 1) {
    Json document = data_set_json(store, results.front());
    document["timing"] = seconds_json(results.front());
    return document;
  }
  Json document = {{"data_sets", Json::array()}};
  Json timing = Json::object();
  for (const ExperimentResult& result : results) {
    document["data_sets"].push_back(data_set_json(store, result));
    timing[result.name] = seconds_json(result);
  }
  document["ranks"] = ranks_json(rank_methods(results), results.size());
  document["timing"] = {{"data_sets", timing}};
  return document;
}

Json spelled_notes(Json results, Spelling spelling) {
  if (results.contains("notes")) {
    results["notes"] = spelled_json(std::move(results["notes"]), spelling);
  } else {
    for (Json& one : results["data_sets"]) one = spelled_notes(std::move(one), spelling);
  }
  return results;
}

}  // namespace kith
