// SPDX-License-Identifier: Apache-2.0
#include "output_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"

namespace kith::app {
namespace {

namespace fs = std::filesystem;

/// One file, through links of either kind. A path where nothing is yet has no identity but its
/// name.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::exists(a, error) || fs::exists(b, error)) {
    return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
  }
  const fs::path first = fs::weakly_canonical(fs::absolute(a, error), error);
  const fs::path second = fs::weakly_canonical(fs::absolute(b, error), error);
  return !first.empty() && first == second;
}

constexpr std::array<std::string_view, 6> kWritable = {"csv",           "tsv",    "npy",
                                                       "matrix-market", "libsvm", "edges"};

/// A format that can be read alone is said to be one by whoever writes.
Format parse_writable(const std::string& text) {
  const auto& known = kEnumNames<Format>;
  if (std::find(known.begin(), known.end(), text) == known.end()) {
    detail::refuse_choice("--out-format", text, kWritable);
  }
  return parse_enum<Format>("--out-format", text);
}

}  // namespace

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
          [&options](const std::string& text) { options.format = parse_writable(text); },
          "format to write: csv, tsv, npy, matrix-market, libsvm, edges")
      ->type_name("NAME")
      ->default_str("by the ending of --out")
      ->group("Output");
}

void refuse_overwriting(std::span<const OutputFile> outputs, std::span<const std::string> inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [flag, path] = outputs[i];
    if (path.empty()) continue;
    for (const std::string& input : inputs) {
      if (input.empty() || !same_file(path, input)) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} {} is also an input, which it would destroy; choose another file",
                              flag, in_quotes(path)));
    }
    for (const OutputFile& other : outputs.first(i)) {
      if (other.path.empty() || !same_file(path, other.path)) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} and {} would both write {}; choose another file for one of them",
                              other.flag, flag, in_quotes(path)));
    }
  }
}

}  // namespace kith::app
