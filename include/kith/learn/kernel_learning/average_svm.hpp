// SPDX-License-Identifier: Apache-2.0
// The support vector machine on the mean of several similarity matrices: `average-svm`.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/svm/kernel_svm.hpp"

namespace kith {

struct AverageSvmSettings {
  double cost = 1;
  Spectrum spectrum = Spectrum::kClip;
  std::optional<double> beta;  ///< none: 1 / max|lambda|
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-6;
};
void describe(AverageSvmSettings& settings, FieldVisitor& field);

struct AverageSvmModel {
  Index matrices = 1;
  SvmModel machine;  ///< on the mean
};

/// As `svm` on the mean of the matrices, which the work makes once.
[[nodiscard]] FittedPath<AverageSvmModel> fit_path(SharedWork& work, Path<AverageSvmSettings> path,
                                                   RunContext& ctx);
[[nodiscard]] Prediction predict(const AverageSvmModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const AverageSvmModel& model);
template <class A>
void archive(Archived<A, AverageSvmModel>& model, A& archiver) {
  archiver("matrices", model.matrices);
  archive(model.machine, archiver);
}

/// The mean of the rows of all matrices, as the rows of one. Both directions where one matrix has
/// both, self-similarities where all have them.
[[nodiscard]] QueryMatrix average(const QueryBlock& queries);

template <>
struct MethodTraits<AverageSvmSettings> : MethodDefaults<AverageSvmModel> {
  static constexpr std::string_view name = "average-svm";
  static constexpr std::string_view title = "average-SVM";
  static constexpr std::string_view paper = "[KTBB] 4.3";
  static constexpr std::string_view summary =
      "support vector machine on the mean of the matrices after its spectrum has been made "
      "positive";
  static constexpr bool several_matrices = true;
  static bool one_direction(const AverageSvmSettings& settings) {
    return settings.spectrum == Spectrum::kSquare;  // S S' is of the rows as they are
  }
  static Grid grid(const auto&) { return {decades("cost", -3, 3)}; }
};

}  // namespace kith
