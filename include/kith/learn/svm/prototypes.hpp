// SPDX-License-Identifier: Apache-2.0
// Similarities as features ([TR] 3): a sample is the vector of its similarities to training
// samples, all of them or a random few, the prototypes ([TR] 3.1).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/data/views.hpp"

namespace kith {

/// Positions of `count` random training samples, ascending; all of them where there is no count or
/// there are no more. A smaller count takes a subset of what a larger one takes.
[[nodiscard]] std::vector<Index> choose_prototypes(std::optional<Index> count, Index samples,
                                                   const RunContext& ctx);

/// Those columns of a block. Nothing is copied where they are all of its columns.
[[nodiscard]] DenseBlock columns_of(const DenseBlock& block, std::span<const Index> columns);

/// The columns of rows that have all `samples` training columns, or just `columns`, in that order.
/// Throws Error otherwise.
[[nodiscard]] DenseBlock needed_of(const DenseBlock& rows, Index samples,
                                   std::span<const Index> columns);

}  // namespace kith
