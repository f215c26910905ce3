// SPDX-License-Identifier: Apache-2.0
// `nonlinear-msvm` ([ZGZZ] Algorithm 2): the same in the space of a kernel, on the columns of its
// matrix.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/metric/metric_pairs.hpp"
#include "kith/vectors/feature_scale.hpp"

namespace kith {

struct NonlinearMsvmSettings {
  MetricSettings metric;
  KernelRule kernel;
  FeatureScaling scaling = FeatureScaling::kStandard;
};
void describe(NonlinearMsvmSettings& settings, FieldVisitor& field);

struct NonlinearMsvmModel {
  FeatureScale scale;
  KernelRule kernel;
  Matrix samples;     ///< scaled training vectors, one per row
  MetricPairs pairs;  ///< over kernel values with all training samples
};

/// One table of distances or products serves every kernel; the principal axes of each pair every
/// setting on the same kernel.
[[nodiscard]] FittedPath<NonlinearMsvmModel> fit_path(SharedWork& work,
                                                      Path<NonlinearMsvmSettings> path,
                                                      RunContext& ctx);
[[nodiscard]] Prediction predict(const NonlinearMsvmModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
[[nodiscard]] Matrix learned_similarity(const NonlinearMsvmModel& model, const Block& vectors,
                                        const RunContext& ctx);
template <class A>
void archive(Archived<A, NonlinearMsvmModel>& model, A& archiver);

template <>
struct MethodTraits<NonlinearMsvmSettings> : MethodDefaults<NonlinearMsvmModel> {
  static constexpr std::string_view name = "nonlinear-msvm";
  static constexpr std::string_view title = "nonlinear-MSVM";
  static constexpr std::string_view paper = "[ZGZZ] Alg. 2";
  static constexpr std::string_view summary =
      "linear map in the space of a kernel learned together with a support vector machine";
  static constexpr bool learns_from_vectors = true;
  static Grid grid(const NonlinearMsvmSettings& settings) { return machine_axes(settings.kernel); }
};

}  // namespace kith
