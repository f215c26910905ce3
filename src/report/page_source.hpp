// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kith {

/// Where the page has its document.
inline constexpr std::string_view kDocumentMark = "@KITH_DOCUMENT@";

/// The page that was bundled when the program was built; empty: it was built without.
[[nodiscard]] std::string_view page_source();

}  // namespace kith
