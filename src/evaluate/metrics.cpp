// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/errors.hpp"
#include "kith/evaluate/statistics.hpp"

namespace kith {
namespace {

// A single certain and wrong answer would make the mean infinite.
constexpr double kLeastProbability = 1e-15;

void check(std::span<const int> truth, const Prediction& prediction, int classes, int positive) {
  const auto fits = [&](const Matrix& table) {
    return table.size() == 0 ||
           (table.rows() == static_cast<Index>(truth.size()) && table.cols() == classes);
  };
  if (prediction.labels.size() != truth.size() || !fits(prediction.scores) ||
      !fits(prediction.probabilities) || positive < 0 || positive >= std::max(classes, 1)) {
    throw invalid(
        "a prediction of {} labels, {} x {} scores and {} x {} probabilities "
        "does not fit {} samples of {} classes (positive: {})",
        prediction.labels.size(), prediction.scores.rows(), prediction.scores.cols(),
        prediction.probabilities.rows(), prediction.probabilities.cols(), truth.size(), classes,
        positive);
  }
}

/// 2 tp / (2 tp + fp + fn): row and column of the class count tp twice.
std::optional<double> f_of(const Matrix& counts, Index c) {
  const double both = counts.row(c).sum() + counts.col(c).sum();
  if (both == 0) return std::nullopt;
  return 2 * counts(c, c) / both;
}

double macro_f(const Matrix& counts) {
  double sum = 0;
  int present = 0;
  for (Index c = 0; c < counts.rows(); ++c) {
    const std::optional<double> f = f_of(counts, c);
    if (!f) continue;
    sum += *f;
    ++present;
  }
  return sum / present;
}

double log_loss(std::span<const int> truth, const Matrix& probabilities) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    sum += log_loss_of(probabilities(static_cast<Index>(i), truth[i]));
  }
  return sum / static_cast<double>(truth.size());
}

using Samples = std::vector<Index>;

std::vector<double> picked(const Vector& values, const Samples& samples) {
  std::vector<double> result;
  for (const Index i : samples) result.push_back(values(i));
  return result;
}

/// How well classes a and b are told apart, `in_a` and `in_b` being their samples.
double pair_auc(const Prediction& prediction, int a, int b, const Samples& in_a,
                const Samples& in_b) {
  const bool by_scores = prediction.probabilities.size() == 0 ||
                         (prediction.scores.size() != 0 && prediction.scores.cols() == 2);
  if (by_scores) {
    const Vector lead = prediction.scores.col(a) - prediction.scores.col(b);
    return separation(picked(lead, in_a), picked(lead, in_b));
  }
  const Vector of_a = prediction.probabilities.col(a);
  const Vector of_b = prediction.probabilities.col(b);
  return 0.5 * (separation(picked(of_a, in_a), picked(of_a, in_b)) +
                separation(picked(of_b, in_b), picked(of_b, in_a)));
}

std::optional<double> auc(std::span<const int> truth, const Prediction& prediction, int classes) {
  if (prediction.scores.size() == 0 && prediction.probabilities.size() == 0) return std::nullopt;
  std::vector<Samples> members(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    members[static_cast<std::size_t>(truth[i])].push_back(static_cast<Index>(i));
  }
  double sum = 0;
  int pairs = 0;
  for (int a = 0; a < classes; ++a) {
    for (int b = a + 1; b < classes; ++b) {
      const Samples& in_a = members[static_cast<std::size_t>(a)];
      const Samples& in_b = members[static_cast<std::size_t>(b)];
      if (in_a.empty() || in_b.empty()) continue;
      sum += pair_auc(prediction, a, b, in_a, in_b);
      ++pairs;
    }
  }
  if (pairs == 0) return std::nullopt;
  return sum / pairs;
}

}  // namespace

bool smaller_is_better(Metric metric) {
  switch (metric) {
    case Metric::kError:
    case Metric::kBalancedError:
    case Metric::kLogLoss:
      return true;
    case Metric::kFScore:
    case Metric::kF1:
    case Metric::kAuc:
      return false;
  }
  return true;
}

Matrix confusion(std::span<const int> truth, std::span<const int> said, int classes) {
  if (truth.size() != said.size()) {
    throw invalid("{} true labels and {} predicted ones; they must come in pairs", truth.size(),
                  said.size());
  }
  Matrix counts = Matrix::Zero(classes, classes);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (std::min(truth[i], said[i]) < 0 || std::max(truth[i], said[i]) >= classes) {
      throw invalid(
          "sample {} has the true class {} and the predicted one {}; classes "
          "are 0 to {}",
          i, truth[i], said[i], classes - 1);
    }
    counts(truth[i], said[i]) += 1;
  }
  return counts;
}

double error_share(const Matrix& confusion) {
  return (confusion.sum() - confusion.trace()) / confusion.sum();
}

double balanced_error_share(const Matrix& confusion) {
  double missed = 0;
  int present = 0;
  for (Index c = 0; c < confusion.rows(); ++c) {
    const double samples = confusion.row(c).sum();
    if (samples == 0) continue;
    missed += (samples - confusion(c, c)) / samples;
    ++present;
  }
  return missed / present;
}

double log_loss_of(double probability) {
  return -std::log(std::clamp(probability, kLeastProbability, 1.0));
}

double separation(std::span<const double> upper, std::span<const double> lower) {
  std::vector<double> all(upper.begin(), upper.end());
  all.insert(all.end(), lower.begin(), lower.end());
  const std::vector<double> rank = ranks(all);
  const auto m = static_cast<double>(upper.size());
  double sum = 0;
  for (std::size_t i = 0; i < upper.size(); ++i) sum += rank[i];
  return (sum - m * (m + 1) / 2) / (m * static_cast<double>(lower.size()));
}

std::optional<double> metric_value(Metric metric, std::span<const int> truth,
                                   const Prediction& prediction, int classes, int positive) {
  check(truth, prediction, classes, positive);
  if (truth.empty()) return std::nullopt;
  const Matrix counts = confusion(truth, prediction.labels, classes);
  switch (metric) {
    case Metric::kError:
      return error_share(counts);
    case Metric::kBalancedError:
      return balanced_error_share(counts);
    case Metric::kFScore:
      return macro_f(counts);
    case Metric::kF1:
      return classes == 2 ? f_of(counts, positive) : std::nullopt;
    case Metric::kLogLoss:
      if (prediction.probabilities.size() == 0) return std::nullopt;
      return log_loss(truth, prediction.probabilities);
    case Metric::kAuc:
      return auc(truth, prediction, classes);
  }
  return std::nullopt;
}

}  // namespace kith
