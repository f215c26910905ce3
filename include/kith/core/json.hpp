// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "kith/core/types.hpp"

namespace kith {

/// Keeps the order in which keys were written: the same result gives the same bytes.
using Json = nlohmann::ordered_json;

/// A number; null where it is not finite, for which JSON has no word.
[[nodiscard]] Json real(double value);
/// A list of them.
[[nodiscard]] Json real(const Vector& values);

}  // namespace kith
