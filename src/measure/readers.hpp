// SPDX-License-Identifier: Apache-2.0
// A reader for each kind of raw data. Each throws Error naming file, line, column, value and rule.
#pragma once

#include <string>

#include "kith/measure/raw_data.hpp"

namespace kith::detail {

/// Reads `id<TAB>string` on every line, or one string per line where no line has a tab. A string
/// may be empty in the first form only; without ids an empty line is far more often a slip, and
/// lines that are LIBSVM text or FASTA throughout are refused.
[[nodiscard]] StringData read_strings(const std::string& path, const RunContext& ctx);

/// Reads one vector per row: a table in csv, tsv, npy, MatrixMarket or MATLAB format (a first
/// column of text is the ids, a first row of text the names of the features), LIBSVM text
/// `label index:value ...`, whose labels are ignored and whose absent positions are 0, or IDX.
[[nodiscard]] VectorData read_vectors(const std::string& path, const RunContext& ctx);
/// The same of a table, where a number that is missing is NaN.
[[nodiscard]] VectorData read_table(const std::string& path, const RunContext& ctx);

/// Reads one series per line: numbers separated by commas, tabs or blanks, of any length; a first
/// cell of text on every line is the id. Missing cells (empty, NA, NaN, ?) at the end of a line are
/// padding and left out; anywhere else they are refused. An npy table is a series per row.
[[nodiscard]] SeriesData read_series(const std::string& path, const RunContext& ctx);

/// Reads FASTA: `>id description`, then lines of letters and asterisks. Lower case becomes upper
/// case. Refuses empty and repeated ids, empty sequences, gaps and whatever is no letter.
[[nodiscard]] SequenceData read_fasta(const std::string& path, const RunContext& ctx);

/// Reads one set per line: words separated by blanks, after `id<TAB>` on every line or on none. A
/// word that is repeated counts once. A set may be empty where there are ids.
[[nodiscard]] SetData read_sets(const std::string& path, const RunContext& ctx);

/// Reads a csv or tsv table of words, a sample per row. Where the first cell of the file is `id`,
/// the first line names the columns and the first column holds ids; else every line is a sample. A
/// missing value (an empty cell, ?) is a category like any other.
[[nodiscard]] CategoryData read_categories(const std::string& path, const RunContext& ctx);

}  // namespace kith::detail
