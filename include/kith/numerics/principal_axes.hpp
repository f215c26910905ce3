// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/types.hpp"

namespace kith {

/// Samples in the coordinates of their own principal directions: X = 1 mean' + Z Q'.
struct PrincipalAxes {
  Vector mean;    ///< of the rows of X
  Matrix Q;       ///< features x r, orthonormal columns, by falling spread
  Matrix Z;       ///< samples x r, centred
  Vector spread;  ///< |column of Z|^2, falling: n times the eigenvalues of the covariance
};

/// Directions whose standard deviation is below 1e-7 of the largest are left out: the covariance
/// does not hold them in double precision. Costs O(n D min(n, D)) and never forms a D x D matrix
/// where D > n: the features are first brought to the span of the samples by a QR factorisation.
[[nodiscard]] PrincipalAxes principal_axes(Matrix X);

/// Samples in orthonormal coordinates of their span, X = 1 mean' + Z Q'. The coordinates are not
/// uncorrelated, as principal ones are, but hold far smaller directions: those left out are below
/// 1e-13 of the largest. By a QR factorisation of X' with pivots, features by falling size, so that
/// the digits of small features are kept beside large ones. Costs O(n D min(n, D)).
struct SpanCoordinates {
  Vector mean;
  Matrix Q;  ///< features x r, orthonormal columns
  Matrix Z;  ///< samples x r, centred
};
[[nodiscard]] SpanCoordinates span_coordinates(Matrix X);

/// The least number of leading directions that hold `share` of the energy as [ZGZZ] IV.D defines
/// it, by the squares of the eigenvalues of the covariance.
[[nodiscard]] Index dimensions_by_energy(const VectorRef& spread, double share);

}  // namespace kith
