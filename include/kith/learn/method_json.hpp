// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kith/core/json.hpp"
#include "kith/core/settings.hpp"
#include "kith/learn/registry.hpp"

namespace kith {

/// The fields of a method, and priors and costs where it has probabilities.
[[nodiscard]] std::vector<FieldInfo> all_fields(const MethodInfo& method);

/// What `kith methods --json` says of a method, and what its Python class is made from.
[[nodiscard]] Json method_json(const MethodInfo& method);

/// Settings as `method_json` lists them.
[[nodiscard]] Json fields_json(const std::vector<FieldInfo>& fields);

}  // namespace kith
