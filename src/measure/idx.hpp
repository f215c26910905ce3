// SPDX-License-Identifier: Apache-2.0
// IDX, the format of the MNIST files: two zero bytes, a type, the number of dimensions, the
// dimensions as big-endian 32-bit numbers, and the values.
#pragma once

#include <string_view>

#include "data/formats/stream.hpp"
#include "kith/measure/raw_data.hpp"

namespace kith::detail {

[[nodiscard]] bool looks_like_idx(std::string_view head);

/// The first dimension counts the samples; the others together are the features.
[[nodiscard]] VectorData read_idx(ByteSource& source, const RunContext& ctx);

}  // namespace kith::detail
