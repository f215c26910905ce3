// SPDX-License-Identifier: Apache-2.0
// `vector-svm`: a support vector machine on vectors, the baselines of [ZGZZ].
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/multiclass/machines.hpp"
#include "kith/vectors/feature_scale.hpp"

namespace kith {

enum class MarginLoss { kHinge, kSquared };
constexpr auto enum_names(MarginLoss /*of*/) { return named("hinge", "squared"); }

struct VectorSvmSettings {
  KernelRule kernel{.kernel = VectorKernel::kLinear};
  MarginLoss loss = MarginLoss::kHinge;
  double cost = 1;
  FeatureScaling scaling = FeatureScaling::kStandard;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-6;
};
void describe(VectorSvmSettings& settings, FieldVisitor& field);

/// The machines are over the kernel values with the supports; without supports, which only a linear
/// kernel allows, over features.
struct VectorSvmModel : Machines {
  FeatureScale scale;
  KernelRule kernel;
  Matrix supports;  ///< scaled support samples, one per row
};

/// One table of products or distances serves every cost, loss, gamma and degree.
[[nodiscard]] FittedPath<VectorSvmModel> fit_path(SharedWork& work, Path<VectorSvmSettings> path,
                                                  RunContext& ctx);
[[nodiscard]] Prediction predict(const VectorSvmModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
template <class A>
void archive(Archived<A, VectorSvmModel>& model, A& archiver);

template <>
struct MethodTraits<VectorSvmSettings> : MethodDefaults<VectorSvmModel> {
  static constexpr std::string_view name = "vector-svm";
  static constexpr std::string_view title = "vector-SVM";
  static constexpr std::string_view paper = "[ZGZZ] (1)";
  static constexpr std::string_view summary = "support vector machine on vectors";
  static constexpr bool learns_from_vectors = true;
  static Grid grid(const VectorSvmSettings& settings) { return machine_axes(settings.kernel); }
};

}  // namespace kith
