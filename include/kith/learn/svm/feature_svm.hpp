// SPDX-License-Identifier: Apache-2.0
// `features-svm` ([TR] (3)): a support vector machine on similarities as features.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/svm/column_machines.hpp"
#include "kith/learn/svm/prototypes.hpp"

namespace kith {

/// How two vectors of similarities are compared.
enum class FeatureKernel { kLinear, kRbf };
constexpr auto enum_names(FeatureKernel /*of*/) { return named("linear", "rbf"); }

struct FeatureSvmSettings {
  FeatureKernel kernel = FeatureKernel::kLinear;
  double cost = 1;
  double gamma = 0.1;
  std::optional<Index> prototypes;  ///< none: all training samples
  TrainOn train_on = TrainOn::kAll;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-6;
};
void describe(FeatureSvmSettings& settings, FieldVisitor& field);

/// The columns are the prototypes. Linear machines are over them; those of rbf over the supports.
struct FeatureSvmModel : ColumnMachines {
  FeatureKernel kernel = FeatureKernel::kLinear;
  double gamma = 0;  ///< of rbf
  Matrix supports;   ///< rbf: features of the support samples, supports x columns
};

/// One product of all pairs of rows serves every cost and gamma; costs are solved in order from
/// warm starts.
[[nodiscard]] FittedPath<FeatureSvmModel> fit_path(SharedWork& work, Path<FeatureSvmSettings> path,
                                                   RunContext& ctx);
[[nodiscard]] Prediction predict(const FeatureSvmModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
/// Of linear machines: those of kernel rbf are over support samples that the file does not name.
[[nodiscard]] std::vector<Explanation> explain(const FeatureSvmModel& model,
                                               const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx);
template <class A>
void archive(Archived<A, FeatureSvmModel>& model, A& archiver) {
  archiver("columns", model.columns);
  archiver("map", model.map);
  archiver("kernel", model.kernel);
  archiver("gamma", model.gamma);
  archiver("supports", model.supports);
  Archived<A, Machines>& machines = model;
  archive(machines, archiver);
}

template <>
struct MethodTraits<FeatureSvmSettings> : MethodDefaults<FeatureSvmModel> {
  static constexpr std::string_view name = "features-svm";
  static constexpr std::string_view title = "features-SVM";
  static constexpr std::string_view paper = "[TR] (3), 3.1";
  static constexpr std::string_view summary =
      "support vector machine on the similarities to training samples as features";
  static bool one_direction(const auto&) { return true; }
  static Grid grid(const FeatureSvmSettings& settings);
};

}  // namespace kith
