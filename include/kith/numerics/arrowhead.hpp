// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "kith/core/types.hpp"

namespace kith {

/// The last column, without its last entry, of h(A) for the arrowhead matrix
///
///   A = [ diag(lambda)  z ]
///       [ z'          psi ]
///
/// and a function h of eigenvalues. The eigenvalues of A are the roots of the secular equation
/// mu - psi - sum_i z_i^2 / (mu - lambda_i) = 0, each found to full relative accuracy from its
/// nearest pole. lambda ascending. O(n^2).
[[nodiscard]] Vector arrowhead_column(const VectorRef& lambda, const VectorRef& z, double psi,
                                      const std::function<double(double)>& h);

}  // namespace kith
