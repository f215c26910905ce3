// SPDX-License-Identifier: Apache-2.0
// A kernel from an indefinite similarity matrix, together with what has to be done to new rows
// ([TR] 2.1-2.2, [CGR] 2; [CY] 1 for diffusion). With S = U diag(lambda) U' and a new row s:
//
//             kernel                    new row
//   none      S                         s
//   clip      U max(lambda, 0) U'       U diag(1[lambda > 0]) U' s
//   flip      U |lambda| U'             U diag(sgn lambda) U' s
//   shift     S + |min(lambda_min,0)| I s
//   square    S S' (S as it is)         S s
//   diffusion exp(beta S)               U diag(exp(beta lambda) / lambda) U' s
//
// A matrix that is proved to be positive semidefinite is its own clip and flip, and new rows are
// used as they are. Where few eigenvalues are negative, they alone are computed
// (numerics/negative_part): with U theirs, new rows become s - U U's (clip) or s - 2 U U's (flip).
// Where few are positive, they are: U U's (clip) or 2 U U's - s (flip).
//
// Else |lambda| <= n eps max|lambda| counts as zero and has multiplier 0: [TR]'s printed indicator
// 1[lambda >= 0] contradicts its own Proposition 1, whose proof drops zeros. Diffusion divides by
// lambda, so there the cut is 1e-3 max|lambda|; what is cut is in the kernel but no row can show
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "kith/condition/symmetric_matrix.hpp"
#include "kith/core/context.hpp"
#include "kith/core/settings.hpp"
#include "kith/data/block.hpp"
#include "kith/numerics/negative_part.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith {

enum class Spectrum { kNone, kClip, kFlip, kShift, kSquare, kDiffusion };
constexpr auto enum_names(Spectrum /*of*/) {
  return named("none", "clip", "flip", "shift", "square", "diffusion");
}
constexpr auto enum_aliases(Spectrum /*of*/) { return std::array{Alias{"denoise", "clip"}}; }

/// Made once per training block, used by every kernel and transform that needs it.
using SharedDecomposition = std::shared_ptr<const SymmetricEigen>;

/// The few negative eigenpairs, likewise.
using SharedNegativePart = std::shared_ptr<const NegativePart>;

/// New rows are used as they are.
struct Unchanged {};
/// s becomes keep s - times U U's, U the negative eigenvectors of S or of -S.
struct Correction {
  SharedNegativePart part;
  double keep = 1;
  double times = 1;
};
/// s becomes U diag(multipliers) U' s.
struct SpectralMap {
  SharedDecomposition eigen;
  Vector multipliers;
};
/// s becomes S s: entry j is the product of s with row j of S.
struct SquareMap {
  DenseBlock S;
};
using TestTransform = std::variant<Unchanged, Correction, SpectralMap, SquareMap>;

/// How a kernel was made, and with that what is proved of it.
enum class KernelWay {
  kAsGiven,        ///< nothing was done to the matrix
  kSemidefinite,   ///< nothing had to be done: a Cholesky factor proves it
  kNegativePairs,  ///< by the few negative eigenpairs, proved to be all
  kPositivePairs,  ///< by the few positive ones, likewise
  kDecomposition,  ///< by all eigenpairs
  kShift,          ///< by a bound of the least eigenvalue
  kProduct,        ///< by a product of matrices
};
constexpr auto enum_names(KernelWay /*of*/) {
  return named("as-given", "semidefinite", "negative-pairs", "positive-pairs", "decomposition",
               "shift", "product");
}
struct KernelOrigin {
  KernelWay way = KernelWay::kAsGiven;
  Index pairs = 0;   ///< of kNegativePairs and kPositivePairs
  double error = 0;  ///< at most, of the kernel, relative to its Frobenius norm; 0: rounding
};

/// A symmetric training kernel and the treatment of new rows that belongs to it.
struct Conditioned {
  SymmetricMatrix kernel;
  TestTransform transform;
  KernelOrigin origin{};
};
/// In one sentence: how the kernel of n samples was made and what is proved.
[[nodiscard]] std::string in_words(const KernelOrigin& origin, Spectrum spectrum, Index n);

/// True for clip, flip and diffusion; shift needs lambda_min alone.
[[nodiscard]] bool needs_decomposition(Spectrum spectrum);
/// True for clip and flip: what the negative pairs alone determine.
[[nodiscard]] bool needs_negative_part(Spectrum spectrum);

/// The beta of exp(beta S): the given one, or 1 / max|lambda|, the scale at which it neither
/// overflows nor flattens out.
[[nodiscard]] double diffusion_beta(const std::optional<double>& given, const VectorRef& lambda);

/// Multipliers of the test rule, one per eigenvalue; 0 where it counts as zero or is cut. Ones for
/// none and shift, the eigenvalues themselves for square.
[[nodiscard]] Vector test_multipliers(Spectrum spectrum, const VectorRef& lambda, double beta = 1);

/// clip, flip and diffusion of S, both triangles of which hold it, with its decomposition. Moved
/// in, S's memory becomes the kernel. Throws Error where exp(beta lambda) overflows.
[[nodiscard]] Conditioned spectral_kernel(Spectrum spectrum, Matrix S, SharedDecomposition eigen,
                                          double beta = 1);
/// clip and flip of S by its few negative eigenpairs; without any, S itself.
[[nodiscard]] Conditioned corrected_kernel(Spectrum spectrum, const SymmetricMatrix& S,
                                           SharedNegativePart part);
/// The same by its few positive eigenpairs, `part` that of -S.
[[nodiscard]] Conditioned positive_kernel(Spectrum spectrum, const SymmetricMatrix& S,
                                          SharedNegativePart part);
/// S + shift I with shift >= 0, which numerics/extreme_eigen finds without a decomposition.
[[nodiscard]] Conditioned shifted_kernel(Matrix S, double shift);
/// Eigenvalues up to this part of the largest magnitude count as zero where a shift is mapped.
/// Numbers written with five digits leave eigenvalues of a millionth of the largest, which are
/// noise and would rule the answer; eigenvalues of real rank are larger.
inline constexpr double kShiftMapCut = 1e-5;
/// The rule that is consistent with a shift where linear (new rows as they are) is not: a training
/// row comes out as its row of S + shift I, but for what is cut. It divides by eigenvalues, so that
/// small ones rule it.
[[nodiscard]] SpectralMap shift_map(SharedDecomposition eigen, double shift);
/// How much of new samples depends on where that cut is, in [0, 1]: one sample in ten counts as new
/// (64 at most), and its row, mapped by the shift of the others, has a squared length in the
/// feature space of their kernel, sum_j (lambda_j + shift) (u_j's)^2 / lambda_j^2. This is the
/// share of the terms whose eigenvalues are within a factor of ten of the cut, over all of these
/// samples. One decomposition. 0 for matrices that need no shift.
[[nodiscard]] double share_near_cut(const MatrixRef& S, const RunContext& ctx);
/// S S', whatever the width of S.
[[nodiscard]] Conditioned squared_kernel(DenseBlock S);

/// Everything at once from a training block, decomposing only where that is needed. The mean of
/// both directions is taken for all but square. Without a beta, that of diffusion_beta.
[[nodiscard]] Conditioned condition_kernel(Spectrum spectrum, const DenseBlock& block,
                                           const RunContext& ctx,
                                           const std::optional<double>& beta = std::nullopt);

/// Coefficients on raw rows from coefficients on the kernel: for every row s,
/// s' fold(t, c) = transform(s)' c. One column per classifier.
[[nodiscard]] Matrix fold(const TestTransform& transform, const MatrixRef& coefficients);

/// Every row as the kernel would see it: queries x training samples.
[[nodiscard]] RowMatrix transform_rows(const TestTransform& transform, RowMatrix rows);

/// max_i ||transform(s_i) - K_i|| / ||K_i|| over the rows s_i of the training block: how far a
/// training sample presented as new is from its row of the kernel, to whose diagonal `shift` is
/// added. Over at most `most_rows` rows, evenly spread: all of them cost O(n^3).
[[nodiscard]] double consistency(const Conditioned& conditioned, const DenseBlock& rows,
                                 double shift = 0, Index most_rows = 64);

}  // namespace kith
