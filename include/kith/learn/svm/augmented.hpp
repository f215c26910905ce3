// SPDX-License-Identifier: Apache-2.0
// Wu et al.'s treatment of a new sample: modify the spectrum of the training block and the new
// sample together, and take the new sample's row of the result. Not consistent: a training sample
// presented as new need not get its training row ([TR] 2.2 says so).
#pragma once

#include "kith/learn/svm/kernel_svm.hpp"

namespace kith {

/// What a model keeps for it. `coefficients` are over the kernel, samples x pairs.
[[nodiscard]] AugmentedParts augmented_parts(Spectrum spectrum, const Matrix& coefficients,
                                             SharedWork& work);

/// Decision values without intercepts. O(n^2) per query for clip, flip and diffusion: the training
/// block's decomposition bordered by one row is an arrowhead matrix.
[[nodiscard]] Matrix augmented_decisions(const SvmModel& model,
                                         const Eigen::Ref<const RowMatrix>& rows,
                                         const VectorRef& self, RunContext& ctx);

}  // namespace kith
