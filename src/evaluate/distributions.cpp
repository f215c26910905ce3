// SPDX-License-Identifier: Apache-2.0
#include "evaluate/distributions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace kith::detail {
namespace {

/// The continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method. It
/// converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = std::numeric_limits<double>::min() / 1e-16;
  constexpr int kMost = 10000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMost; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return fraction;
}

/// I_x(a, b), with 1 - x given as well, so that neither end loses digits.
double regularised_beta(double a, double b, double x, double rest) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log(rest));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, rest) / b;
}

}  // namespace

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double student_two_sided(double t, double degrees) {
  if (std::isinf(t)) return 0;
  const double sum = degrees + t * t;
  return regularised_beta(degrees / 2, 0.5, degrees / sum, t * t / sum);
}

double student_cdf(double t, double degrees) {
  const double tail = 0.5 * student_two_sided(t, degrees);
  return t > 0 ? 1 - tail : tail;
}

double student_quantile(double probability, double degrees) {
  double low = 0;
  double high = 1;
  while (student_two_sided(high, degrees) > 1 - probability) high *= 2;
  while (high - low > 1e-14 * high) {
    const double middle = 0.5 * (low + high);
    (student_two_sided(middle, degrees) > 1 - probability ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double f_tail(double f, double above, double below) {
  if (f <= 0) return 1;
  if (std::isinf(f)) return 0;
  const double sum = below + above * f;
  return regularised_beta(below / 2, above / 2, below / sum, above * f / sum);
}

}  // namespace kith::detail
