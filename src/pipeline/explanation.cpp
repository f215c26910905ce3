// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/explanation.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pipeline/model_parts.hpp"

namespace kith {

ExplainedPrediction predict_and_explain(const TrainedModel& model, QueryBlock raw, RunContext& ctx,
                                        std::span<const QueryNames> names) {
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
  if (!record.classes.empty()) {
    found.class_name = record.class_names[static_cast<std::size_t>(record.classes[column])];
  }
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
