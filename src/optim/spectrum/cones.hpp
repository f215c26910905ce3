// SPDX-License-Identifier: Apache-2.0
// The cones of a spectrum program and their Nesterov-Todd scaling. A cone vector has
//
//   lower, upper       the two sides of the box
//   head, ball         one second-order cone (head_k, ball_k) for each term of h
//   arm (three rows)   one second-order cone of dimension 3 for each eigenvalue
//
// Second-order cones Q = {(x_0, x_1) : x_0 >= |x_1|} have J = diag(1, -I) and the Jordan product
// u o v = (u'v, u_0 v_1 + v_0 u_1); the scaling is W = beta (2 v v' - J) with v'Jv = 1, and
// W z = W^-1 s.
#pragma once

#include "kith/core/types.hpp"

namespace kith::spectrum {

using Arms = Eigen::Array<double, 3, Eigen::Dynamic>;

struct ConeVector {
  Vector lower, upper;
  Vector head;
  Matrix ball;  // eigenvalues x terms
  Arms arm;     // 3 x eigenvalues

  [[nodiscard]] static ConeVector zero(Index samples, Index eigenvalues, Index terms);
  [[nodiscard]] static ConeVector unit(Index samples, Index eigenvalues, Index terms);
  [[nodiscard]] double dot(const ConeVector& other) const;
  void add(double factor, const ConeVector& other);
  [[nodiscard]] bool all_finite() const;
  /// 2 samples + terms + eigenvalues: what `dot` of unit vectors is.
  [[nodiscard]] double degree() const;
};

[[nodiscard]] ConeVector product(const ConeVector& u, const ConeVector& v);
/// x with lambda o x = r.
[[nodiscard]] ConeVector divide(const ConeVector& lambda, const ConeVector& r);
/// The largest f for which lambda + f d is in the cone; infinite where every f is.
[[nodiscard]] double longest_step(const ConeVector& lambda, const ConeVector& d);
/// The least f for which x + f unit is in the cone.
[[nodiscard]] double distance_inside(const ConeVector& x);

/// W, from interior points s and z.
struct Scaling {
  Vector lower, upper;      // sqrt(s / z)
  Vector beta, head;        // of the balls
  Matrix ball;              // v_1 of the balls
  Eigen::ArrayXd arm_beta;  // of the arms
  Arms arm;                 // v of the arms

  [[nodiscard]] static Scaling identity(Index samples, Index eigenvalues, Index terms);
  [[nodiscard]] static Scaling of(const ConeVector& s, const ConeVector& z);
  [[nodiscard]] ConeVector times(const ConeVector& x) const;    // W x
  [[nodiscard]] ConeVector inverse(const ConeVector& x) const;  // W^-1 x
};

}  // namespace kith::spectrum
