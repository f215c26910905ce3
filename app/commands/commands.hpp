// SPDX-License-Identifier: Apache-2.0
// One function per command; each adds its parser to the program and says what it runs.
#pragma once

#include "session.hpp"

namespace kith::app {

[[nodiscard]] Command add_inspect(CLI::App& program);
[[nodiscard]] Command add_convert(CLI::App& program);
[[nodiscard]] Command add_measure(CLI::App& program);
[[nodiscard]] Command add_methods(CLI::App& program);
[[nodiscard]] Command add_train(CLI::App& program);
[[nodiscard]] Command add_info(CLI::App& program);
[[nodiscard]] Command add_predict(CLI::App& program);
/// `command_line` is kept in the store, so that a run can be repeated.
[[nodiscard]] Command add_evaluate(CLI::App& program, const std::string& command_line);
[[nodiscard]] Command add_report(CLI::App& program);

}  // namespace kith::app
