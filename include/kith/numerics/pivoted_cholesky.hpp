// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// K = X X' up to rounding, X of full column rank r. The rows `pivots` of X are a lower triangular
/// matrix with positive diagonal: the first r samples that the factorisation took.
struct PivotedFactor {
  Matrix X;                   ///< n x r
  std::vector<Index> pivots;  ///< r of the n rows
};

/// Of a positive semidefinite K, whose lower triangle is read, by Cholesky with complete pivoting
/// (LAPACK dpstrf). It ends where no pivot is above 8 eps trace(K), the size that rounding gives to
/// the zero eigenvalues of a kernel. O(n r^2). Throws kInvalidArgument unless K is square and
/// finite.
[[nodiscard]] PivotedFactor pivoted_cholesky(Matrix K);

/// A c with X'c = w and no entries outside the pivots: one triangular solve.
[[nodiscard]] Vector over_pivots(const PivotedFactor& factor, const VectorRef& w);

}  // namespace kith
