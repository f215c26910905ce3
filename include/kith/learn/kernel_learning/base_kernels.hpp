// SPDX-License-Identifier: Apache-2.0
// `simple-mkl` and `rkl`: kernels of vectors, combined with learned weights. The kernels are those
// of [ZGZZ] IV.A, seven Gaussians (gamma 1e-3 to 1e3) and five polynomials (degree 1 to 5).
#pragma once

#include "kith/learn/kernel_learning/kernel_sum.hpp"
#include "kith/learn/method.hpp"
#include "kith/vectors/feature_scale.hpp"

namespace kith {

/// All twelve between rows of X and rows of Z.
[[nodiscard]] std::vector<Matrix> base_kernel_rows(const MatrixRef& X, const MatrixRef& Z,
                                                   int threads);

struct SimpleMklSettings {
  double cost = 1;
  FeatureScaling scaling = FeatureScaling::kStandard;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(SimpleMklSettings& settings, FieldVisitor& field);

struct RklSettings {
  double cost = 1;
  FeatureScaling scaling = FeatureScaling::kStandard;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-6;
};
void describe(RklSettings& settings, FieldVisitor& field);

/// Weights and machines over the base kernels of scaled vectors.
struct BaseKernelModel {
  FeatureScale scale;
  Matrix samples;  ///< scaled, those that the sum needs
  KernelSumModel sum;
};
[[nodiscard]] Prediction predict(const BaseKernelModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
template <class A>
void archive(Archived<A, BaseKernelModel>& model, A& archiver);

struct SimpleMklModel : BaseKernelModel {};
struct RklModel : BaseKernelModel {};

/// One set of kernels serves every cost.
[[nodiscard]] FittedPath<SimpleMklModel> fit_path(SharedWork& work, Path<SimpleMklSettings> path,
                                                  RunContext& ctx);

/// One set of kernels serves every cost. Not convex, so that none starts from another.
[[nodiscard]] FittedPath<RklModel> fit_path(SharedWork& work, Path<RklSettings> path,
                                            RunContext& ctx);

template <>
struct MethodTraits<SimpleMklSettings> : MethodDefaults<SimpleMklModel> {
  static constexpr std::string_view name = "simple-mkl";
  static constexpr std::string_view title = "simple-MKL";
  static constexpr std::string_view paper = "[ZGZZ] baseline";
  static constexpr std::string_view summary =
      "support vector machine on the best combination of twelve kernels of vectors";
  static constexpr bool learns_from_vectors = true;
  static Grid grid(const auto&) { return {decades("cost", -3, 3)}; }
};
template <>
struct MethodTraits<RklSettings> : MethodDefaults<RklModel> {
  static constexpr std::string_view name = "rkl";
  static constexpr std::string_view title = "RKL";
  static constexpr std::string_view paper = "[ZGZZ] baseline";
  static constexpr std::string_view summary =
      "twelve kernels of vectors combined by the ratio of margin and radius";
  static constexpr bool learns_from_vectors = true;
  static Grid grid(const auto&) { return {decades("cost", -3, 3)}; }
};

}  // namespace kith
