// SPDX-License-Identifier: Apache-2.0
// The spectra of several matrices learned with the machine on all: `rekl`.
#pragma once

#include <memory>

#include "kith/learn/kernel_learning/trace_pairs.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct ReklSettings {
  double cost = 1;
  double rho = 1;
  trace::KernelLoss loss = trace::KernelLoss::kNorm;    ///< of eigenvalues: not kAbsolute
  std::shared_ptr<const trace::ConvexLoss> own_loss{};  ///< of kOwn; no text says it
  std::optional<double> trace;  ///< none: that of the mean of the pair's matrices
  TraceSolver solver = TraceSolver::kExact;
  std::optional<Index> iterations;  ///< of mirror descent
  Treatment test_treatment = Treatment::kMap;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  std::optional<double> tolerance;
};
void describe(ReklSettings& settings, FieldVisitor& field);

struct ReklModel : LearnedPairsModel {};

/// A solution serves every larger cost where none of its coefficients is at its bound.
[[nodiscard]] FittedPath<ReklModel> fit_path(SharedWork& work, Path<ReklSettings> path,
                                             RunContext& ctx);

template <>
struct MethodTraits<ReklSettings> : MethodDefaults<ReklModel> {
  static constexpr std::string_view name = "rekl";
  static constexpr std::string_view title = "REKL";
  static constexpr std::string_view paper = "[KTBB] (7)";
  static constexpr std::string_view summary =
      "support vector machine and the spectra of several matrices learned together";
  static constexpr bool several_matrices = true;
  static Grid grid(const auto&) { return trace_grid(); }
};

}  // namespace kith
