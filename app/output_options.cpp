// SPDX-License-Identifier: Apache-2.0
#include "output_options.hpp"

namespace kith::app {

void add_output_options(CLI::App& command, OutputOptions& options) {
  command
      .add_option("--out", options.path,
                  "file to write; its ending names the format (.gz, .zst compress)")
      ->required()
      ->type_name("FILE")
      ->group("Output");
  command
      .add_option_function<std::string>(
          "--out-format",
          [&options](const std::string& text) {
            options.format = parse_enum<Format>("--out-format", text);
          },
          "format to write: csv, tsv, npy, matrix-market, libsvm, edges")
      ->type_name("NAME")
      ->default_str("by the ending of --out")
      ->group("Output");
}

}  // namespace kith::app
