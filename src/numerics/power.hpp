// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/types.hpp"

namespace kith {

/// Whole powers by squaring: exact for small whole numbers, and the same on every machine.
[[nodiscard]] inline double power(double base, Index exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

/// The polynomial kernel of two vectors, from their product.
[[nodiscard]] inline double polynomial(double product, double gamma, double constant,
                                       Index degree) {
  return power(gamma * product + constant, degree);
}

}  // namespace kith
