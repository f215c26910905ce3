// SPDX-License-Identifier: Apache-2.0
// With eigenvalues mu_k of A and N_k = 1 + sum_i z_i^2 / (mu_k - lambda_i)^2, the eigenvectors are
// (z_i / (mu_k - lambda_i), 1) / sqrt(N_k), so that
//
//   h(A)_{i,n+1} = z_i sum_k h(mu_k) / ((mu_k - lambda_i) N_k).
//
// Equal lambda_i act as one pole of weight sum z_i^2; z_i = 0 takes no part. Differences mu_k -
// lambda_i are formed as (lambda_origin - lambda_i) + delta, with the origin the pole nearest to
// mu_k: no cancellation where it would hurt. The search for a root stands alone: it keeps a bracket
// and runs to the last digit, once per eigenvalue.
#include "kith/numerics/arrowhead.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kith {
namespace {

struct Poles {
  std::vector<double> at;      // ascending, distinct
  std::vector<double> weight;  // sum of z_i^2
  std::vector<Index> of;       // pole of each i, -1: none
};

Poles merge_poles(const VectorRef& lambda, const VectorRef& z, double scale) {
  constexpr double kEps = std::numeric_limits<double>::epsilon();
  Poles poles;
  poles.of.assign(static_cast<std::size_t>(lambda.size()), -1);
  for (Index i = 0; i < lambda.size(); ++i) {
    if (std::abs(z(i)) <= kEps * kEps * scale) continue;
    if (poles.at.empty() || lambda(i) - poles.at.back() > 4 * kEps * scale) {
      poles.at.push_back(lambda(i));
      poles.weight.push_back(0);
    }
    poles.weight.back() += z(i) * z(i);
    poles.of[static_cast<std::size_t>(i)] = static_cast<Index>(poles.at.size()) - 1;
  }
  return poles;
}

/// The secular function and its derivative at lambda_origin + delta.
struct Secular {
  double value, slope;
};

Secular secular(const Poles& poles, double psi, double origin, double delta) {
  Secular result{origin - psi + delta, 1};
  for (std::size_t i = 0; i < poles.at.size(); ++i) {
    const double gap = (origin - poles.at[i]) + delta;
    const double term = poles.weight[i] / gap;
    result.value -= term;
    result.slope += term / gap;
  }
  return result;
}

/// The root in (origin + low, origin + high), where the function rises from below to above zero.
/// The origin is a pole of weight `own`, whose term is kept as it is while the rest is made linear:
/// Newton's method on the whole creeps towards a root that is close to its pole.
double root(const Poles& poles, double psi, double origin, double own, double low, double high) {
  constexpr double kEps = std::numeric_limits<double>::epsilon();
  const bool right = low >= 0;  // of the pole
  double delta = 0.5 * (low + high);
  for (int iteration = 0; iteration < 200; ++iteration) {
    const Secular at = secular(poles, psi, origin, delta);
    if (at.value == 0 || std::isnan(at.value)) break;
    (at.value < 0 ? low : high) = delta;
    // slope x^2 + linear x - own = 0, slope > 0: one root on each side of the pole.
    const double slope = at.slope - own / (delta * delta);
    const double linear = at.value + own / delta - slope * delta;
    const double width = std::sqrt(linear * linear + 4 * slope * own);
    const double far = right == (linear > 0) ? 0 : 0.5 * (right ? width - linear : -width - linear);
    double next = far != 0 ? far / slope : 2 * own / (right ? linear + width : linear - width);
    if (!(next > low && next < high) || iteration % 8 == 7) next = 0.5 * (low + high);
    const bool settled = std::abs(next - delta) <= 2 * kEps * std::abs(next);
    delta = next;
    if (settled || high - low <= kEps * std::abs(delta)) break;
  }
  return delta;
}

struct Eigenvalue {
  double origin, delta;
};

/// One root below the first pole, one between each two, one above the last.
std::vector<Eigenvalue> eigenvalues(const Poles& poles, double psi) {
  const std::size_t m = poles.at.size();
  double reach = 0;
  for (const double weight : poles.weight) reach += weight;
  reach = std::sqrt(reach);
  std::vector<Eigenvalue> roots;
  for (std::size_t k = 0; k <= m; ++k) {
    if (k == 0) {
      const double low = std::min(poles.at.front(), psi) - reach - poles.at.front();
      roots.push_back({poles.at.front(), root(poles, psi, poles.at.front(), poles.weight.front(),
                                              1.5 * low - 1e-300, 0)});
    } else if (k == m) {
      const double high = std::max(poles.at.back(), psi) + reach - poles.at.back();
      roots.push_back({poles.at.back(), root(poles, psi, poles.at.back(), poles.weight.back(), 0,
                                             1.5 * high + 1e-300)});
    } else {
      const double width = poles.at[k] - poles.at[k - 1];
      const bool left = secular(poles, psi, poles.at[k - 1], 0.5 * width).value > 0;
      const double origin = left ? poles.at[k - 1] : poles.at[k];
      const double own = left ? poles.weight[k - 1] : poles.weight[k];
      roots.push_back({origin, left ? root(poles, psi, origin, own, 0, 0.5 * width)
                                    : root(poles, psi, origin, own, -0.5 * width, 0)});
    }
  }
  return roots;
}

}  // namespace

Vector arrowhead_column(const VectorRef& lambda, const VectorRef& z, double psi,
                        const std::function<double(double)>& h) {
  const double scale =
      std::max({lambda.size() > 0 ? lambda.cwiseAbs().maxCoeff() : 0.0, z.norm(), std::abs(psi)});
  const Poles poles = merge_poles(lambda, z, scale);
  Vector column = Vector::Zero(lambda.size());
  if (poles.at.empty()) return column;
  std::vector<double> factor(poles.at.size(), 0);
  std::vector<double> inverse(poles.at.size());
  for (const auto& [origin, delta] : eigenvalues(poles, psi)) {
    double norm = 1;
    for (std::size_t i = 0; i < poles.at.size(); ++i) {
      inverse[i] = 1 / ((origin - poles.at[i]) + delta);
      norm += poles.weight[i] * inverse[i] * inverse[i];
    }
    const double share = h(origin + delta) / norm;
    for (std::size_t i = 0; i < poles.at.size(); ++i) factor[i] += share * inverse[i];
  }
  for (Index i = 0; i < lambda.size(); ++i) {
    const Index pole = poles.of[static_cast<std::size_t>(i)];
    if (pole >= 0) column(i) = z(i) * factor[static_cast<std::size_t>(pole)];
  }
  return column;
}

}  // namespace kith
