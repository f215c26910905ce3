// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kith/core/json.hpp"

namespace kith::detail {

/// JSON from a file nobody vouches for: nested at most 32 deep, no key twice in an object, and
/// a bounded number of keys in each. Throws Error(kBadInput) "`subject` is not valid JSON ...".
template <class J>
[[nodiscard]] J parse_strict(std::string_view text, const std::string& subject);
extern template nlohmann::json parse_strict(std::string_view text, const std::string& subject);
extern template Json parse_strict(std::string_view text, const std::string& subject);

/// One line of JSON that parse_strict reads back. Throws Error(kInvalidArgument) naming the subject
/// when a text in it is not UTF-8 or a limit is passed.
template <class J>
[[nodiscard]] std::string strict_text(const J& json, const std::string& subject);
extern template std::string strict_text(const nlohmann::json& json, const std::string& subject);
extern template std::string strict_text(const Json& json, const std::string& subject);

}  // namespace kith::detail
