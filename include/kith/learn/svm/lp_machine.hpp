// SPDX-License-Identifier: Apache-2.0
// `lp-machine` ([TR] (4)): a linear machine on similarities as features, made sparse by a 1-norm.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/svm/column_machines.hpp"
#include "kith/learn/svm/prototypes.hpp"

namespace kith {

struct LpMachineSettings {
  double cost = 1;
  std::optional<Index> prototypes;  ///< none: all training samples
  TrainOn train_on = TrainOn::kAll;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(LpMachineSettings& settings, FieldVisitor& field);

struct LpMachineModel : ColumnMachines {};

/// Costs are solved in order: each begins with the columns of the one below it, and a solution
/// serves every cost at which its certificate holds.
[[nodiscard]] FittedPath<LpMachineModel> fit_path(SharedWork& work, Path<LpMachineSettings> path,
                                                  RunContext& ctx);

template <>
struct MethodTraits<LpMachineSettings> : MethodDefaults<LpMachineModel> {
  static constexpr std::string_view name = "lp-machine";
  static constexpr std::string_view title = "LP-machine";
  static constexpr std::string_view paper = "[TR] (4)";
  static constexpr std::string_view summary =
      "linear machine on similarities as features that needs few of them";
  static bool one_direction(const auto&) { return true; }
  static Grid grid(const auto&) { return {decades("cost", -3, 5)}; }
};

}  // namespace kith
