// SPDX-License-Identifier: Apache-2.0
// `ridge`: regularised least squares, each class against the rest, on a similarity matrix whose
// spectrum is modified first.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kith/condition/spectrum.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/svm/column_machines.hpp"

namespace kith {

struct RidgeSettings {
  std::optional<double> ridge;  ///< in the unit of ridge_unit; none: tuned by left-out samples
  Spectrum spectrum = Spectrum::kClip;
  std::optional<double> beta;  ///< of diffusion; none: 1 / max|lambda|
  bool probability = true;
};
void describe(RidgeSettings& settings, FieldVisitor& field);

/// The map of new rows is folded into the coefficients.
struct RidgeModel : ColumnMachines {
  double ridge = 0;  ///< given or chosen
};

/// The values that `ridge` is chosen from, ascending.
[[nodiscard]] std::vector<double> ridge_values();

/// One decomposition of S, and one for each fold where samples are left out by folds, serve all
/// settings. `learned` has the value of `ridge` and how it was chosen: `ridge`, `unit`, and where
/// it was left open `left_out` (how), `tried` and `squared_errors`.
[[nodiscard]] FittedPath<RidgeModel> fit_path(SharedWork& work, Path<RidgeSettings> path,
                                              RunContext& ctx);
/// The mean of both directions, whatever the rule.
[[nodiscard]] DenseBlock machine_rows(const RidgeModel& model, const QueryBlock& queries,
                                      const RunContext& ctx);
template <class A>
void archive(Archived<A, RidgeModel>& model, A& archiver) {
  archive_machines(model, archiver);
  archiver("ridge", model.ridge);
}

/// A fit tunes itself: there is no grid.
template <>
struct MethodTraits<RidgeSettings> : MethodDefaults<RidgeModel> {
  static constexpr std::string_view name = "ridge";
  static constexpr std::string_view title = "Ridge";
  static constexpr std::string_view paper = "[RYP]";
  static constexpr std::string_view summary =
      "regularised least squares of each class against the rest; for many classes";
  static constexpr bool tunes_itself = true;
};

}  // namespace kith
