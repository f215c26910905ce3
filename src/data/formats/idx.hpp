// SPDX-License-Identifier: Apache-2.0
// IDX, the format of the MNIST files: two zero bytes, a type, the number of dimensions, the
// dimensions as big-endian 32-bit numbers, and the values.
#pragma once

#include <string_view>

#include "data/formats/stream.hpp"
#include "kith/core/context.hpp"
#include "kith/core/types.hpp"

namespace kith::detail {

[[nodiscard]] bool looks_like_idx(std::string_view head);

/// A row per sample: the first dimension counts them; the others together are the columns.
[[nodiscard]] RowMatrix read_idx(ByteSource& source, const RunContext& ctx);

}  // namespace kith::detail
