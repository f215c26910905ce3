// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "pipeline/committee_members.hpp"
#include "pipeline/model_parts.hpp"

namespace kith {

namespace {

/// Position of the class of each training sample that the model knows; -1: unknown.
class SampleClasses {
 public:
  explicit SampleClasses(const ModelRecord& record)
      : of_(static_cast<std::size_t>(record.samples), -1) {
    for (std::size_t k = 0; k < record.classes.size(); ++k) {
      of_[static_cast<std::size_t>(record.positions[k])] = record.classes[k];
    }
  }
  [[nodiscard]] int operator[](Index sample) const { return of_[static_cast<std::size_t>(sample)]; }

 private:
  std::vector<int> of_;
};

/// Adds what a member says of a query to `votes`, the weight of each training sample for its class.
void add_votes(const Explanation& own, int label, const SampleClasses& classes, double share,
               std::map<Index, double>& votes) {
  double total = 0;
  for (const Contribution& one : own.samples) total += std::abs(one.amount);
  if (total == 0) return;
  for (const Contribution& one : own.samples) {
    const bool against = own.by == ExplainedBy::kTerms && classes[one.sample] != label;
    votes[one.sample] += (against ? -share : share) * one.amount / total;
  }
}

ExplainedPrediction explain_committee(const TrainedModel& model, const QueryBlock& raw,
                                      RunContext& ctx, std::span<const QueryNames> names) {
  ExplainedPrediction explained{.prediction = predict(model, raw, ctx, names), .explanations = {}};
  const std::vector<int>& labels = explained.prediction.labels;
  const SampleClasses classes(model.record);
  const double share = 1 / static_cast<double>(model.members.size());
  std::vector<std::map<Index, double>> votes(labels.size());
  std::vector<detail::MemberRows> rows = detail::member_rows(model, raw, names);
  for (std::size_t m = 0; m < rows.size(); ++m) {
    const TrainedModel& member = model.members[m];
    std::vector<Explanation> own;
    try {
      check_explains(method_settings(member.record));
      own = explain(member.model,
                    detail::prepared_queries(member, std::move(rows[m].rows), ctx, rows[m].names),
                    labels, ctx);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;
      explained.left_out.push_back(fmt::format("{}: {}", member.record.method, error.what()));
      continue;
    }
    for (std::size_t q = 0; q < labels.size(); ++q) {
      add_votes(own[q], labels[q], classes, share, votes[q]);
    }
  }
  if (explained.left_out.size() == model.members.size()) {
    throw invalid("no member of the committee names the samples that decide: {}",
                  explained.left_out.front());
  }
  for (const std::map<Index, double>& of_query : votes) {
    Explanation& one = explained.explanations.emplace_back();
    one.by = ExplainedBy::kVotes;
    for (const auto& [sample, amount] : of_query) one.samples.push_back({sample, amount});
  }
  return explained;
}

}  // namespace

ExplainedPrediction predict_and_explain(const TrainedModel& model, QueryBlock raw, RunContext& ctx,
                                        std::span<const QueryNames> names) {
  if (model.is_committee()) return explain_committee(model, raw, ctx, names);
  const QueryBlock queries = detail::prepared_queries(model, std::move(raw), ctx, names);
  ExplainedPrediction explained{.prediction = predict(model.model, queries, ctx),
                                .explanations = {}};
  apply(model.record.decision, explained.prediction);
  explained.explanations = explain(model.model, queries, explained.prediction.labels, ctx);
  return explained;
}

ExplainedSample explained_sample(const ModelRecord& record, Index sample) {
  const Index given = record.kept.empty() ? sample : record.kept[static_cast<std::size_t>(sample)];
  ExplainedSample found{.position = given, .id = {}, .class_name = {}};
  const auto at = std::lower_bound(record.positions.begin(), record.positions.end(), sample);
  if (at == record.positions.end() || *at != sample) return found;
  const auto column = static_cast<std::size_t>(at - record.positions.begin());
  if (!record.ids.empty()) found.id = record.ids[column];
  found.class_name = record.class_names[static_cast<std::size_t>(record.classes[column])];
  return found;
}

Json explanation_json(const ModelRecord& record, const Explanation& explanation, Index count,
                      Index counted_from) {
  Json samples = Json::array();
  for (const Contribution& one : explanation.largest(count)) {
    const ExplainedSample sample = explained_sample(record, one.sample);
    Json entry = {{"contribution", one.amount}};
    if (sample.id.empty()) {
      entry["sample"] = sample.position + counted_from;
    } else {
      entry["sample"] = sample.id;
    }
    if (!sample.class_name.empty()) entry["class"] = sample.class_name;
    samples.push_back(std::move(entry));
  }
  Json json = {{"by", enum_name(explanation.by)},
               {"samples", std::move(samples)},
               {"others", explanation.others(count)}};
  if (explanation.by == ExplainedBy::kTerms) json["offset"] = explanation.offset;
  return json;
}

}  // namespace kith
