// SPDX-License-Identifier: Apache-2.0
// The support vector machine with squared hinge loss, on vectors.
#pragma once

#include <cmath>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::linear {

/// Samples with signs y in {+1, -1} and a penalty each.
struct SignedSamples {
  Matrix X;     ///< samples x features
  Vector y;     ///< +1 or -1
  Vector cost;  ///< finite, > 0
};

/// Throws Error(kInvalidArgument) naming the first entry that breaks a rule stated above.
void validate(const SignedSamples& samples);

/// sum_i cost_i max(0, 1 - y_i f_i)^2 for decision values f.
[[nodiscard]] double squared_hinge_loss(const SignedSamples& samples, const VectorRef& decisions);

/// min_{w, b}  1/2 |w|^2 + sum_i cost_i max(0, 1 - y_i (w'x_i + b))^2
struct SquaredHingeSolution {
  Vector w;
  double b = 0;
  SolveInfo info;  ///< objective is the minimum; gap as the certificate has it
};

/// What (w, b) achieves, recomputed from the data alone. The dual point is the one that (w, b)
/// implies, a_i = 2 cost_i max(0, 1 - y_i f_i), its larger class scaled down until y'a = 0; its
/// value 1'a - 1/2 |X'Ya|^2 - sum_i a_i^2 / (4 cost_i) bounds the minimum from below.
inline constexpr double kStationarityShare = 0.1;  // a gap of g leaves some sqrt(g) of it
struct SquaredHingeCertificate {
  double primal = 0;
  double dual = 0;
  double gap = 0;  ///< (primal - dual) / max(|primal|, |dual|)
  /// |w - X'Ya| / (|w| + |X'Ya|) and |y'a| / sum a, for a as implied and before any scaling: the
  /// larger of both.
  double stationarity = 0;

  [[nodiscard]] bool within(double tolerance) const {
    return std::abs(gap) <= tolerance && stationarity <= kStationarityShare * std::sqrt(tolerance);
  }
};
[[nodiscard]] SquaredHingeCertificate certify_squared_hinge(const SignedSamples& samples,
                                                            const VectorRef& w, double b);

inline constexpr double kSquaredHingeTolerance = 1e-8;

/// Newton's method on the samples inside the margin with an exact line search: finitely many steps.
/// O(n r^2 + r^3) each, for n samples of r features.
[[nodiscard]] SquaredHingeSolution squared_hinge_svm(const SignedSamples& samples,
                                                     const RunContext& ctx = {},
                                                     double tolerance = kSquaredHingeTolerance);

}  // namespace kith::linear
