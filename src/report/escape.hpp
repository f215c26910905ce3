// SPDX-License-Identifier: Apache-2.0
// Names that users gave, made safe for the formats tables are written in.
#pragma once

#include <string>
#include <string_view>

namespace kith {

/// Control characters, marks that reorder or break lines, and bytes that are not UTF-8 become
/// visible: \n, \t, \u{202e}, \xff.
[[nodiscard]] std::string visible(std::string_view text);

/// visible(), and a backslash of the name itself is doubled, so that no two names look the same.
[[nodiscard]] std::string escape_text(std::string_view text);
/// RFC 4180: in quotes where it must be, quotes doubled.
[[nodiscard]] std::string escape_csv(std::string_view text);
/// Every ASCII mark that CommonMark or its tables could read as markup gets a backslash.
[[nodiscard]] std::string escape_markdown(std::string_view text);
[[nodiscard]] std::string escape_latex(std::string_view text);

}  // namespace kith
