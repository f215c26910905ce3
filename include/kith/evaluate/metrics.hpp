// SPDX-License-Identifier: Apache-2.0
// How good a set of predictions is. Every metric is a pure function of truth and prediction, so a
// store can be asked for any of them later.
#pragma once

#include <optional>
#include <span>

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

/// Share of wrong answers in a confusion matrix that has some.
[[nodiscard]] double error_share(const Matrix& confusion);
/// Mean over the classes with true samples of the share of them that is missed; there must be one.
[[nodiscard]] double balanced_error_share(const Matrix& confusion);
/// -log p of the probability of the true class, p no smaller than 1e-15.
[[nodiscard]] double log_loss_of(double probability);
/// P(value of an upper sample > value of a lower one) + P(equal) / 2, by the sum of ranks; both
/// have samples.
[[nodiscard]] double separation(std::span<const double> upper, std::span<const double> lower);

/// The metric, or nothing where it does not exist. With tp, fp, fn the right, wrong and missed
/// answers of a class:
///  error           share of wrong labels
///  balanced-error  mean over the classes with true samples of the share of them that is missed
///  f-score         mean of 2 tp / (2 tp + fp + fn) over the classes in truth or prediction
///  f1              2 tp / (2 tp + fp + fn) of class `positive`; nothing with another number of
///                  classes than two, or where `positive` is neither in truth nor in prediction
///  log-loss        mean of -log p(true class), p no smaller than 1e-15; nothing without
///                  probabilities
///  auc             two classes: the probability that a random sample of one is ordered above a
///                  random one of the other, ties counting half, by the difference of their scores
///                  (without scores: of their probabilities). More: Hand and Till's mean over the
///                  pairs of classes with true samples, by probabilities (without them: by the
///                  difference of the scores of the pair). Nothing without both, or when fewer than
///                  two classes have true samples
/// Nothing also for no samples at all. Throws Error when the sizes do not fit.
[[nodiscard]] std::optional<double> metric_value(Metric metric, std::span<const int> truth,
                                                 const Prediction& prediction, int classes,
                                                 int positive);

}  // namespace kith
