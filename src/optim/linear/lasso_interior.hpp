// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/context.hpp"
#include "kith/optim/linear/boxed_lasso.hpp"

namespace kith::linear {

/// The terms of a boxed lasso whose columns have each been divided by a number of their own.
struct ColumnTerms {
  Vector epsilon;
  Vector bound;
  Vector unit;  ///< what a violation of each variable is multiplied by to be one of the given S
};

/// Throws Error(kInvalidArgument) naming a term that is not finite and above 0.
void check(const LassoTerms& terms);
[[nodiscard]] LassoCertificate certify(const MatrixRef& S, const VectorRef& y,
                                       const ColumnTerms& terms, const VectorRef& a);

/// Multiplications of one step of `lasso_interior`, roughly.
[[nodiscard]] double interior_step_cost(const LassoData& data);

/// A point near the minimum of the boxed lasso, all its variables inside the box and none at 0.
/// Adds to `steps`, one for each Cholesky factor.
[[nodiscard]] Vector lasso_interior(const LassoData& data, const ColumnTerms& terms, long& steps,
                                    const RunContext& ctx);

}  // namespace kith::linear
