// SPDX-License-Identifier: Apache-2.0
// What the texts for a terminal are made of.
#pragma once

#include <string>

#include "kith/report/inspection.hpp"

namespace kith {

/// "12.34 %" of a share of 0.1234.
[[nodiscard]] std::string percent(double share);

/// A line above a section, after a blank one.
[[nodiscard]] std::string heading(const std::string& text, const TextStyle& style);

/// "  name     value" lines that line up.
[[nodiscard]] std::string fact(const std::string& name, const std::string& value,
                               const TextStyle& style);

}  // namespace kith
