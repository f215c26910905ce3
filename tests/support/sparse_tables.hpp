// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/data/block.hpp"

namespace kith::test {

/// The numbers of X that are not 0.
inline SparseBlock sparse_of(const MatrixRef& X) { return to_sparse(DenseBlock(RowMatrix(X))); }

}  // namespace kith::test
