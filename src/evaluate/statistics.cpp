// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/errors.hpp"
#include "evaluate/distributions.hpp"

namespace kith {
namespace {

using detail::normal_cdf;

// The exact distribution costs n^2 (n + 1) / 2 additions: 4 million at the limit.
constexpr std::size_t kMostExactPairs = 200;

double normal_density(double x) {
  return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

/// The differences a - b that are more than rounding, and the tolerance that decided it.
struct Differences {
  std::vector<double> values;
  double tolerance = 0;
};

Differences differences(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) {
    throw invalid("a signed-rank test of {} values against {}; they must come in pairs", a.size(),
                  b.size());
  }
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      throw invalid("pair {} of a signed-rank test is {}, {}; both must be finite", i, a[i], b[i]);
    }
    largest = std::max({largest, std::abs(a[i]), std::abs(b[i])});
  }
  Differences result{.values = {}, .tolerance = kRoundingShare * largest};
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] - b[i];
    if (std::abs(difference) > result.tolerance) result.values.push_back(difference);
  }
  return result;
}

/// P(W >= observed), W the sum of a random subset of `ranks`, each in it with probability 1/2.
/// Averages of places are halves of integers, so the doubled ranks index the distribution.
double exact_tail(std::span<const double> ranks, double observed) {
  std::vector<std::size_t> doubled;
  for (const double rank : ranks)
    doubled.push_back(static_cast<std::size_t>(std::lround(2 * rank)));
  const std::size_t total = std::accumulate(doubled.begin(), doubled.end(), std::size_t{0});
  std::vector<double> probability(total + 1, 0.0);
  probability[0] = 1;
  std::size_t reached = 0;
  for (const std::size_t rank : doubled) {
    reached += rank;
    for (std::size_t sum = reached + 1; sum-- > 0;) {
      probability[sum] = 0.5 * (probability[sum] + (sum >= rank ? probability[sum - rank] : 0.0));
    }
  }
  const auto from = static_cast<std::size_t>(std::lround(2 * observed));
  double tail = 0;  // summed from the small end
  for (std::size_t sum = total + 1; sum-- > from;) tail += probability[sum];
  return std::min(tail, 1.0);
}

/// The same by the normal limit. The variance, a quarter of the sum of squared ranks, is the one
/// corrected for ties.
double normal_tail(std::span<const double> ranks, double observed) {
  double expectation = 0;
  double variance = 0;
  for (const double rank : ranks) {
    expectation += rank / 2;
    variance += rank * rank / 4;
  }
  return normal_cdf(-(observed - 0.5 - expectation) / std::sqrt(variance));
}

/// P(range of k standard normals <= q) = k int phi(z) (Phi(z) - Phi(z - q))^(k-1) dz, z being the
/// largest of them. The integrand is analytic and vanishes at both ends, where the trapezoidal rule
/// converges faster than any power of the step: 1/16 gives double precision.
double range_cdf(double q, int k) {
  constexpr double kEnd = 9;  // phi(9) = 1e-18
  constexpr int kSteps = 288;
  constexpr double kStep = 2 * kEnd / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double z = -kEnd + i * kStep;
    sum += normal_density(z) * std::pow(normal_cdf(z) - normal_cdf(z - q), k - 1);
  }
  return k * sum * kStep;
}

double range_quantile(double probability, int k) {
  double low = 0;
  double high = 1;
  while (range_cdf(high, k) < probability && high < 64) high *= 2;
  while (high - low > 1e-12 * high) {
    const double middle = 0.5 * (low + high);
    (range_cdf(middle, k) < probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

std::vector<double> existing(std::span<const double> values) {
  std::vector<double> result;
  std::copy_if(values.begin(), values.end(), std::back_inserter(result),
               [](double value) { return !std::isnan(value); });
  return result;
}

double mean(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  const double centre = mean(values);
  if (values.size() < 2) return values.empty() ? centre : 0;
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / (static_cast<double>(values.size()) - 1));
}

std::vector<double> ranks(std::span<const double> values, double tolerance) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] <= values[order[first]] + tolerance) ++end;
    const double shared = 0.5 * static_cast<double>(first + 1 + end);  // places first + 1 .. end
    for (; first < end; ++first) result[order[first]] = shared;
  }
  return result;
}

double wilcoxon_larger(std::span<const double> a, std::span<const double> b) {
  const Differences found = differences(a, b);
  if (found.values.empty()) return 1;
  std::vector<double> sizes;
  for (const double difference : found.values) sizes.push_back(std::abs(difference));
  const std::vector<double> rank = ranks(sizes, found.tolerance);
  double positive = 0;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    if (found.values[i] > 0) positive += rank[i];
  }
  return rank.size() <= kMostExactPairs ? exact_tail(rank, positive) : normal_tail(rank, positive);
}

FriedmanTest friedman(const Matrix& ranks) {
  if (ranks.rows() < 2 || ranks.cols() < 2) {
    throw invalid("Friedman's test of {} methods on {} data sets; it needs two of both",
                  ranks.cols(), ranks.rows());
  }
  const auto n = static_cast<double>(ranks.rows());
  const auto k = static_cast<double>(ranks.cols());
  const double centre = (k + 1) / 2;
  const double between = n * (ranks.colwise().mean().array() - centre).square().sum();
  const double all = (ranks.array() - centre).square().sum();
  // Conover (1999), 5.8: F = (N - 1) B / (A - B), which allows for ties.
  const double within = all - between;
  if (all == 0) return {};
  if (within <= kRoundingShare * all) {
    return {.statistic = std::numeric_limits<double>::infinity(), .p_value = 0};
  }
  const double statistic = (n - 1) * between / within;
  return {.statistic = statistic, .p_value = detail::f_tail(statistic, k - 1, (k - 1) * (n - 1))};
}

double critical_difference(int methods, int data_sets, double alpha) {
  if (methods < 2 || data_sets < 1 || !(alpha > 0 && alpha < 1)) {
    throw invalid(
        "a critical difference of {} methods over {} data sets at level {}; it "
        "needs two methods, one data set and a level between 0 and 1",
        methods, data_sets, alpha);
  }
  const double k = methods;
  const double q = range_quantile(1 - alpha, methods) / std::numbers::sqrt2;
  return q * std::sqrt(k * (k + 1) / (6.0 * data_sets));
}

Interval wilson_interval(Index count, Index n) {
  if (n < 1 || count < 0 || count > n) {
    throw invalid("an interval for {} of {} samples; there must be one sample at least", count, n);
  }
  constexpr double kQuantile = 1.959963984540054;  // 97.5 % of the normal distribution
  const auto samples = static_cast<double>(n);
  const double share = static_cast<double>(count) / samples;
  const double widening = kQuantile * kQuantile / samples;
  const double centre = (share + widening / 2) / (1 + widening);
  const double half = std::sqrt(widening * (share * (1 - share) + widening / 4)) / (1 + widening);
  // The exact bounds at the ends, which rounding would miss.
  return {.low = count == 0 ? 0.0 : std::max(0.0, centre - half),
          .high = count == n ? 1.0 : std::min(1.0, centre + half)};
}

}  // namespace kith
