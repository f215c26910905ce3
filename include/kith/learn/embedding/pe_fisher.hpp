// SPDX-License-Identifier: Apache-2.0
// `pe-fisher` ([TR] 2.1): Fisher's linear discriminant in the pseudo-Euclidean space of S.
#pragma once

#include "kith/learn/embedding/linear_scores.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct PeFisherSettings {
  std::optional<Index> dimensions;  ///< of largest |lambda|; none: all that are not zero
  double ridge = 0.01;
};
void describe(PeFisherSettings& settings, FieldVisitor& field);

struct PeFisherModel : LinearScores {};

/// One decomposition of S for all, one of the covariance for each number of dimensions.
[[nodiscard]] FittedPath<PeFisherModel> fit_path(SharedWork& work, Path<PeFisherSettings> path,
                                                 RunContext& ctx);

/// {2, 5, 10, 20, 50, all}, the smaller being simpler.
[[nodiscard]] GridAxis dimension_grid();

template <>
struct MethodTraits<PeFisherSettings> : MethodDefaults<PeFisherModel> {
  static constexpr std::string_view name = "pe-fisher";
  static constexpr std::string_view title = "PE-fisher";
  static constexpr std::string_view paper = "[TR] 2.1";
  static constexpr std::string_view summary =
      "Fisher's linear discriminant in pseudo-Euclidean space";
  static Grid grid(const auto&) { return {dimension_grid()}; }
};

}  // namespace kith
