// SPDX-License-Identifier: Apache-2.0
// Every file format similarities come in. One source file per format in src/data/formats; this is
// the only header a caller needs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kith/core/context.hpp"
#include "kith/core/settings.hpp"
#include "kith/data/similarity_set.hpp"

namespace kith {

enum class Format { kCsv, kTsv, kNpy, kMatrixMarket, kLibsvm, kPhylip, kEdges, kBlast, kMat };
constexpr auto enum_names(Format /*of*/) {
  return named("csv", "tsv", "npy", "matrix-market", "libsvm", "phylip", "edges", "blast", "mat");
}

/// What is done with a pair that an edge list or BLAST table lists more than once.
enum class Duplicates { kMax, kMean, kSum, kError };
constexpr auto enum_names(Duplicates /*of*/) { return named("max", "mean", "sum", "error"); }

struct ReadSettings {
  std::optional<Format> format;  ///< none: by content and name
  Duplicates duplicates = Duplicates::kMax;
  std::string score_column =
      "bitscore";          ///< of a BLAST table: a name of outfmt 6 or a number from 1
  std::string variable;    ///< of a .mat file; empty: the only numeric matrix
  bool transpose = false;  ///< rows and columns of a file change places
  /// Of an edge list or BLAST table: rows are the distinct first ids and columns the distinct
  /// second ones (queries x training samples), not both the same samples. Set by the task, not by
  /// users.
  bool bipartite = false;
};

inline void describe(ReadSettings& s, FieldVisitor& field) {
  field("format", s.format, "auto", "format of the files; auto: by content and name");
  field("duplicates", s.duplicates, "a pair that an edge list or BLAST table lists more than once");
  field("score-column", s.score_column,
        "column of a BLAST table: a name of outfmt 6 or a number from 1");
  field("variable", s.variable, "variable of a .mat file; empty: its only numeric matrix");
  field("transpose", s.transpose, "rows and columns of every file change places");
}

/// Reads the whole of `path` (plain, gzip or zstd). Errors name file, line, column, value and rule.
/// Missing values (empty cell, NA, NaN, ?) become NaN in a dense block; infinities are refused.
[[nodiscard]] SimilaritySet read_similarity(const std::string& path, const ReadSettings& settings,
                                            const RunContext& ctx);

/// The rows of a file one after the other, for blocks too tall for memory. csv, tsv, npy and LIBSVM
/// text are streamed; other formats are read whole and handed out row by row.
class RowReader {
 public:
  virtual ~RowReader() = default;
  [[nodiscard]] virtual Index cols() const = 0;
  [[nodiscard]] virtual std::span<const std::string> column_ids() const = 0;
  [[nodiscard]] virtual bool has_row_ids() const = 0;
  /// Fills `row` (of cols() numbers; NaN: missing) and `id` (empty without ids); false at the end.
  [[nodiscard]] virtual bool next(std::span<double> row, std::string& id) = 0;
  /// The table, where it had to be read whole: a sparse one need then never be spread out into
  /// rows.
  [[nodiscard]] virtual const SimilaritySet* whole() const { return nullptr; }
};
[[nodiscard]] std::unique_ptr<RowReader> open_rows(const std::string& path,
                                                   const ReadSettings& settings,
                                                   const RunContext& ctx);

/// Writes to a temporary name beside `path`, then renames. The format follows from `format` or from
/// the name's ending; `.gz` and `.zst` compress. Numbers are written so that they read back to the
/// same bits. csv, tsv, npy, matrix-market, libsvm and edges can be written.
/// `class_ids` are the labels column of LIBSVM text (0 where there are none).
void write_similarity(const std::string& path, std::optional<Format> format,
                      const SimilaritySet& set, std::span<const int> class_ids,
                      const RunContext& ctx);

/// The format write_similarity would write `path` as. Throws Error(kInvalidArgument) where it would
/// refuse: to be called before hours of computing.
[[nodiscard]] Format writable_format(const std::string& path, std::optional<Format> format);

/// Whether two columns of BLAST tables may hold the same score: not where both have names, and
/// these are of different columns.
[[nodiscard]] bool may_be_same_score(std::string_view column, std::string_view other);

/// Whether a file of the format has a place for the ids of its samples.
[[nodiscard]] bool keeps_ids(Format format);

/// The format `path` would be written as or is named after; nothing when the ending is not known.
[[nodiscard]] std::optional<Format> format_of_name(std::string_view path);

}  // namespace kith
