// SPDX-License-Identifier: Apache-2.0
// `embed-svm` ([TR] 2.1.3): classical scaling of S into Euclidean space, then a linear support
// vector machine; new samples are projected into the same space.
#pragma once

#include "kith/learn/embedding/pe_fisher.hpp"
#include "kith/learn/svm/column_machines.hpp"

namespace kith {

struct EmbedSvmSettings {
  std::optional<Index> dimensions;  ///< of largest lambda > 0; none: all of them
  double cost = 1;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-6;
};
void describe(EmbedSvmSettings& settings, FieldVisitor& field);

/// For raw rows.
struct EmbedSvmModel : ColumnMachines {};

/// One decomposition for all; settings that differ in cost alone share their space and are solved
/// from warm starts.
[[nodiscard]] FittedPath<EmbedSvmModel> fit_path(SharedWork& work, Path<EmbedSvmSettings> path,
                                                 RunContext& ctx);
[[nodiscard]] DenseBlock machine_rows(const EmbedSvmModel& model, const QueryBlock& queries,
                                      const RunContext& ctx);

template <>
struct MethodTraits<EmbedSvmSettings> : MethodDefaults<EmbedSvmModel> {
  static constexpr std::string_view name = "embed-svm";
  static constexpr std::string_view title = "embed-SVM";
  static constexpr std::string_view paper = "[TR] 2.1.3";
  static constexpr std::string_view summary =
      "classical scaling into Euclidean space, then a linear support vector machine";
  static Grid grid(const auto&) { return {dimension_grid(), decades("cost", -3, 5)}; }
};

}  // namespace kith
