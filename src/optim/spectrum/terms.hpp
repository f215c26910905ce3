// SPDX-License-Identifier: Apache-2.0
// The numbers of a spectrum program over the eigenvalues that do not count as zero.
#pragma once

#include <vector>

#include "kith/optim/spectrum/program.hpp"

namespace kith::spectrum {

struct Terms {
  std::vector<Index> active;  ///< positions of the eigenvalues that take part
  Vector magnitude;           ///< |lambda|
  Vector sign;
  Matrix centres;  ///< t_k, active x terms of h
  Vector weight;   ///< diagonal of D
  double offset = 0;
};
[[nodiscard]] Terms terms_of(const Program& program);

/// w over the active eigenvalues.
[[nodiscard]] Vector rotated(const Program& program, const Terms& terms, const VectorRef& alpha);
/// The point of (P) with multipliers t and z over the active eigenvalues.
[[nodiscard]] Point point_of(const Program& program, const Terms& terms, const Vector& alpha,
                             const Vector& t, const Vector& z, double b);
/// G.
[[nodiscard]] Vector curvature(const Program& program, const Terms& terms, const Vector& w);
}  // namespace kith::spectrum
