// SPDX-License-Identifier: Apache-2.0
// `kri` ([TR] (9)-(11)): neighbours weighted by kernel ridge interpolation, a quadratic program
// over the simplex that prefers neighbours alike to the query and unlike each other.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/neighbours/local_kernel.hpp"
#include "kith/optim/linear/simplex_qp.hpp"

namespace kith {

enum class KriRegulariser { kRidge, kEntropy };
constexpr auto enum_names(KriRegulariser /*of*/) { return named("ridge", "entropy"); }

struct KriSettings {
  Index neighbours = 16;
  double ridge = 0.1;
  /// Of a block that is not positive semidefinite. With none the program is not convex and a local
  /// minimum from several starts is taken.
  Spectrum spectrum = Spectrum::kClip;
  KriRegulariser regulariser = KriRegulariser::kRidge;
  Treatment test_treatment = Treatment::kLinear;
  TieRule ties = TieRule::kRandom;
};
void describe(KriSettings& settings, FieldVisitor& field);

struct KriModel : LocalModel<KriSettings> {};

/// The weights of one neighbourhood with their certificate.
[[nodiscard]] linear::SimplexQpSolution kri_weights(const LocalKernel& kernel,
                                                    const KriSettings& settings);

[[nodiscard]] FittedPath<KriModel> fit_path(SharedWork& work, Path<KriSettings> path,
                                            RunContext& ctx);
/// One search per query and one decomposition per query and number of neighbours serve every
/// setting.
[[nodiscard]] std::vector<Prediction> predict_path(std::span<const KriModel> models,
                                                   const QueryBlock& queries, RunContext& ctx);
[[nodiscard]] std::vector<Explanation> explain(const KriModel& model, const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx);
template <class A>
void archive(Archived<A, KriModel>& model, A& archiver) {
  archive_local(model, archiver);
  archiver("ridge", model.settings.ridge);
  archiver("regulariser", model.settings.regulariser);
}

template <>
struct MethodTraits<KriSettings> : MethodDefaults<KriModel> {
  static constexpr std::string_view name = "kri";
  static constexpr std::string_view title = "KRI";
  static constexpr std::string_view paper = "[TR] (9)-(11)";
  static constexpr std::string_view summary =
      "nearest neighbours weighted by kernel ridge interpolation: alike to the sample, diverse "
      "among "
      "themselves";
  static constexpr bool takes_missing_pairs = true;
  static Grid grid(const KriSettings& settings);
};

}  // namespace kith
