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

#include <map>
#include <optional>
#include <utility>

namespace kith {

void describe(LinearMsvmSettings& settings, FieldVisitor& field) {
  describe(settings.metric, field);
  field("scaling", settings.scaling, kScalingHelp);
}

std::vector<GridAxis> MethodTraits<LinearMsvmSettings>::grid(const LinearMsvmSettings& /*unused*/) {
  return {{.field = "cost", .values = powers_of_ten(-3, 3), .simpler = Simpler::kSmaller}};
}

std::vector<Fitted<LinearMsvmModel>> fit_path(SharedWork& work,
                                              std::span<const LinearMsvmSettings> path,
                                              RunContext& ctx) {
  std::map<FeatureScaling, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < path.size(); ++i) {
    validate(path[i], "linear-msvm");
    (void)parse_dimensions("linear-msvm", path[i].metric.dimensions);
    groups[path[i].scaling].push_back(i);
  }
  std::vector<Fitted<LinearMsvmModel>> fitted(path.size());
  for (const auto& [scaling, members] : groups) {
    const FeatureScale scale = learn_scale(work.vectors(), scaling);
    const ScaledVectors vectors(scale, work.vectors());
    std::optional<VectorSpan> span;
    if (vectors.width() > vectors.rows()) {
      span.emplace(vectors, ctx.threads, SpanDirections::kAll);
    }
    const Matrix rows = span ? span->Z() : vectors.dense();
    std::vector<MetricSettings> settings;
    for (const std::size_t i : members) settings.push_back(path[i].metric);
    std::vector<Fitted<MetricPairs>> solved = train_metric({.rows = &rows,
                                                            .columns_are_samples = false,
                                                            .features = nullptr,
                                                            .whole = !span || span->whole()},
                                                           work.train(), settings, ctx);
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (span) express(solved[k].model, *span);
      fitted[members[k]] = {{scale, std::move(solved[k].model)}, std::move(solved[k].info)};
    }
  }
  return fitted;
}

Fitted<LinearMsvmModel> fit(SharedWork& work, const LinearMsvmSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const LinearMsvmModel& model, const QueryBlock& queries, RunContext& /*ctx*/) {
  const ScaledVectors rows(model.scale, queries.vectors);
  return predict_metric(model.pairs, [&](const MatrixRef& B) { return rows.times(B); });
}

std::vector<Index> needed_columns(const LinearMsvmModel& /*model*/) { return {}; }

Matrix learned_similarity(const LinearMsvmModel& model, const Block& vectors,
                          const RunContext& /*ctx*/) {
  const ScaledVectors rows(model.scale, vectors);
  return metric_similarity(model.pairs, [&](const MatrixRef& B) { return rows.times(B); });
}

template <class A>
void archive(Archived<A, LinearMsvmModel>& model, A& archiver) {
  archive(model.scale, archiver);
  archive(model.pairs, archiver);
  check_columns(model.pairs, model.scale.size());
}
template void archive(const LinearMsvmModel&, SavingArchive&);
template void archive(LinearMsvmModel&, LoadingArchive&);

}  // namespace kith
