// SPDX-License-Identifier: Apache-2.0
// The machine and its whole kernel matrix learned together: `full-kernel-svm`.
#pragma once

#include <span>
#include <vector>

#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct FullKernelSettings {
  double eta = 0.01;
  double gamma = 1;
  Treatment test_treatment = Treatment::kSample;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(FullKernelSettings& settings, FieldVisitor& field);

struct FullKernelModel : LearnedPairsModel {};

/// One decomposition of each pair's block serves every eta and gamma.
[[nodiscard]] std::vector<Fitted<FullKernelModel>> fit_path(
    SharedWork& work, std::span<const FullKernelSettings> path, RunContext& ctx);

static_assert(Learner<FullKernelSettings, FullKernelModel>);

template <>
struct MethodTraits<FullKernelSettings> {
  using Model = FullKernelModel;
  static constexpr std::string_view name = "full-kernel-svm";
  static constexpr std::string_view title = "full-kernel-SVM";
  static constexpr std::string_view paper = "[CGR] (7), (8)";
  static constexpr std::string_view summary =
      "support vector machine and its whole kernel matrix learned together, near the matrix";
  static constexpr bool probabilities = true;
  static std::vector<GridAxis> grid(const FullKernelSettings& /*settings*/) {
    return {{.field = "eta", .values = powers_of_ten(-4, 0), .simpler = Simpler::kLarger},
            {.field = "gamma", .values = powers_of_ten(-3, 3), .simpler = Simpler::kSmaller}};
  }
};

}  // namespace kith
