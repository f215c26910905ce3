// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// What kith calls a setting that other libraries call `word`, such as cost for C; else the word.
[[nodiscard]] std::string_view own_name(std::string_view word);

/// " (did you mean cost?)", or nothing where none of the settings there are is near.
[[nodiscard]] std::string setting_hint(std::string_view key,
                                       const std::vector<std::string>& there_are);

/// Throws Error that names the key, the closest of the settings there are, and all of them.
[[noreturn]] void refuse_setting(std::string_view subject, std::string_view key,
                                 const std::vector<std::string>& there_are);

}  // namespace kith
