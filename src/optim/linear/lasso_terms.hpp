// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/optim/linear/boxed_lasso.hpp"

namespace kith::linear {

/// The terms of a boxed lasso whose columns have each been divided by a number of their own.
struct ColumnTerms {
  Vector epsilon;
  Vector bound;
  Vector unit;  ///< what a violation of each variable is multiplied by to be one of the given S
};

[[nodiscard]] LassoCertificate certify(const MatrixRef& S, const VectorRef& y,
                                       const ColumnTerms& terms, const VectorRef& a);

}  // namespace kith::linear
