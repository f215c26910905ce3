// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/paired_tests.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/errors.hpp"
#include "evaluate/distributions.hpp"

namespace kith {
namespace {

constexpr double kConfidence = 0.95;

/// log of the probability of k heads in n throws of a fair coin.
double log_heads(double k, double n) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::numbers::ln2;
}

/// The correlation of two rows of right and wrong, as Newcombe corrects it for few samples.
double phi(const PairedErrors& pairs) {
  const auto [a, b, c, d] =
      std::array{static_cast<double>(pairs.both), static_cast<double>(pairs.first_only),
                 static_cast<double>(pairs.second_only), static_cast<double>(pairs.neither)};
  const double margins = (a + b) * (c + d) * (a + c) * (b + d);
  if (margins == 0) return 0;
  double product = a * d - b * c;
  if (product > 0) product = std::max(0.0, product - static_cast<double>(pairs.samples()) / 2);
  return product / std::sqrt(margins);
}

double hypotenuse(double a, double b, double cosine) {
  return std::sqrt(std::max(0.0, a * a - 2 * cosine * a * b + b * b));
}

}  // namespace

CorrectedMean corrected_mean(std::span<const double> values, double ratio, double resolution) {
  if (values.size() < 2 || !std::all_of(values.begin(), values.end(),
                                        [](double value) { return std::isfinite(value); })) {
    throw invalid("a corrected mean of {} values; there must be two or more, all finite",
                  values.size());
  }
  const auto count = static_cast<double>(values.size());
  const double sd = std::max(standard_deviation(values), resolution / std::sqrt(count));
  return {.mean = mean(values), .scale = sd * std::sqrt(1 / count + ratio), .degrees = count - 1};
}

double p_value(const CorrectedMean& mean) {
  if (mean.mean == 0) return 1;
  return detail::student_two_sided(mean.mean / mean.scale, mean.degrees);
}

Interval interval(const CorrectedMean& mean) {
  const double half = mean.scale * detail::student_quantile(kConfidence, mean.degrees);
  return {.low = mean.mean - half, .high = mean.mean + half};
}

Posterior posterior(const CorrectedMean& mean, double region) {
  if (mean.scale == 0) {
    return {.below = mean.mean < -region ? 1.0 : 0.0,
            .within = std::abs(mean.mean) <= region ? 1.0 : 0.0,
            .above = mean.mean > region ? 1.0 : 0.0};
  }
  const double below = detail::student_cdf((-region - mean.mean) / mean.scale, mean.degrees);
  const double above = detail::student_cdf((mean.mean - region) / mean.scale, mean.degrees);
  return {.below = below, .within = std::max(0.0, 1 - below - above), .above = above};
}

void PairedErrors::add(const std::vector<bool>& first, const std::vector<bool>& second) {
  if (first.size() != second.size()) {
    throw invalid("{} samples of one method and {} of another; they must be the same", first.size(),
                  second.size());
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    ++(first[i] ? (second[i] ? both : first_only) : (second[i] ? second_only : neither));
  }
}

double mcnemar_mid_p(const PairedErrors& pairs) {
  const auto n = static_cast<double>(pairs.first_only + pairs.second_only);
  const auto fewer = static_cast<double>(std::min(pairs.first_only, pairs.second_only));
  double below = 0;
  for (double k = 0; k < fewer; ++k) below += std::exp(log_heads(k, n));
  return std::min(1.0, 2 * below + std::exp(log_heads(fewer, n)));
}

Interval paired_interval(const PairedErrors& pairs) {
  const Index n = pairs.samples();
  const Index first = pairs.both + pairs.first_only;
  const Index second = pairs.both + pairs.second_only;
  const Interval of_first = wilson_interval(first, n);
  const Interval of_second = wilson_interval(second, n);
  const double share = static_cast<double>(first) / static_cast<double>(n);
  const double other = static_cast<double>(second) / static_cast<double>(n);
  const double correlation = phi(pairs);
  const double down = hypotenuse(share - of_first.low, of_second.high - other, correlation);
  const double up = hypotenuse(of_first.high - share, other - of_second.low, correlation);
  return {.low = share - other - down, .high = share - other + up};
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p_values.size(); ++i) {
    if (!std::isnan(p_values[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return p_values[i] < p_values[j]; });
  std::vector<double> adjusted(p_values.size(), std::numeric_limits<double>::quiet_NaN());
  double largest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto left = static_cast<double>(order.size() - k);
    largest = std::max(largest, std::min(1.0, left * p_values[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

}  // namespace kith
