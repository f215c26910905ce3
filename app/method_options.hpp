// SPDX-License-Identifier: Apache-2.0
// Which methods the commands that choose among methods take, and what their user should know.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "input_options.hpp"
#include "kith/evaluate/grid.hpp"
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

/// Tells a user who left open how distances become similarities, and asks for methods that go by
/// neighbours, that these are not the nearest.
void note_neighbours(const InputOptions& options, const LabelledInput& input,
                     std::span<const Candidate> candidates, const RunContext& ctx);

/// The papers whose tags, such as [TR], stand in `text`: a line each, broken at `width` columns.
[[nodiscard]] std::string legend_of(std::string_view text, int width);
/// Of the text below the options in --help.
inline constexpr int kFooterWidth = 100;

}  // namespace kith::app
