// SPDX-License-Identifier: Apache-2.0
// From a point inside the optimal face of a hinge program to a vertex of it
// (optim/linear/hinge_lp).
#pragma once

#include "optim/linear/hinge_interior.hpp"

namespace kith::linear {

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
