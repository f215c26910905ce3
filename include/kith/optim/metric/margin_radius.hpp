// SPDX-License-Identifier: Apache-2.0
// The convex program that [ZGZZ] (5) is in disguise. With v = L'w, |v'x_i| <= |w| |L x_i| <= |w|,
// and L = e v' / max_i |v'x_i| attains it, so that (5) has the value and the decision function of
//
//   min_{v, b}  1/2 max_i (v'x_i)^2 + sum_i cost_i max(0, 1 - y_i (v'x_i + b))^2,
//
// whose optimal map has rank one. Its dual, over a >= 0 with y'a = 0 and m with X'm = X'Ya, is
//
//   max  1'a - sum_i a_i^2 / (4 cost_i) - 1/2 (sum_i |m_i|)^2.
#pragma once

#include <cmath>

#include "kith/optim/metric/problem.hpp"

namespace kith::metric {

struct MarginRadiusSolution {
  Vector v;  ///< of the decision function v'x + b
  double b = 0;
  Vector a;  ///< of the dual
  Vector m;
  double lower_bound = 0;  ///< the value of (a, m), or 0 where they miss their constraints
  SolveInfo info;          ///< objective is the primal value; gap as the certificate has it
};

/// What the four achieve, recomputed from the data alone.
struct MarginRadiusCertificate {
  double primal = 0;
  double dual = 0;
  double gap = 0;  ///< (primal - dual) / max(|primal|, |dual|)
  /// Largest violation of the dual constraints: negative a and y'a relative to the sum of |a|;
  /// each column of X'(m - Ya) relative to that column's norm and to |m| + |a|.
  double feasibility = 0;
  /// Largest difference between a_i and the 2 cost_i max(0, 1 - y_i f_i) that (v, b) implies,
  /// relative to the largest of both.
  double stationarity = 0;

  /// The value is the optimum's to `tolerance`.
  [[nodiscard]] bool proves(double tolerance) const {
    return std::abs(gap) <= tolerance && feasibility <= tolerance;
  }
  /// The values are flat around the optimum, where a change of v shows in the gap as its square
  /// alone. The multipliers show it at once.
  [[nodiscard]] bool within(double tolerance) const {
    return proves(tolerance) && stationarity <= linear::kStationarityShare * std::sqrt(tolerance);
  }
};
[[nodiscard]] MarginRadiusCertificate certify_margin_radius(const linear::SignedSamples& samples,
                                                            const VectorRef& v, double b,
                                                            const VectorRef& a, const VectorRef& m);

inline constexpr double kMarginRadiusTolerance = 1e-8;

/// A primal-dual interior point method in (v, b, t >= |v'x_i|): some 20 steps of O(n r^2 + r^3).
/// Depends on the span of the columns of X alone, whatever their units: a column is left out only
/// where the others give it to 1e-10 of its length. Of several v with the same values the shortest.
[[nodiscard]] MarginRadiusSolution margin_radius(const linear::SignedSamples& samples,
                                                 const RunContext& ctx = {},
                                                 double tolerance = kMarginRadiusTolerance);

/// The map and machine of [ZGZZ] (5) with the decision function v'x + b: L = v' / R, w = R, of rank
/// one, R = max_i |v'x_i|.
[[nodiscard]] Point rank_one_point(const linear::SignedSamples& samples, const VectorRef& v,
                                   double b);
/// The same with another radius R of v'x.
[[nodiscard]] Point rank_one_point(const VectorRef& v, double b, double radius);

}  // namespace kith::metric
