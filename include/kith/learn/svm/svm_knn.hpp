// SPDX-License-Identifier: Apache-2.0
// `svm-knn` ([TR] 2.1.4): a support vector machine on the neighbours of each query.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/neighbours/local_kernel.hpp"

namespace kith {

struct SvmKnnSettings {
  Index neighbours = 16;
  double cost = 1;
  Spectrum spectrum = Spectrum::kClip;
  Treatment test_treatment = Treatment::kLinear;
  TieRule ties = TieRule::kRandom;
  double tolerance = 1e-6;
};
void describe(SvmKnnSettings& settings, FieldVisitor& field);

struct SvmKnnModel {
  Voters voters;
  TrainingPairs pairs;
  SvmKnnSettings settings;
};

[[nodiscard]] std::vector<Fitted<SvmKnnModel>> fit_path(SharedWork& work,
                                                        std::span<const SvmKnnSettings> path,
                                                        RunContext& ctx);
[[nodiscard]] Prediction predict(const SvmKnnModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
/// One search per query, one decomposition per query and number of neighbours, and warm starts from
/// cost to cost.
[[nodiscard]] std::vector<Prediction> predict_path(std::span<const SvmKnnModel> models,
                                                   const QueryBlock& queries, RunContext& ctx);
template <class A>
void archive(Archived<A, SvmKnnModel>& model, A& archiver);

static_assert(Learner<SvmKnnSettings, SvmKnnModel>);

template <>
struct MethodTraits<SvmKnnSettings> {
  using Model = SvmKnnModel;
  static constexpr std::string_view name = "svm-knn";
  static constexpr std::string_view title = "SVM-KNN";
  static constexpr std::string_view paper = "[TR] 2.1.4";
  static constexpr std::string_view summary =
      "a support vector machine on the nearest neighbours of each sample";
  static constexpr bool probabilities = false;
  static constexpr bool takes_missing_pairs = true;
  static std::vector<GridAxis> grid(const SvmKnnSettings& settings);
};

}  // namespace kith
