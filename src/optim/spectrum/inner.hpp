// SPDX-License-Identifier: Apache-2.0
// (D) of spectrum/program.hpp for a given alpha. Its best p is a closed form, so that (D) is
//
//   max_alpha  1'alpha + Psi(G(alpha)),   Psi(G) = min_{t >= 0} gamma h(t) - t'G,
//
// over the alpha with |D^-1 G| <= m gamma, m the number of terms of h. Psi is concave and falls in
// G. All values are without the offset, which would swallow their digits for large gamma.
#pragma once

#include "optim/spectrum/terms.hpp"

namespace kith::spectrum {

/// |D^-1 G| / (m gamma): alpha is admissible up to 1, and G falls with the square of alpha.
[[nodiscard]] double inner_size(const Program& program, const Terms& terms, const Vector& G);

/// Psi(G) - offset for admissible G.
[[nodiscard]] double inner_value(const Program& program, const Terms& terms, const Vector& G);

/// Whether Psi has a slope and a curvature inside: `both` and `similarity` of an indefinite matrix.
/// Else it is linear, and only the bound on G is left of h.
[[nodiscard]] bool inner_is_curved(const Program& program, const Terms& terms);

/// dPsi/dG = -t and dt/dG = diag(diagonal) + V C V', where Psi is curved and inner_size < 1.
struct InnerSlope {
  Vector t;
  Vector diagonal;
  Matrix V, C;
};
[[nodiscard]] InnerSlope inner_slope(const Program& program, const Terms& terms, const Vector& G);

/// gamma h(t) - offset for t >= 0.
[[nodiscard]] double penalty(const Program& program, const Terms& terms, const Vector& t);

}  // namespace kith::spectrum
