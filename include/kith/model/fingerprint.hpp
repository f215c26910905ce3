// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kith/data/views.hpp"
#include "kith/measure/raw_data.hpp"

namespace kith {

/// XXH64 over the numbers of every matrix, in order, over labels with their class names, ids and
/// weights. Names of matrices take no part: a renamed file is the same data. A block that is held
/// sparse differs from the same numbers held dense.
[[nodiscard]] std::uint64_t fingerprint(const TrainingSet& train);

/// XXH64 over the kind of the samples, their values and ids. Labels that a measure learns from take
/// no part.
[[nodiscard]] std::uint64_t fingerprint(const RawData& samples);

}  // namespace kith
