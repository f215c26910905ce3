// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/model/model_file.hpp"

namespace kith::detail {

/// The first rule that the record breaks, in words; empty: none.
[[nodiscard]] std::string broken_rule(const ModelRecord& record);

}  // namespace kith::detail
