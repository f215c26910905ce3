// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kith/core/error.hpp"
#include "kith/measure/raw_data.hpp"
#include "measure/other_kind.hpp"

namespace kith::detail {

/// What the lines of a file hold, one sample each.
struct LineKind {
  OtherKind::Reading reading;
  std::string_view sample;   ///< "set"
  std::string_view with_id;  ///< a line where it has an id: "id<TAB>words"
};
/// The lines as strings, with their ids where they have any, as read_strings has them.
[[nodiscard]] StringData read_lines(const std::string& path, const LineKind& kind,
                                    const RunContext& ctx);
[[noreturn]] void refuse_empty_line(const FilePlace& place, const LineKind& kind);

}  // namespace kith::detail
