// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/spectrum_kernel.hpp"

#include "kith/core/error.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

namespace {

/// With the shift known before S is copied: its search needs as much memory as the copy.
Conditioned shift_of(SharedWork& work, double shift, Index which) {
  return shifted_kernel(work.symmetric(which), shift);
}

}  // namespace

Conditioned spectrum_kernel(SharedWork& work, Spectrum spectrum, const RunContext& ctx,
                            const std::optional<double>& beta, Index which) {
  switch (spectrum) {
    case Spectrum::kNone:
      return {.kernel = work.symmetric(which), .transform = Unchanged{}};
    case Spectrum::kShift:
      return shift_of(work, work.shift(ctx, which), which);
    case Spectrum::kSquare:
      return squared_kernel(work.dense(which));
    case Spectrum::kClip:
    case Spectrum::kFlip:
      if (const SharedNegativePart& part = work.negative_part(ctx, which)) {
        return corrected_kernel(spectrum, work.symmetric(which), part);
      }
      if (const SharedNegativePart& part = work.positive_part(ctx, which)) {
        return positive_kernel(spectrum, work.symmetric(which), part);
      }
      [[fallthrough]];
    case Spectrum::kDiffusion: {
      const SharedDecomposition eigen = work.eigen(ctx, which);
      return spectral_kernel(spectrum, work.symmetric(which), eigen,
                             diffusion_beta(beta, eigen->lambda));
    }
  }
  throw Error(ErrorCode::kInternal, "a spectrum rule without a kernel");
}

DenseBlock rows_as_new(SharedWork& work, Spectrum spectrum, Index which) {
  if (spectrum == Spectrum::kSquare) return work.dense(which);
  const Eigen::Map<const Matrix> S = work.symmetric(which);
  return DenseBlock(S.data(), S.rows(), S.cols(), nullptr);
}

DenseBlock query_rows(const QueryMatrix& query, Spectrum spectrum) {
  return spectrum == Spectrum::kSquare ? to_dense(query.to_training) : mean_rows(query);
}

}  // namespace kith
