// SPDX-License-Identifier: Apache-2.0
// Wu et al.'s treatment of a new sample: modify the spectrum of the training block and the new
// sample together, and take the new sample's row of the result. Not consistent: a training sample
// presented as new need not get its training row ([TR] 2.2 says so).
#pragma once

#include "kith/learn/svm/kernel_svm.hpp"

namespace kith {

/// Puts what a prediction needs into the model, whose coefficients are over the kernel.
void keep_augmented_parts(SvmModel& model, SharedWork& work);

/// Rows of the kernel of queries. O(n^2) per query for clip, flip and diffusion: the training
/// block's decomposition bordered by one row is an arrowhead matrix.
[[nodiscard]] DenseBlock augmented_rows(const SvmModel& model, const DenseBlock& rows,
                                        const VectorRef& self, const RunContext& ctx);

}  // namespace kith
