// SPDX-License-Identifier: Apache-2.0
// `features-fisher` ([TR] 3, after Pekalska): the rows of S as feature vectors, normal class
// densities with one regularised covariance.
#pragma once

#include "kith/learn/embedding/linear_scores.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct FeaturesFisherSettings {
  double ridge = 0.01;
};
void describe(FeaturesFisherSettings& settings, FieldVisitor& field);

struct FeaturesFisherModel : LinearScores {};

/// One decomposition of the covariance serves every ridge.
[[nodiscard]] FittedPath<FeaturesFisherModel> fit_path(SharedWork& work,
                                                       Path<FeaturesFisherSettings> path,
                                                       RunContext& ctx);

template <>
struct MethodTraits<FeaturesFisherSettings> : MethodDefaults<FeaturesFisherModel> {
  static constexpr std::string_view name = "features-fisher";
  static constexpr std::string_view title = "features-fisher";
  static constexpr std::string_view paper = "[TR] 3";
  static constexpr std::string_view summary =
      "regularised linear discriminant on the rows of similarities";
  static bool one_direction(const auto&) { return true; }
  static Grid grid(const auto&) { return {decades("ridge", -6, 0, Simpler::kLarger)}; }
};

}  // namespace kith
