// SPDX-License-Identifier: Apache-2.0
// A hinge program with few columns (optim/linear/hinge_lp): Mehrotra's predictor-corrector method,
// and the way from its point inside the optimal face to a vertex of it.
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "optim/engine/box.hpp"

namespace kith::linear {

/// min 1'(u+v) + c'xi  s.t.  G (u-v) + y b + xi - s = 1,  u, v, xi, s >= 0: the rows of G are those
/// of F times y, on the working columns.
struct HingeBlock {
  Matrix G;
  Vector y;
  Vector c;
};

/// A primal point and a dual point, each variable with its partner: a for the rows, q = c - a,
/// zu = 1 - G'a, zv = 1 + G'a. Also a step.
struct HingeIterate {
  engine::ManyPartners<4> own;
  double b = 0;

  [[nodiscard]] const Vector& u() const { return own[0].x; }
  [[nodiscard]] const Vector& zu() const { return own[0].z; }
  [[nodiscard]] const Vector& v() const { return own[1].x; }
  [[nodiscard]] const Vector& zv() const { return own[1].z; }
  [[nodiscard]] const Vector& s() const { return own[2].x; }
  [[nodiscard]] const Vector& a() const { return own[2].z; }
  [[nodiscard]] const Vector& xi() const { return own[3].x; }
  [[nodiscard]] const Vector& q() const { return own[3].z; }
};

struct InteriorResult {
  HingeIterate best;  ///< the iterate of least gap
  double gap = 0;     ///< its relative gap, within the working columns
  long iterations = 0;
  bool stalled = false;  ///< ended by rounding, not by `tolerance`
};

/// Each step factors one positive definite matrix of order min(k + 1, n) for n rows and k columns.
[[nodiscard]] InteriorResult hinge_interior_point(const HingeBlock& block, double tolerance,
                                                  long max_iterations, const RunContext& ctx);

struct HingePoint {
  Vector p;  ///< coefficients of the working columns
  double b = 0;
  Vector a;
};

/// What an interior point near the optimum says about each column and row decides which of its
/// inequalities hold with equality on the optimal face; p then moves inside that face until no
/// direction is left, a to the nearest point that meets the equations. Nothing is promised where
/// the guess is wrong: the caller compares certificates.
[[nodiscard]] HingePoint hinge_vertex(const HingeBlock& block, const HingeIterate& inside,
                                      const RunContext& ctx);

}  // namespace kith::linear
