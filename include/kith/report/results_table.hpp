// SPDX-License-Identifier: Apache-2.0
// The table of an evaluation as a paper would print it.
#pragma once

#include <string>
#include <vector>

#include "kith/evaluate/results.hpp"

namespace kith {

enum class TableFormat { kText, kCsv, kMarkdown, kLatex };
constexpr auto enum_names(TableFormat /*of*/) { return named("text", "csv", "markdown", "latex"); }

struct TableStyle {
  bool unicode = true;
  bool colour = false;   ///< bold by escape codes, for terminals
  bool timings = false;  ///< a column of seconds
};

/// Methods down, data sets across; with one data set also p-values and the settings chosen most
/// often, with several also average ranks. The best group of each data set is bold (text: a star,
/// bold where `colour` allows). `csv` is long instead, a line per data set and method, with full
/// precision. Names are escaped as the format asks; control characters are shown as \n, \t,
/// \u{1b} (csv keeps them).
[[nodiscard]] std::string results_table(const std::vector<ExperimentResult>& results,
                                        TableFormat format, const TableStyle& style);

}  // namespace kith
