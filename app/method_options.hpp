// SPDX-License-Identifier: Apache-2.0
// Which methods the commands that choose among methods take, and what their user should know.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input_options.hpp"
#include "kith/evaluate/experiment.hpp"
#include "raw_options.hpp"

namespace kith::app {

/// A list of methods, and the flag that gives it.
struct MethodsFlag {
  std::string flag;
  std::string list;  ///< as typed, or the default for one matrix
  bool given = false;
};
/// The list; `all` is every method that learns from what the flags give. Where none was typed and
/// the flags ask for several matrices, the methods that learn from several, which a message names.
[[nodiscard]] std::string methods_to_compare(const MethodsFlag& methods, const InputOptions& input,
                                             const RawOptions& raw, const RunContext& ctx);

/// The methods of that list with the grids of the protocol.
[[nodiscard]] std::vector<Candidate> candidates_for(const MethodsFlag& methods,
                                                    const InputOptions& input,
                                                    const RawOptions& raw, ProtocolName protocol,
                                                    const RunContext& ctx);

/// The settings of --set ("METHOD:key=value") or --grid ("METHOD:key=a,b"). Where the method need
/// not be named, a setting without one is that of every method.
[[nodiscard]] std::vector<SettingWish> parse_wishes(const std::string& flag,
                                                    const std::vector<std::string>& texts,
                                                    bool named = true);

/// Fills what is searched of the input, but for what the flags of the command set, and says how
/// much that is.
void resolve(const LabelledInput& input, InputSearch search, const CLI::App& command,
             ExperimentData& data, std::vector<Candidate>& candidates, RunContext& ctx);

/// The papers whose tags, such as [TR], stand in `text`: a line each, broken at `width` columns.
[[nodiscard]] std::string legend_of(std::string_view text, int width);
/// Of the text below the options in --help.
inline constexpr int kFooterWidth = 100;

}  // namespace kith::app
