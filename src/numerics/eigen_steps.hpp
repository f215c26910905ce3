// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/numerics/symmetric_eigen.hpp"

namespace kith {

/// What the eigenpairs of the tridiagonal matrix may use beside their own memory.
enum class EigenWorkspace {
  kLarge,  ///< n^2 doubles: divide and conquer
  kSmall,  ///< a few n: relatively robust representations
};

/// The steps of LAPACK's dsyevd on a finite S of one row or more. Signs are left as they come.
[[nodiscard]] SymmetricEigen decompose_in_steps(Matrix S, EigenWorkspace workspace,
                                                const RunContext& ctx);

/// S = U diag(lambda) U', and U'X of some columns.
struct RotatedColumns {
  Vector lambda;
  Matrix X;
};
/// The same steps, the last of them for X in place of U: with few columns it costs next to nothing.
/// Signs are left as they come. Refuses S as symmetric_eigen does.
[[nodiscard]] RotatedColumns rotate_by_eigenvectors(Matrix S, Matrix X, const RunContext& ctx = {});

}  // namespace kith
