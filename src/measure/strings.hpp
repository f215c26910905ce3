// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/measure/raw_data.hpp"

namespace kith::detail {

/// Reads `id<TAB>string` on every line, or one string per line where no line has a tab. A string
/// may be empty in the first form only; without ids an empty line is far more often a slip.
[[nodiscard]] StringData read_strings(const std::string& path, const RunContext& ctx);

}  // namespace kith::detail
