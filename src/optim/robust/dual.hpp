// SPDX-License-Identifier: Apache-2.0
// The function that the robust machine maximises: with S = Q diag(lambda) Q', u = Y a and
// M = S + u u' / (4 rho) = V diag(d) V',
//
//   D(a) = 1'a + rho (|S|_F^2 - |M_+|_F^2),    gradient 1 - Y M_+ u,
//   Hessian -Y V [diag(d+) + (diag(p) G diag(p) + diag(G p^2)) / (4 rho)] V' Y,   p = V'u,
//   G_ij = (d_i+ - d_j+) / (d_i - d_j), 1 or 0 where equal.
//
// D is concave, once differentiable, and its gradient semismooth. M is a rank-one change of S: one
// decomposition of S serves every a and rho.
#pragma once

#include <optional>
#include <vector>

#include "kith/numerics/rank_one_update.hpp"
#include "kith/optim/robust/problem.hpp"

namespace kith::robust {

/// The matrix in brackets, in the basis V, by the signs of d: G is 1 between positive values, 0
/// between the others, so that only its corner between the two kinds has to be formed.
struct InnerCurvature {
  std::vector<Index> positive, rest;
  Vector diagonal;  ///< d+ + G p^2 / (4 rho)
  Vector Gq;        ///< G p^2
  Matrix corner;    ///< p_i G_ij p_j / (4 rho), i positive, j not
};
[[nodiscard]] InnerCurvature inner_curvature(const Vector& d, const Vector& p, double rho);
/// V [...] V' for some rows of the eigenvectors V = Q W. Of the term p p' / (4 rho) between
/// positive values `share` counts: less than 1 where d moves with u.
[[nodiscard]] Matrix outer_curvature(const MatrixRef& Q, const Matrix& W,
                                     const InnerCurvature& inner, const Vector& p, double rho,
                                     double share = 1);
/// The pairs of Q W diag(d) (Q W)' with d above `least`, ascending.
[[nodiscard]] SymmetricEigen pairs_above(const MatrixRef& Q, const Matrix& W, const Vector& d,
                                         double least);

/// What is known of D at one a and rho.
struct DualPoint {
  double rho = 1;
  /// D(a) - rho |S_-|_F^2. Formed from the rises of the eigenvalues: |S_+|^2 and |M_+|^2 can agree
  /// to sixteen digits.
  double value = 0;
  Vector Ku;        ///< M_+ u
  Vector gradient;  ///< of D
  double uKu = 0;   ///< u' M_+ u
  double distance =
      0;  ///< |M_+ - S|_F, from |K - S|^2 = |u|^4/(16 rho^2) + u'M_-u/(2 rho) + |M_-|^2
  RankOneDecomposition M;
  /// With a constraint on the distance: what rho charges for the part of the radius not used, in
  /// `value` too.
  double unused = 0;
  double rounding = 0;  ///< of `value`, beyond that of its own digits
};

/// How D bends in rho.
struct RhoCurvature {
  Vector turned;    ///< 4 rho^2 times the derivative of Ku in rho, with the sign turned
  double bend = 0;  ///< -8 rho^3 times the second derivative of D in rho: >= 0
};

/// Second derivatives of D at a point, in a and rho.
struct DualCurvature {
  Matrix H;               ///< minus the Hessian in a: positive semidefinite, both triangles
  Vector cross;           ///< derivative of the gradient in 1/rho
  double in_inverse = 0;  ///< second derivative of D in s = 1/rho: convex, >= 0
  double in_rho = 0;      ///< second derivative of D in rho: concave, <= 0
};

class Dual {
 public:
  /// Keeps references to the problem and its matrix.
  explicit Dual(const Problem& problem);

  [[nodiscard]] double negative_part() const { return negative_part_; }  ///< |S_-|_F
  [[nodiscard]] DualPoint at(const VectorRef& alpha, double rho) const;
  [[nodiscard]] DualCurvature curvature(const DualPoint& point) const;
  /// Minus the Hessian, on some samples and without Y on its two sides.
  [[nodiscard]] Matrix curvature_kernel(const DualPoint& point,
                                        const std::vector<Index>& rows) const;
  [[nodiscard]] RhoCurvature rho_curvature(const DualPoint& point) const;
  /// M_+.
  [[nodiscard]] SymmetricEigen kernel(const DualPoint& point) const;

 private:
  const Problem& problem_;
  std::optional<SymmetricEigen> own_;
  const Matrix& Q_;
  RankOneUpdater updater_;
  double negative_part_ = 0;
};

}  // namespace kith::robust
