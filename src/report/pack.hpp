// SPDX-License-Identifier: Apache-2.0
// Long lists of whole numbers as a page carries them.
#pragma once

#include <span>
#include <string>

#include "kith/core/types.hpp"

namespace kith {

/// The number of letters for each value, then value + 1 in base 64 with that many, the first one
/// worth most: A to Z, a to z, 0 to 9, - and _. `unpack` of report/src/model.js reads it. Values
/// are at least -1.
[[nodiscard]] std::string packed(std::span<const Index> values);
[[nodiscard]] std::string packed(std::span<const int> values);

}  // namespace kith
