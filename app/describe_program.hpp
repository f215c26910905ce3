// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "kith/core/json.hpp"

namespace kith::app {

/// Commands and flags as the parser knows them, for what is made from the program when it is built:
/// the manual page and the shell completions. Hidden commands and flags are left out.
[[nodiscard]] Json describe_program(const CLI::App& program);

}  // namespace kith::app
