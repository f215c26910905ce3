// SPDX-License-Identifier: Apache-2.0
// `p-svm` ([TR] (5)): the potential support vector machine, a sparse regression of the labels on
// similarities as features.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/multiclass/one_vs_one.hpp"

namespace kith {

struct PSvmSettings {
  double epsilon = 0.1;
  double cost = 100;
  std::optional<Index> prototypes;  ///< none: all training samples
  bool intercept = false;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(PSvmSettings& settings, FieldVisitor& field);

struct PSvmModel {
  Index samples = 0;           ///< of the training set
  std::vector<Index> columns;  ///< that some pair has a coefficient for; one at least
  PairTable pairs;
  Matrix coefficients;  ///< columns x pairs
  Vector intercepts;    ///< one per pair; 0 without the setting
  Matrix sigmoids;      ///< 2 x pairs (slope, offset); empty: no probabilities
};

[[nodiscard]] Fitted<PSvmModel> fit(SharedWork& work, const PSvmSettings& settings,
                                    RunContext& ctx);
/// One Gram matrix per pair serves every epsilon and cost; each solution starts the next, and one
/// that no bound touches serves every larger cost.
[[nodiscard]] std::vector<Fitted<PSvmModel>> fit_path(SharedWork& work,
                                                      std::span<const PSvmSettings> path,
                                                      RunContext& ctx);
/// `queries` have all training columns, or just `needed_columns`, in that order.
[[nodiscard]] Prediction predict(const PSvmModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const PSvmModel& model);
void archive(PSvmModel& model, Archive& archiver);

static_assert(Learner<PSvmSettings, PSvmModel>);

template <>
struct MethodTraits<PSvmSettings> {
  using Model = PSvmModel;
  static constexpr std::string_view name = "p-svm";
  static constexpr std::string_view paper = "[TR] (5)";
  static constexpr std::string_view summary =
      "potential support vector machine: labels regressed on few of the similarities";
  static constexpr bool probabilities = true;
  static std::vector<GridAxis> grid(const PSvmSettings& settings);
};

}  // namespace kith
