// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::linear {

/// min 1/2 w'Hw - s'w  over the simplex  w >= 0, 1'w = 1.
struct SimplexQpSolution {
  Vector w;
  /// objective is the minimum; kkt_residual the largest violation of: with r = Hw - s, r_i equals a
  /// common value where w_i > 0 and is no smaller elsewhere; relative to max(1, |H|, |s|).
  SolveInfo info;
};

/// H symmetric positive definite: a primal active-set method whose every step solves the free
/// variables exactly. `start` (empty: the minimum for H's diagonal) need only be feasible; close
/// ones are faster. Of an H that is not positive definite a stationary point is found from `start`
/// by pairwise steps, and the status says so.
[[nodiscard]] SimplexQpSolution simplex_qp(const MatrixRef& H, const VectorRef& s,
                                           const Vector& start = {});

/// The same for an H known to be positive definite, in few factorisations: the support is changed
/// in blocks (everything that would be negative leaves, everything that would gain enters), from
/// that of `near` (as `start`), which need not be feasible. Where that does not settle, simplex_qp.
[[nodiscard]] SimplexQpSolution convex_simplex_qp(const MatrixRef& H, const VectorRef& s,
                                                  const Vector& near = {});

/// min 1/2 w'Hw - s'w + weight sum_i w_i log w_i over the simplex, H symmetric positive
/// semidefinite, weight > 0: Newton in log w, from a large weight down to the one asked for.
[[nodiscard]] SimplexQpSolution simplex_entropy(const MatrixRef& H, const VectorRef& s,
                                                double weight);

/// The violation that `info.kkt_residual` reports, recomputed from the data alone.
[[nodiscard]] double simplex_residual(const MatrixRef& H, const VectorRef& s, const VectorRef& w);

}  // namespace kith::linear
