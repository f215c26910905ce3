// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kith/data/views.hpp"

namespace kith {

/// XXH64 over the numbers of every matrix, in order, over labels with their class names, ids and
/// weights. Names of matrices take no part: a renamed file is the same data. A block that is held
/// sparse differs from the same numbers held dense.
[[nodiscard]] std::uint64_t fingerprint(const TrainingSet& train);

}  // namespace kith
