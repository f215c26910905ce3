// SPDX-License-Identifier: Apache-2.0
// The support vector machine that learns one multiplier per eigenvalue of its similarities:
// `spectrum-svm`.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/svm/column_machines.hpp"
#include "kith/learn/treatment.hpp"
#include "kith/optim/spectrum/program.hpp"

namespace kith {

struct SpectrumSvmSettings {
  double eta = 1e-2;
  double gamma = 1;
  std::optional<spectrum::Centre> centre;  ///< none: chosen for each pair of classes
  Treatment test_treatment = Treatment::kLinear;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(SpectrumSvmSettings& settings, FieldVisitor& field);

/// Coefficients for raw rows: the learned map is folded in.
struct SpectrumSvmModel : ColumnMachines {
  /// What each task has learned, one task after the other: `sizes` eigenvalues of its block of the
  /// similarities, ascending, with their multipliers.
  std::vector<Index> sizes;
  Vector eigenvalues;
  Vector multipliers;
  std::vector<int> centres;  ///< spectrum::Centre of each task
};

/// One decomposition of each pair's block for all settings, one plain machine for each eta: it
/// serves every gamma from its threshold on.
[[nodiscard]] FittedPath<SpectrumSvmModel> fit_path(SharedWork& work,
                                                    Path<SpectrumSvmSettings> path,
                                                    RunContext& ctx);
/// The mean of both directions.
[[nodiscard]] DenseBlock machine_rows(const SpectrumSvmModel& model, const QueryBlock& queries,
                                      const RunContext& ctx);
template <class A>
void archive(Archived<A, SpectrumSvmModel>& model, A& archiver) {
  archive_machines(model, archiver);
  archiver("learned_sizes", model.sizes);
  archiver("eigenvalues", model.eigenvalues);
  archiver("multipliers", model.multipliers);
  archiver("centres", model.centres);
}

template <>
struct MethodTraits<SpectrumSvmSettings> : MethodDefaults<SpectrumSvmModel> {
  static constexpr std::string_view name = "spectrum-svm";
  static constexpr std::string_view title = "spectrum-SVM";
  static constexpr std::string_view paper = "[CGR] (12), 3.4";
  static constexpr std::string_view summary =
      "support vector machine that learns a multiplier for each eigenvalue of the matrix, where "
      "clip "
      "and flip fix them in advance";
  static Grid grid(const auto&) {
    return {decades("eta", -4, 0, Simpler::kLarger), decades("gamma", -3, 3)};
  }
};

}  // namespace kith
