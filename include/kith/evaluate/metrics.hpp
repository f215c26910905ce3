// SPDX-License-Identifier: Apache-2.0
// How good a set of predictions is. Every metric is a pure function of truth and prediction, so a
// store can be asked for any of them later.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kith/core/settings.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

enum class Metric { kError, kBalancedError, kFScore, kF1, kLogLoss, kAuc };
template <>
struct EnumNames<Metric> {
  static constexpr std::array<std::string_view, 6> names = {"error", "balanced-error", "f-score",
                                                            "f1",    "log-loss",       "auc"};
};
/// Whether smaller values are better.
[[nodiscard]] bool smaller_is_better(Metric metric);

/// confusion(truth, said), counts. Rows and columns are classes 0 .. classes-1.
[[nodiscard]] Matrix confusion(std::span<const int> truth, std::span<const int> said, int classes);

/// The metric, or nothing where it does not exist: log-loss without probabilities, AUC without
/// scores and probabilities or with one class, F1 of `positive` with more than two classes. Classes
/// without true samples take no part in balanced error and AUC; macro F-score averages over the
/// classes that occur in truth or prediction. AUC for several classes is Hand and Till's mean over
/// pairs.
[[nodiscard]] std::optional<double> metric_value(Metric metric, std::span<const int> truth,
                                                 const Prediction& prediction, int classes,
                                                 int positive);

}  // namespace kith
