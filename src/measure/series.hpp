// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/measure/raw_data.hpp"

namespace kith::detail {

/// Reads one series per line: numbers separated by commas, tabs or blanks, of any length; a first
/// cell of text on every line is the id. Missing cells (empty, NA, NaN, ?) at the end of a line are
/// padding and left out; anywhere else they are refused. An npy table is a series per row.
[[nodiscard]] SeriesData read_series(const std::string& path, const RunContext& ctx);

}  // namespace kith::detail
