// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/types.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

// Notation: S = U diag(lambda) U' symmetric n x n, g one multiplier per eigenvalue. All products
// run over blocks of columns, so that beside arguments and result only O(256 n) doubles are held,
// and matrices come out exactly symmetric.
namespace kith {

/// U diag(values) U'. n^2 flops per nonzero value. U has `values.size()` columns, any number of
/// rows.
[[nodiscard]] Matrix reconstruct(const MatrixRef& U, const VectorRef& values);

/// Adds U diag(values) U' to the symmetric K, both triangles of which hold it.
void add_spectrum(Matrix& K, const MatrixRef& U, const Vector& values);

/// S = U diag(lambda) U' becomes U diag(g .* lambda) U' in its own memory. Built anew from the
/// columns with g lambda != 0 or corrected by those with g != 1, whichever are fewer: clip and flip
/// multiply the smaller side of the spectrum only. Both triangles of S must hold it.
void modify_spectrum(Matrix& S, const SymmetricEigen& eigen, const VectorRef& g);

/// columns <- U diag(g) U' columns, in place, for orthogonal U (n x n): what a spectrum
/// modification does to coefficients, or to rows of similarities to new samples seen through
/// `transpose()`. Uses the columns of U with g != 0, or the identity and those with g != 1,
/// whichever are fewer.
void apply_spectral_to_columns(const MatrixRef& U, const VectorRef& g, Eigen::Ref<Matrix> columns);

/// Multipliers of clip, 1[lambda > 0], and of flip, sgn(lambda); 0 where |lambda| is at most
/// zero_threshold(lambda).
[[nodiscard]] Vector clip_multipliers(const VectorRef& lambda);
[[nodiscard]] Vector flip_multipliers(const VectorRef& lambda);

/// The nearest positive semidefinite matrix in Frobenius norm, U max(lambda, 0) U'. S is consumed;
/// peak 4 n^2 doubles with S.
[[nodiscard]] Matrix positive_part(Matrix S);

}  // namespace kith
