// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/status.hpp"
#include "kith/core/types.hpp"

namespace kith::linear {

/// The problem of the potential support vector machine, [TR] (5):
///
///   min_a  1/2 |y - S a|^2 + epsilon |a|_1   s.t.  |a_j| <= bound,
///
/// for a given S (m x n, any shape and rank). Its dual, with u the residual y - S a at the optimum:
///
///   max_u  y'u - 1/2 |u|^2 - bound sum_j max(0, |S'u|_j - epsilon).
struct LassoTerms {
  double epsilon = 1;  ///< > 0
  double bound = 1;    ///< > 0
};

/// What a achieves, recomputed from the data alone: nothing a solver kept is used.
struct LassoCertificate {
  double primal = 0;
  /// (primal - dual) / primal at the better of two dual points: the residual r = y - S a itself and
  /// r shrunk until |S'r|_j <= epsilon wherever |a_j| < bound. Summed from terms that are not
  /// negative, so that nothing cancels.
  double gap = 0;
  /// Largest violation of the optimality conditions in units of |S'y|_inf. With g = S'r, variable j
  /// violates by what g_j exceeds epsilon sgn(a_j) (at a_j = 0: epsilon) unless a_j = bound, and by
  /// what it falls short of it (at a_j = 0: of -epsilon) unless a_j = -bound.
  double kkt_residual = 0;
  double feasibility = 0;  ///< largest |a_j| - bound, relative to the bound; 0 inside

  [[nodiscard]] bool within(double tolerance, double gap_tolerance) const {
    return gap <= gap_tolerance && kkt_residual <= tolerance && feasibility <= tolerance;
  }
  [[nodiscard]] bool within(double tolerance) const { return within(tolerance, tolerance); }
};

/// Throws Error(kInvalidArgument) where sizes do not fit or a term is not positive.
[[nodiscard]] LassoCertificate certify(const MatrixRef& S, const VectorRef& y,
                                       const LassoTerms& terms, const VectorRef& a);

/// All of the problem that its terms do not change: made once, used along a grid.
struct LassoData {
  Matrix S;  ///< column j divided by 2^exponents[j], which makes its norm about 1
  Vector y;
  std::vector<int> exponents;
  Matrix gram;  ///< S'S; empty where S has so few rows that its blocks are cheaper made anew
};
/// S and y are finite. Throws Error(kInvalidArgument) where their sizes do not fit.
[[nodiscard]] LassoData lasso_data(Matrix S, Vector y);

struct LassoSettings {
  double tolerance = 1e-8;      ///< for the KKT residual
  double gap_tolerance = 1e-7;  ///< its digits are lost first where S is ill-conditioned
  long max_iterations = 5000;   ///< Newton steps
};

struct LassoSolution {
  Vector a;  ///< zeros and bounds are exact
  /// objective is the minimum; gap and kkt_residual come from `certify`; iterations counts Newton
  /// steps, each one Cholesky factor of the free variables' block. A solution with all |a_j| below
  /// the bound solves the problem for every larger bound as well.
  SolveInfo info;
};

/// Proximal steps, each solved through its dual by a semismooth Newton method, finished on the free
/// variables; where that becomes dearer than an interior point, one of those comes between. `start`
/// (empty: 0) is clipped to the box; where the minimum is not unique, the answer depends on it.
/// Throws Error(kInvalidArgument) for malformed arguments and Error(kInterrupted) when the run is
/// stopped; everything else is a status.
[[nodiscard]] LassoSolution boxed_lasso(const LassoData& data, const LassoTerms& terms,
                                        const LassoSettings& settings = {},
                                        const RunContext& ctx = {}, const Vector& start = {});

}  // namespace kith::linear
