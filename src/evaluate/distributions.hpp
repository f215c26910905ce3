// SPDX-License-Identifier: Apache-2.0
// Distributions of test statistics.
#pragma once

namespace kith::detail {

/// P(X <= x) for a standard normal X.
[[nodiscard]] double normal_cdf(double x);

/// P(|T| >= |t|) for Student's t with `degrees` >= 1 degrees of freedom. Small values keep their
/// relative accuracy.
[[nodiscard]] double student_two_sided(double t, double degrees);
/// P(T <= t).
[[nodiscard]] double student_cdf(double t, double degrees);
/// The t with P(|T| <= t) = `probability`, which lies between 0 and 1.
[[nodiscard]] double student_quantile(double probability, double degrees);

/// P(F >= f) for the F distribution with `above` and `below` degrees of freedom.
[[nodiscard]] double f_tail(double f, double above, double below);

}  // namespace kith::detail
