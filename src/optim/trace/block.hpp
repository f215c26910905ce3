// SPDX-License-Identifier: Apache-2.0
// One kernel of the trace-constrained problem under a squared loss. For V = Q diag(lambda) Q',
// c > 0 and a vector w,
//
//   phi(w) = min over K >= 0, tr K = t of  c |K - V|_F^2 - 1/2 w'K w
//
// is attained at the projection of M = V + w w' / (4 c) = U diag(d) U' onto that set: eigenvalues
// k = (d - theta)_+ with sum k = t. Its gradient is -K w and its Hessian -H,
//
//   H = U [diag(k) + (diag(p) G diag(p) + diag(G p^2)) / (4c) - pa pa' / (2 c r)] U',   p = U'w,
//
// G_ij = (k_i - k_j) / (d_i - d_j) (1 or 0 where equal), pa = p on the r eigenvalues above theta, 0
// elsewhere: the robust machine's formula, and a last term for the motion of theta.
#pragma once

#include <vector>

#include "kith/core/types.hpp"
#include "kith/numerics/rank_one_update.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "optim/engine/simplex.hpp"

namespace kith::trace {

using engine::project_to_simplex;
using engine::SimplexPoint;

/// What is known of phi at one w.
struct BlockPoint {
  double c = 1;
  Vector Kw;
  double wKw = 0;
  double squares = 0;  ///< |K - V|_F^2
  Vector k;            ///< eigenvalues of K, in the order of `M` or of V
  Vector excess;       ///< d - theta
  Vector p;            ///< w in the basis of k
  RankOneDecomposition M;
};

class Block {
 public:
  /// V by its decomposition.
  Block(SymmetricEigen V, double trace);

  [[nodiscard]] BlockPoint at(const VectorRef& w, double c) const;
  [[nodiscard]] Matrix curvature(const BlockPoint& point) const;  ///< H, both triangles
  [[nodiscard]] const SymmetricEigen& V() const { return V_; }
  [[nodiscard]] double trace() const { return trace_; }
  /// Positive pairs, ascending.
  [[nodiscard]] SymmetricEigen kernel(const BlockPoint& point) const;

 private:
  SymmetricEigen V_;
  double trace_;
  RankOneUpdater updater_;
};

}  // namespace kith::trace
