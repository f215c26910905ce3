// SPDX-License-Identifier: Apache-2.0
// `p-svm` ([TR] (5)): the potential support vector machine, a sparse regression of the labels on
// similarities as features.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/svm/column_machines.hpp"
#include "kith/learn/svm/prototypes.hpp"

namespace kith {

struct PSvmSettings {
  double epsilon = 0.1;
  double cost = 100;
  std::optional<Index> prototypes;  ///< none: all training samples
  TrainOn train_on = TrainOn::kAll;
  bool intercept = false;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(PSvmSettings& settings, FieldVisitor& field);

struct PSvmModel : ColumnMachines {};

/// One Gram matrix per pair serves every epsilon and cost; each solution starts the next, and one
/// that no bound touches serves every larger cost.
[[nodiscard]] FittedPath<PSvmModel> fit_path(SharedWork& work, Path<PSvmSettings> path,
                                             RunContext& ctx);

template <>
struct MethodTraits<PSvmSettings> : MethodDefaults<PSvmModel> {
  static constexpr std::string_view name = "p-svm";
  static constexpr std::string_view title = "P-SVM";
  static constexpr std::string_view paper = "[TR] (5)";
  static constexpr std::string_view summary =
      "potential support vector machine: labels regressed on few of the similarities";
  static bool one_direction(const auto&) { return true; }
  static Grid grid(const auto&) {
    return {decades("epsilon", -4, 1, Simpler::kLarger), decades("cost", 0, 4)};
  }
};

}  // namespace kith
