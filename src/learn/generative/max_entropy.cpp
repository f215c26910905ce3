// SPDX-License-Identifier: Apache-2.0
// Notation: u the similarity moved to [0, 1], lambda the slope in u, Z(lambda) the sum or integral
// of e^(lambda u) over the support. The mean d log Z / d lambda grows with lambda, from one end of
// the support to the other, so that matching it is a monotone root in one dimension. Its search
// stands alone: it is over in microseconds, it keeps a bracket, and no status comes of it.
#include "kith/learn/generative/max_entropy.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace kith {
namespace {

constexpr Index kMostPoints = 128;
constexpr double kPairsPerPoint = 4;
/// Of the range: an average of equal numbers may miss them by rounding.
constexpr double kAtTheEnd = 1e-12;
/// Extrapolation further out than this says nothing and might overflow.
constexpr double kFarthest = 1e100;
constexpr int kMostSteps = 400;
constexpr double kMeanTolerance = 1e-15;
/// Below it the closed forms cancel and their series are exact to rounding.
constexpr double kSmallSlope = 0.05;

/// Distinct entries in ascending order, or nothing when there are more than `most`.
std::vector<double> distinct_values(const MatrixRef& S, Index most) {
  std::vector<double> values;
  for (Index j = 0; j < S.cols(); ++j) {
    for (Index i = j; i < S.rows(); ++i) {
      const auto at = std::lower_bound(values.begin(), values.end(), S(i, j));
      if (at != values.end() && *at == S(i, j)) continue;
      if (static_cast<Index>(values.size()) == most) return {};
      values.insert(at, S(i, j));
    }
  }
  return values;
}

std::vector<double> all_distinct_values(const MatrixRef& S) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(S.rows() * (S.rows() + 1) / 2));
  for (Index j = 0; j < S.cols(); ++j) {
    for (Index i = j; i < S.rows(); ++i) values.push_back(S(i, j));
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

Moments interval_moments(double lambda) {
  const double a = std::abs(lambda);
  if (a < kSmallSlope) {
    const double q = lambda * lambda;
    return {.log_z = lambda / 2 + q * (1.0 / 24 - q * (1.0 / 2880 - q / 181440)),
            .mean = 0.5 + lambda * (1.0 / 12 - q * (1.0 / 720 - q / 30240)),
            .variance = 1.0 / 12 - q * (1.0 / 240 - q / 6048)};
  }
  const double e = std::exp(-a);
  const double rest = -std::expm1(-a);
  const double from_end = 1 / a - e / rest;  // the mean's distance from the end it leans to
  const double log_z = std::log(rest / a);
  return {.log_z = lambda > 0 ? a + log_z : log_z,
          .mean = lambda > 0 ? 1 - from_end : from_end,
          .variance = 1 / (a * a) - e / (rest * rest)};
}

Moments discrete_moments(const Vector& points, double lambda) {
  const double peak = lambda > 0 ? 1 : 0;
  double z = 0;
  double first = 0;
  double second = 0;
  for (const double u : points) {
    const double w = std::exp(lambda * (u - peak));
    const double d = u - peak;
    z += w;
    first += w * d;
    second += w * d * d;
  }
  const double mean = first / z;
  return {.log_z = lambda * peak + std::log(z),
          .mean = peak + mean,
          .variance = std::max(0.0, second / z - mean * mean)};
}

double first_guess(const Support& support, double mean) {
  if (!support.discrete() && mean < 0.25) return -1 / mean;
  if (!support.discrete() && mean > 0.75) return 1 / (1 - mean);
  const Moments flat = moments(support, 0);
  return (mean - flat.mean) / flat.variance;
}

}  // namespace

double Support::unit(double t) const {
  if (constant()) return 0;
  // Halves, since the range of doubles of both signs may not be a double.
  const double u = (t / 2 - low / 2) / (high / 2 - low / 2);
  return std::clamp(u, -kFarthest, kFarthest);
}

Support make_support(const MatrixRef& S, SupportRule rule) {
  Support support;
  if (S.size() == 0) return support;
  support.low = S.minCoeff();
  support.high = S.maxCoeff();
  if (rule == SupportRule::kInterval || support.constant()) return support;
  std::vector<double> values;
  if (rule == SupportRule::kDiscrete) {
    values = all_distinct_values(S);
  } else {
    const double pairs = 0.5 * static_cast<double>(S.rows()) * static_cast<double>(S.rows() + 1);
    const auto few = static_cast<Index>(pairs / kPairsPerPoint);
    values = distinct_values(S, std::min(kMostPoints, few));
  }
  support.points.resize(static_cast<Index>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    support.points(static_cast<Index>(i)) = support.unit(values[i]);
  }
  return support;
}

Moments moments(const Support& support, double lambda) {
  if (support.constant()) return {};
  return support.discrete() ? discrete_moments(support.points, lambda) : interval_moments(lambda);
}

Exponential with_mean(const Support& support, double mean) {
  if (support.constant()) return {};
  assert(mean > 0 && mean < 1 && "an end of the support has no finite lambda");
  double lambda = first_guess(support, mean);
  double below = -std::numeric_limits<double>::infinity();
  double above = std::numeric_limits<double>::infinity();
  for (int step = 0; step < kMostSteps; ++step) {
    const Moments now = moments(support, lambda);
    const double excess = now.mean - mean;
    if (std::abs(excess) <= kMeanTolerance) break;
    (excess < 0 ? below : above) = lambda;
    double next = now.variance > 0 ? lambda - excess / now.variance : below;
    if (!(next > below && next < above)) {
      // Newton left the bracket: halve it, or go on doubling where a side is still open.
      const double stride = 2 * std::abs(lambda) + 1;
      const double outwards = excess < 0 ? lambda + stride : lambda - stride;
      next = std::isfinite(below) && std::isfinite(above) ? 0.5 * (below + above) : outwards;
    }
    // A flat tail sends Newton far out: no more than eightfold at once.
    const double reach = 8 * std::abs(lambda) + 8;
    next = std::clamp(next, lambda - reach, lambda + reach);
    if (next == lambda || next == below || next == above) break;
    lambda = next;
  }
  return {.lambda = lambda, .log_z = moments(support, lambda).log_z};
}

double off_the_ends(double mean, double samples) {
  const double inwards = std::min(0.5, 0.5 / samples);
  if (mean <= kAtTheEnd) return inwards;
  if (mean >= 1 - kAtTheEnd) return 1 - inwards;
  return mean;
}

}  // namespace kith
