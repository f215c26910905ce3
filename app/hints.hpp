// SPDX-License-Identifier: Apache-2.0
// What a command line that cannot be run was probably meant to be, in the form to be typed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kith::app {

/// What is wrong with a command line whose first word is no command, with the command that was
/// probably meant; empty where it begins with no word.
[[nodiscard]] std::string unknown_command(const CLI::App& program,
                                          const std::vector<const char*>& arguments);
/// Of a word that is no command: " (did you mean `kith train`?)", or nothing.
[[nodiscard]] std::string command_hint(const CLI::App& program, std::string_view word);

/// What is wrong with the first argument that the command does not have, with the option that was
/// probably meant; empty where it has them all.
[[nodiscard]] std::string unexpected_argument(const CLI::App& command);

/// Throws Error where --method of a command that learns by one method names several, or all.
void check_one_method(const std::string& text);

}  // namespace kith::app
