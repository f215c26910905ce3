// SPDX-License-Identifier: Apache-2.0
// `svm-knn` ([TR] 2.1.4): a support vector machine on the neighbours of each query.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/multiclass/binary_tasks.hpp"
#include "kith/learn/neighbours/local_kernel.hpp"

namespace kith {

struct SvmKnnSettings {
  Index neighbours = 16;
  double cost = 1;
  Spectrum spectrum = Spectrum::kClip;
  Treatment test_treatment = Treatment::kLinear;
  TieRule ties = TieRule::kRandom;
  Multiclass multiclass = Multiclass::kOneVsOne;
  double tolerance = 1e-6;
};
void describe(SvmKnnSettings& settings, FieldVisitor& field);

struct SvmKnnModel : LocalModel<SvmKnnSettings> {};

[[nodiscard]] FittedPath<SvmKnnModel> fit_path(SharedWork& work, Path<SvmKnnSettings> path,
                                               RunContext& ctx);
/// One search per query, one decomposition per query and number of neighbours where it is needed,
/// and warm starts from cost to cost (svm_knn.cpp).
[[nodiscard]] std::vector<Prediction> predict_path(std::span<const SvmKnnModel> models,
                                                   const QueryBlock& queries, RunContext& ctx);
/// Terms of the machines of the label's class in the neighbourhood of each query; where all
/// neighbours are of one class and there is no machine, votes with equal weights.
[[nodiscard]] std::vector<Explanation> explain(const SvmKnnModel& model, const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx);
template <class A>
void archive(Archived<A, SvmKnnModel>& model, A& archiver) {
  archive_local(model, archiver);
  archiver("cost", model.settings.cost);
  archiver("multiclass", model.settings.multiclass);
  archiver("tolerance", model.settings.tolerance);
}

template <>
struct MethodTraits<SvmKnnSettings> : MethodDefaults<SvmKnnModel> {
  static constexpr std::string_view name = "svm-knn";
  static constexpr std::string_view title = "SVM-KNN";
  static constexpr std::string_view paper = "[TR] 2.1.4";
  static constexpr std::string_view summary =
      "a support vector machine on the nearest neighbours of each sample";
  static constexpr bool probabilities = false;
  static constexpr bool takes_missing_pairs = true;
  static Grid grid(const auto&) { return {neighbour_grid(), decades("cost", -3, 5)}; }
};

}  // namespace kith
