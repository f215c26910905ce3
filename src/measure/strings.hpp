// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kith/core/error.hpp"
#include "kith/measure/raw_data.hpp"
#include "measure/other_kind.hpp"

namespace kith::detail {

/// Reads `id<TAB>string` on every line, or one string per line where no line has a tab. A string
/// may be empty in the first form only; without ids an empty line is far more often a slip, and
/// lines that are LIBSVM text or FASTA throughout are refused.
[[nodiscard]] StringData read_strings(const std::string& path, const RunContext& ctx);

/// What lines hold in place of strings.
struct LineKind {
  OtherKind::Reading reading;
  std::string_view sample;   ///< "set"
  std::string_view with_id;  ///< a line where it has an id: "id<TAB>words"
};
/// The same of lines of that kind.
[[nodiscard]] StringData read_lines(const std::string& path, const LineKind& kind,
                                    const RunContext& ctx);
[[noreturn]] void refuse_empty_line(const FilePlace& place, const LineKind& kind);

}  // namespace kith::detail
