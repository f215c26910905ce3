// SPDX-License-Identifier: Apache-2.0
// Mehrotra's predictor-corrector method for a hinge program with few columns
// (optim/linear/hinge_lp).
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith::linear {

/// min 1'(u+v) + c'xi  s.t.  G (u-v) + y b + xi - s = 1,  u, v, xi, s >= 0: the rows of G are those
/// of F times y, on the working columns.
struct HingeBlock {
  Matrix G;
  Vector y;
  Vector c;
};

/// A primal point and a dual point: a for the rows, q = c - a, zu = 1 - G'a, zv = 1 + G'a.
struct HingeIterate {
  Vector u, v, xi, s;
  double b = 0;
  Vector a, q, zu, zv;
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

}  // namespace kith::linear
