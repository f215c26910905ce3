// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/measure/raw_data.hpp"

namespace kith::detail {

/// Reads one set per line: words separated by blanks, after `id<TAB>` on every line or on none. A
/// word that is repeated counts once. A set may be empty where there are ids.
[[nodiscard]] SetData read_sets(const std::string& path, const RunContext& ctx);

}  // namespace kith::detail
