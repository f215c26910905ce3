// SPDX-License-Identifier: Apache-2.0
// The flags of every command that writes a matrix, and what no output of any command may be.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "kith/data/formats.hpp"
#include "session.hpp"

namespace kith::app {

struct OutputOptions {
  std::string path;
  std::optional<Format> format;  ///< none: by the ending of the path
};
void add_output_options(CLI::App& command, OutputOptions& options);

/// A file that a command will write, as its flag names it; an empty path names none.
struct OutputFile {
  std::string flag;
  std::string path;
};
/// Throws Error where an output is also an input or another output, by whatever name: one would
/// destroy the other. Devices and pipes may be both.
void refuse_overwriting(std::span<const OutputFile> outputs, std::span<const std::string> inputs);

}  // namespace kith::app
