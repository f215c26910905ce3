// SPDX-License-Identifier: Apache-2.0
// `krr` ([TR] (12)): neighbours weighted by kernel ridge regression of the query on them.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/neighbours/local_kernel.hpp"

namespace kith {

struct KrrSettings {
  Index neighbours = 16;
  double ridge = 0.1;
  /// Of a block that is not positive semidefinite; none is called pinv: a pseudo-inverse.
  Spectrum spectrum = Spectrum::kNone;
  Treatment test_treatment = Treatment::kLinear;
  bool normalised = false;  ///< weights are shifted by a constant to the sum 1
  TieRule ties = TieRule::kRandom;
};
void describe(KrrSettings& settings, FieldVisitor& field);

struct KrrModel : LocalModel<KrrSettings> {};

/// The weights of one neighbourhood. `ridge` above 0.
[[nodiscard]] Vector krr_weights(const LocalKernel& kernel, double ridge, Spectrum spectrum,
                                 Treatment treatment);
/// (I - 11'/k) w + 1/k, footnote 3 of [TR]: shifted by a constant to the sum 1.
[[nodiscard]] Vector normalised_weights(Vector w);

[[nodiscard]] FittedPath<KrrModel> fit_path(SharedWork& work, Path<KrrSettings> path,
                                            RunContext& ctx);
/// One search per query and one decomposition per query and number of neighbours serve every ridge
/// and spectrum.
[[nodiscard]] std::vector<Prediction> predict_path(std::span<const KrrModel> models,
                                                   const QueryBlock& queries, RunContext& ctx);
[[nodiscard]] std::vector<Explanation> explain(const KrrModel& model, const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx);
template <class A>
void archive(Archived<A, KrrModel>& model, A& archiver) {
  archive_local(model, archiver);
  archiver("ridge", model.settings.ridge);
  archiver("normalised", model.settings.normalised);
}

template <>
struct MethodTraits<KrrSettings> : MethodDefaults<KrrModel> {
  static constexpr std::string_view name = "krr";
  static constexpr std::string_view title = "KRR";
  static constexpr std::string_view paper = "[TR] (12)";
  static constexpr std::string_view summary =
      "nearest neighbours weighted by kernel ridge regression; weights may be negative";
  static constexpr bool probabilities = false;
  static constexpr bool takes_missing_pairs = true;
  static Grid grid(const auto&) {
    return {neighbour_grid(), decades("ridge", -3, 1, Simpler::kLarger)};
  }
};

}  // namespace kith
