// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// S = U diag(lambda) U' with lambda ascending and the largest component of each column of U
/// positive.
struct SymmetricEigen {
  Vector lambda;
  Matrix U;
};

/// Full decomposition (the steps of LAPACK's dsyevd). Only the lower triangle of S is read. O(n^3)
/// time; when S is moved in the peak is 3 n^2 doubles in all, or 2 n^2 where memory is short. From
/// some thousand rows on it says how long it may take, shows its steps and can be stopped between
/// them. Throws kInvalidArgument if S is not square, holds NaN or infinity, has more than 32,766
/// rows (LAPACK counts with 32 bits) or needs more memory than there is.
[[nodiscard]] SymmetricEigen symmetric_eigen(Matrix S, const RunContext& ctx = {});

/// Throws Error(kInvalidArgument), saying how much it needs, where the decomposition of an n x n
/// matrix and a copy of it would not fit into memory.
void check_decomposition_fits(Index n);

/// Eigenvalues alone, ascending; a fraction of the time. Reads, throws and stops like
/// symmetric_eigen; n^2 doubles and a little when S is moved in.
[[nodiscard]] Vector symmetric_eigenvalues(Matrix S);

/// Flips columns so that each one's component of largest magnitude (the first such on ties) is
/// positive: the sign LAPACK leaves open then no longer depends on the machine.
void fix_signs(Matrix& U);

/// lambda below which an eigenvalue counts as negative in reports: -1e-9 max|lambda|.
[[nodiscard]] double negative_threshold(const VectorRef& lambda);
/// |lambda| at or below which an eigenvalue counts as zero in kernels: n eps max|lambda|.
[[nodiscard]] double zero_threshold(const VectorRef& lambda);

}  // namespace kith
