// SPDX-License-Identifier: Apache-2.0
// The kernel that a spectrum rule makes of one matrix of a training set, from shared work.
#pragma once

#include <optional>

#include "kith/condition/spectrum.hpp"
#include "kith/learn/shared_work.hpp"

namespace kith {

/// The kernel of every sample. Rules with a decomposition share that of `work`.
[[nodiscard]] Conditioned spectrum_kernel(SharedWork& work, Spectrum spectrum,
                                          const RunContext& ctx,
                                          const std::optional<double>& beta = std::nullopt,
                                          Index which = 0);

/// Training rows as they would come in as new ones: the mean of both directions for all but square.
/// A view of what `work` holds.
[[nodiscard]] DenseBlock rows_as_new(SharedWork& work, Spectrum spectrum, Index which = 0);

/// New rows likewise.
[[nodiscard]] DenseBlock query_rows(const QueryMatrix& query, Spectrum spectrum);

}  // namespace kith
