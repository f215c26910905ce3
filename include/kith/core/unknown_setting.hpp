// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// Throws Error that names the key, the closest of the settings there are, and all of them.
[[noreturn]] void refuse_setting(std::string_view subject, std::string_view key,
                                 const std::vector<std::string>& there_are);

}  // namespace kith
