// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

// The negative part of a symmetric S (n x n, both triangles) where it is small, without a full
// decomposition: docs/numerics.md derives the bounds. Cost of a proof that there is none: one
// Cholesky factorisation. Of k negative eigenvalues: that, one L D L' factorisation, and about 60
// n^2 k flops.
namespace kith {

/// A bound tau such that S + tau I has a Cholesky factor in floating point where S is positive
/// semidefinite, n eps trace.
[[nodiscard]] double definiteness_margin(const MatrixRef& S);

/// Whether S + tau I has a Cholesky factor, tau the margin above. Then no eigenvalue of S is below
/// -2 tau, rounding of the factorisation included.
[[nodiscard]] bool proved_semidefinite(const MatrixRef& S, const RunContext& ctx);

/// How many eigenvalues of S are below -2 tau at least and -tau at most, tau the margin above: by
/// a Cholesky factor where there are none, else by that of P'(S + tau I)P = L D L'.
[[nodiscard]] Index count_negative(const MatrixRef& S, const RunContext& ctx);

/// N = U diag(lambda) U' with all eigenvalues of S below -floor: S - N has none.
struct NegativePart {
  Vector lambda;        ///< ascending, below 0
  Matrix U;             ///< n x k, orthonormal
  double residual = 0;  ///< ||S U - U diag(lambda)||_F
  double floor = 0;     ///< no eigenvalue of S - N is below -floor: proved by a Cholesky factor

  /// How far S - N may be from the nearest positive semidefinite matrix to S, in Frobenius norm.
  [[nodiscard]] double error() const;
};

/// Nothing where there are more than n / 40 negative eigenvalues, where n is too small for the
/// search to pay, or where the proof fails: a full decomposition is to be made then. Throws
/// kInterrupted once the stop token is raised.
enum class Accuracy {
  kOfWhole,  ///< residuals relative to ||S||_F
  kOfPart,   ///< relative to ||N||_F, where N itself is what is wanted
};
[[nodiscard]] std::optional<NegativePart> negative_part(const MatrixRef& S, const RunContext& ctx,
                                                        Accuracy accuracy = Accuracy::kOfWhole);

/// Whether a matrix of n samples with at least so many negative eigenvalues has too many of them.
[[nodiscard]] bool too_many_negative(Index n, Index negative);

}  // namespace kith
