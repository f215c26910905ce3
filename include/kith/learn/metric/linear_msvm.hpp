// SPDX-License-Identifier: Apache-2.0
// `linear-msvm` ([ZGZZ] Algorithm 1): a linear map of the features and a support vector machine,
// learned together.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/metric/metric_pairs.hpp"
#include "kith/vectors/feature_scale.hpp"

namespace kith {

struct LinearMsvmSettings {
  MetricSettings metric;
  FeatureScaling scaling = FeatureScaling::kStandard;
};
void describe(LinearMsvmSettings& settings, FieldVisitor& field);

struct LinearMsvmModel {
  FeatureScale scale;
  MetricPairs pairs;  ///< over scaled features
};

/// The principal axes of each pair serve every setting.
[[nodiscard]] FittedPath<LinearMsvmModel> fit_path(SharedWork& work, Path<LinearMsvmSettings> path,
                                                   RunContext& ctx);
[[nodiscard]] Prediction predict(const LinearMsvmModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
/// S_L of all pairs of the vectors.
[[nodiscard]] Matrix learned_similarity(const LinearMsvmModel& model, const Block& vectors,
                                        const RunContext& ctx);
template <class A>
void archive(Archived<A, LinearMsvmModel>& model, A& archiver) {
  archive(model.scale, archiver);
  archive(model.pairs, archiver);
  check_columns(model.pairs, model.scale.size());
}

template <>
struct MethodTraits<LinearMsvmSettings> : MethodDefaults<LinearMsvmModel> {
  static constexpr std::string_view name = "linear-msvm";
  static constexpr std::string_view title = "linear-MSVM";
  static constexpr std::string_view paper = "[ZGZZ] Alg. 1";
  static constexpr std::string_view summary =
      "linear map of the features learned together with a support vector machine";
  static constexpr bool learns_from_vectors = true;
  static Grid grid(const auto&) { return {decades("cost", -3, 3)}; }
};

}  // namespace kith
