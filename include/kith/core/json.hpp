// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace kith {

/// Keeps the order in which keys were written: the same result gives the same bytes.
using Json = nlohmann::ordered_json;

}  // namespace kith
