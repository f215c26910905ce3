// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith::detail {

/// y = A x for a symmetric operator A.
using SymmetricOperator = std::function<void(const VectorRef& x, Eigen::Ref<Vector> y)>;

/// When a Ritz pair (theta, r = its residual norm) is good enough: its estimated error
/// min(r, r^2 / gap) is at most relative |theta| + absolute, and r at most `residual`.
struct LanczosGoal {
  Index count = 1;  ///< pairs wanted
  double relative = 0;
  double absolute = 0;
  double residual = 0;
  double norm = 0;      ///< a bound on the norm of A if known: what rounding is relative to
  Index max_basis = 0;  ///< largest Krylov space to build
};

struct LanczosResult {
  Vector theta;            ///< smallest Ritz values, ascending; at most goal.count
  Matrix vectors;          ///< their Ritz vectors
  Vector residual;         ///< estimated residual norms
  bool converged = false;  ///< all of them meet the goal, or the Krylov space is invariant
};

/// Smallest eigenpairs of A on the orthogonal complement of the columns of `locked`, by Lanczos
/// from `start` with full reorthogonalisation and no restart. A single Krylov space holds one
/// vector for each distinct eigenvalue and none outside the span of the start: the caller verifies.
[[nodiscard]] LanczosResult lanczos(const SymmetricOperator& A, const Vector& start,
                                    const MatrixRef& locked, const LanczosGoal& goal,
                                    const RunContext& ctx);

}  // namespace kith::detail
