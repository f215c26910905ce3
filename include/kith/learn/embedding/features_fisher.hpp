// SPDX-License-Identifier: Apache-2.0
// `features-fisher` ([TR] 3, after Pekalska): the rows of S as feature vectors, normal class
// densities with one regularised covariance.
#pragma once

#include <span>
#include <vector>

#include "kith/learn/embedding/linear_scores.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct FeaturesFisherSettings {
  double ridge = 0.01;
};
void describe(FeaturesFisherSettings& settings, FieldVisitor& field);

struct FeaturesFisherModel : LinearScores {};

/// One decomposition of the covariance serves every ridge.
[[nodiscard]] std::vector<Fitted<FeaturesFisherModel>> fit_path(
    SharedWork& work, std::span<const FeaturesFisherSettings> path, RunContext& ctx);

static_assert(Learner<FeaturesFisherSettings, FeaturesFisherModel>);

/// {1e-6 ... 1}, larger being simpler: the grid of both feature discriminants.
[[nodiscard]] GridAxis discriminant_ridge_grid();

template <>
struct MethodTraits<FeaturesFisherSettings> {
  using Model = FeaturesFisherModel;
  static constexpr std::string_view name = "features-fisher";
  static constexpr std::string_view title = "features-fisher";
  static constexpr std::string_view paper = "[TR] 3";
  static constexpr std::string_view summary =
      "regularised linear discriminant on the rows of similarities";
  static constexpr bool probabilities = true;
  static bool one_direction(const FeaturesFisherSettings& /*settings*/) { return true; }
  static std::vector<GridAxis> grid(const FeaturesFisherSettings& /*settings*/) {
    return {discriminant_ridge_grid()};
  }
};

}  // namespace kith
