// SPDX-License-Identifier: Apache-2.0
// `nearest-mean` ([TR] 2.1): the class whose mean is nearest in the pseudo-Euclidean space of S.
#pragma once

#include "kith/learn/embedding/linear_scores.hpp"
#include "kith/learn/method.hpp"

namespace kith {

struct NearestMeanSettings {};
void describe(NearestMeanSettings& settings, FieldVisitor& field);

struct NearestMeanModel : LinearScores {};

[[nodiscard]] FittedPath<NearestMeanModel> fit_path(SharedWork& work,
                                                    Path<NearestMeanSettings> path,
                                                    RunContext& ctx);

template <>
struct MethodTraits<NearestMeanSettings> : MethodDefaults<NearestMeanModel> {
  static constexpr std::string_view name = "nearest-mean";
  static constexpr std::string_view title = "nearest-mean";
  static constexpr std::string_view paper = "[TR] 2.1";
  static constexpr std::string_view summary =
      "the class whose mean is nearest in pseudo-Euclidean space";
  static constexpr bool probabilities = false;
};

}  // namespace kith
