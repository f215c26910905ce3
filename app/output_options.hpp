// SPDX-License-Identifier: Apache-2.0
// The flags of every command that writes a matrix.
#pragma once

#include <optional>
#include <string>

#include "kith/data/formats.hpp"
#include "session.hpp"

namespace kith::app {

struct OutputOptions {
  std::string path;
  std::optional<Format> format;  ///< none: by the ending of the path
};
void add_output_options(CLI::App& command, OutputOptions& options);

}  // namespace kith::app
