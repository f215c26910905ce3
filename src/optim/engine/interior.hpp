// SPDX-License-Identifier: Apache-2.0
// What the interior point methods over a box with one equation share.
#pragma once

#include "kith/core/types.hpp"

namespace kith::engine {

/// The largest t with x + t dx >= 0; infinite where nothing falls.
[[nodiscard]] double largest_step(const MatrixRef& x, const MatrixRef& dx);

/// Inside 0 <= a <= cost and on y'a = 0: each class at half of what the smaller one can carry.
[[nodiscard]] Vector box_centre(const Vector& cost, const Vector& y);

/// The Cholesky factor of H in place, lower triangle; a ridge is tried where the matrix is singular
/// to rounding. False where that does not help.
[[nodiscard]] bool factor_with_ridge(Matrix& H);

}  // namespace kith::engine
