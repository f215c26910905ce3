// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/measure/raw_data.hpp"
#include "measure/other_kind.hpp"

namespace kith::detail {

/// Reads `id<TAB>string` on every line, or one string per line where no line has a tab. A string
/// may be empty in the first form only; without ids an empty line is far more often a slip, and
/// lines that are LIBSVM text or FASTA throughout are refused.
[[nodiscard]] StringData read_strings(const std::string& path, const RunContext& ctx);

/// The same of what `reading` says the lines are.
[[nodiscard]] StringData read_lines(const std::string& path, const OtherKind::Reading& reading,
                                    const RunContext& ctx);

}  // namespace kith::detail
