// SPDX-License-Identifier: Apache-2.0
// The machine and its whole kernel matrix learned together: `full-kernel-svm`.
#pragma once

#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct FullKernelSettings {
  double eta = 0.01;
  double gamma = 1;
  Treatment test_treatment = Treatment::kSample;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(FullKernelSettings& settings, FieldVisitor& field);

struct FullKernelModel : LearnedPairsModel {};

/// One decomposition of each pair's block serves every eta and gamma.
[[nodiscard]] FittedPath<FullKernelModel> fit_path(SharedWork& work, Path<FullKernelSettings> path,
                                                   RunContext& ctx);

template <>
struct MethodTraits<FullKernelSettings> : MethodDefaults<FullKernelModel> {
  static constexpr std::string_view name = "full-kernel-svm";
  static constexpr std::string_view title = "full-kernel-SVM";
  static constexpr std::string_view paper = "[CGR] (7), (8)";
  static constexpr std::string_view summary =
      "support vector machine and its whole kernel matrix learned together, near the matrix";
  static Grid grid(const auto&) {
    return {decades("eta", -4, 0, Simpler::kLarger), decades("gamma", -3, 3)};
  }
};

}  // namespace kith
