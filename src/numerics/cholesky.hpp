// SPDX-License-Identifier: Apache-2.0
// Cholesky factors of symmetric positive definite matrices. Only the lower triangle is read and
// written; what is above the diagonal of a factor is left as it was.
#pragma once

#include "kith/core/types.hpp"

namespace kith {

/// Replaces A by its factor L, A = L L'. False where A is not positive definite in double
/// precision; A is then spoiled.
[[nodiscard]] bool cholesky(Matrix& A);
/// The same; where it fails, a ridge of 1e-15 to 1e-8 of the diagonal is tried, for matrices that
/// only rounding keeps from being positive definite.
[[nodiscard]] bool cholesky_with_ridge(Matrix& A);

/// (L L')^-1 X for a factor L.
[[nodiscard]] Matrix back_solve(const Matrix& L, Matrix X);
[[nodiscard]] Vector back_solve(const Matrix& L, Vector x);
/// L^-1 X for a factor L.
[[nodiscard]] Matrix solve_lower(const Matrix& L, Matrix X);

}  // namespace kith
