// SPDX-License-Identifier: Apache-2.0
// `features-quadratic` ([TR] 3, after Pekalska): the rows of S as feature vectors, normal class
// densities with a regularised covariance for each class.
#pragma once

#include "kith/learn/embedding/features_fisher.hpp"

namespace kith {

struct FeaturesQuadraticSettings {
  double ridge = 0.01;
};
void describe(FeaturesQuadraticSettings& settings, FieldVisitor& field);

/// Covariance of class c: V_c diag(lambda_c) V_c', of rank below its number of samples; `added`
/// times the identity regularises all of them.
struct FeaturesQuadraticModel {
  Matrix means;  ///< classes x samples
  Vector log_prior;
  double added = 1;
  std::vector<Matrix> V;       ///< samples x rank, orthonormal columns
  std::vector<Vector> lambda;  ///< positive
};

/// One decomposition per class serves every ridge.
[[nodiscard]] FittedPath<FeaturesQuadraticModel> fit_path(SharedWork& work,
                                                          Path<FeaturesQuadraticSettings> path,
                                                          RunContext& ctx);
[[nodiscard]] Prediction predict(const FeaturesQuadraticModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
template <class A>
void archive(Archived<A, FeaturesQuadraticModel>& model, A& archiver);

template <>
struct MethodTraits<FeaturesQuadraticSettings> : MethodDefaults<FeaturesQuadraticModel> {
  static constexpr std::string_view name = "features-quadratic";
  static constexpr std::string_view title = "features-quadratic";
  static constexpr std::string_view paper = "[TR] 3";
  static constexpr std::string_view summary =
      "regularised quadratic discriminant on the rows of similarities";
  static bool one_direction(const auto&) { return true; }
  static Grid grid(const auto&) { return {decades("ridge", -6, 0, Simpler::kLarger)}; }
};

}  // namespace kith
