// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/measure/raw_data.hpp"

namespace kith::detail {

/// Reads a csv or tsv table of words, a sample per row. Where the first cell of the file is `id`,
/// the first line names the columns and the first column holds ids; else every line is a sample. A
/// missing value (an empty cell, ?) is a category like any other.
[[nodiscard]] CategoryData read_categories(const std::string& path, const RunContext& ctx);

}  // namespace kith::detail
