// SPDX-License-Identifier: Apache-2.0
// `linear-msvm`: for each pair of classes [ZGZZ] (5),
//
//   min_{L, w, b}  1/2 |w|^2 + C sum_i max(0, 1 - y_i (w'L x_i + b))^2,   |L x_i| <= 1,
//
// over the pair's samples, scaled as the setting says and centred. metric_machine.cpp has the
// algorithm and what differs from the paper.
//
// Where there are more features than samples, all of it happens in the coordinates of the span of
// the training samples, once for all pairs, folds and settings: what is learned lies in that span.
//
// Cost: O(n D min(n, D)) once for the span (of sparse vectors: the products of their entries, and
// O(n^3)), O(n r min(n, r)) per pair for its principal axes, then O(n (r + d)) per step of the
// descent for r = min(n - 1, D) coordinates and d rows of L.
#include "kith/learn/metric/linear_msvm.hpp"

#include <optional>
#include <utility>

#include "kith/learn/path_groups.hpp"

namespace kith {

void describe(LinearMsvmSettings& settings, FieldVisitor& field) {
  describe(settings.metric, field);
  field("scaling", settings.scaling, kScalingHelp);
}

FittedPath<LinearMsvmModel> fit_path(SharedWork& work, Path<LinearMsvmSettings> path,
                                     RunContext& ctx) {
  for (const LinearMsvmSettings& settings : path) {
    (void)parse_dimensions("linear-msvm", settings.metric.dimensions);
  }
  const auto scaling = [](const LinearMsvmSettings& settings) { return settings.scaling; };
  return fit_in_groups(path, scaling, as_given, [&](Path<LinearMsvmSettings> own) {
    const FeatureScale scale = learn_scale(work.vectors(), own.front().scaling);
    const ScaledVectors vectors(scale, work.vectors());
    std::optional<VectorSpan> span;
    if (vectors.width() > vectors.rows()) {
      span.emplace(vectors, ctx.threads, SpanDirections::kAll);
    }
    const Matrix rows = span ? span->Z() : vectors.dense();
    std::vector<MetricSettings> settings;
    for (const LinearMsvmSettings& one : own) settings.push_back(one.metric);
    const MetricRows source{.rows = &rows, .whole = !span || span->whole()};
    return map_models(train_metric(source, work.train(), settings, ctx), [&](MetricPairs pairs) {
      if (span) express(pairs, *span);
      return LinearMsvmModel{scale, std::move(pairs)};
    });
  });
}

Prediction predict(const LinearMsvmModel& model, const QueryBlock& queries, RunContext& /*ctx*/) {
  const ScaledVectors rows(model.scale, queries.vectors);
  return predict_metric(model.pairs, [&](const MatrixRef& B) { return rows.times(B); });
}

Matrix learned_similarity(const LinearMsvmModel& model, const Block& vectors,
                          const RunContext& /*ctx*/) {
  const ScaledVectors rows(model.scale, vectors);
  return metric_similarity(model.pairs, [&](const MatrixRef& B) { return rows.times(B); });
}

}  // namespace kith
