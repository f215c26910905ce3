// SPDX-License-Identifier: Apache-2.0
// Cheap evidence that a matrix is not positive semidefinite, for kernels of which nothing is known.
// Finding none proves nothing: a proof is a Cholesky factorisation of the whole matrix
// (numerics/extreme_eigen), which costs more than the solution of the dual.
#pragma once

#include "kith/core/context.hpp"
#include "kith/optim/dual/symmetric_view.hpp"

namespace kith::dual {

/// Whether the block of up to 512 evenly spread samples has no Cholesky factor, with room for
/// rounding.
[[nodiscard]] bool sample_refutes(const SymmetricView& K);

/// Whether Lanczos steps find negative curvature in the block of the samples with alpha > 0, or of
/// as many of them as `work`, in rough nanoseconds of one core, allows.
[[nodiscard]] bool supports_refute(const SymmetricView& K, const VectorRef& alpha, double work,
                                   const RunContext& ctx);

}  // namespace kith::dual
