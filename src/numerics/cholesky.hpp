// SPDX-License-Identifier: Apache-2.0
// Cholesky factors of symmetric positive definite matrices. Only the lower triangle is read and
// written; what is above the diagonal of a factor is left as it was.
#pragma once

#include "kith/core/types.hpp"

namespace kith {

/// Replaces A by its factor L, A = L L'. False where A is not positive definite in double
/// precision; A is then spoiled.
[[nodiscard]] bool cholesky(Matrix& A);
/// The same of the largest leading block of A that is positive definite in double precision, and
/// its size; the rest of A is spoiled.
[[nodiscard]] Index leading_cholesky(Matrix& A);
/// The same of A + ridge diag(unit) for the first of ridge = least, 100 least, ... up to `most`
/// that makes it positive definite; A holds the last one that was tried where none does.
[[nodiscard]] bool cholesky_with_ridge(Matrix& A, const Vector& unit, double least, double most);
/// What a ridge is a share of: of each diagonal entry and of the largest (up to 1e-8 of them), or
/// of each entry alone (up to 1 of it), where entries of all sizes count.
enum class Ridge { kOfLargest, kOfEach };
/// The same; where it fails, ridges from 1e-15 on are tried, for matrices that only rounding keeps
/// from being positive definite.
[[nodiscard]] bool cholesky_with_ridge(Matrix& A, Ridge kind = Ridge::kOfLargest);

/// (L L')^-1 X for a factor L.
[[nodiscard]] Matrix back_solve(const Matrix& L, Matrix X);
[[nodiscard]] Vector back_solve(const Matrix& L, Vector x);
/// L^-1 X for a factor L.
[[nodiscard]] Matrix solve_lower(const Matrix& L, Matrix X);

}  // namespace kith
