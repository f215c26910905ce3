// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/context.hpp"
#include "optim/linear/lasso_terms.hpp"

namespace kith::linear {

/// Multiplications of one step of `lasso_interior`, roughly.
[[nodiscard]] double interior_step_cost(const LassoData& data);

/// A point near the minimum of the boxed lasso, all its variables inside the box and none at 0.
/// Adds to `steps`, one for each Cholesky factor.
[[nodiscard]] Vector lasso_interior(const LassoData& data, const ColumnTerms& terms, long& steps,
                                    const RunContext& ctx);

}  // namespace kith::linear
