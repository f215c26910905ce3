// SPDX-License-Identifier: Apache-2.0
// Samples before any similarity is computed. Each kind of raw data is a plain struct with `source`,
// `ids` and `values`; a new kind is a new member of RawData and of RawKind.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/settings.hpp"
#include "kith/core/types.hpp"
#include "kith/data/block.hpp"
#include "kith/data/labels.hpp"

namespace kith {

/// One UTF-8 string per sample.
struct StringData {
  std::string source;            ///< the file, for messages and records
  std::vector<std::string> ids;  ///< empty: samples are known by position
  std::vector<std::string> values;
};

/// One vector per sample, the rows of a table. A sparse one leaves out zeros.
struct VectorData {
  std::string source;
  std::vector<std::string> ids;
  Block values;
  /// Read from a format that leaves out zeros, where the width is only that of the last position
  /// that occurs: two such files may differ in it.
  bool absent_is_zero = false;
  /// Names of the columns, where a header has them; empty: columns are known by position.
  std::vector<std::string> columns = {};
};

/// One series of numbers per sample, of any length but 0.
struct SeriesData {
  std::string source;
  std::vector<std::string> ids;
  std::vector<std::vector<double>> values;
};

/// A line of a file that holds a piece of a sequence.
struct SequenceLine {
  Index first = 0;  ///< position in the sequence of its first residue, which is column 1
  long line = 0;
};

/// One protein or DNA sequence per sample: capital letters and '*', at least one.
struct SequenceData {
  std::string source;
  std::vector<std::string> ids;
  std::vector<std::string> values;
  std::vector<std::vector<SequenceLine>> lines = {};  ///< for messages; empty: not known
};

/// One set of words per sample; the order within a set means nothing.
struct SetData {
  std::string source;
  std::vector<std::string> ids;
  std::vector<std::vector<std::string>> values;
};

/// One row of categories per sample, all of the same length. A measure that learns from labels has
/// them here; queries need none.
struct CategoryData {
  std::string source;
  std::vector<std::string> ids;
  std::vector<std::vector<std::string>> values;
  std::optional<Labels> labels = std::nullopt;
  std::vector<std::string> columns = {};  ///< names; empty: columns are known by position
};

using RawData =
    std::variant<StringData, VectorData, SeriesData, SequenceData, SetData, CategoryData>;

/// The members of RawData, in their order.
enum class RawKind { kStrings, kVectors, kSeries, kSequences, kSets, kCategories };
constexpr auto enum_names(RawKind /*of*/) {
  return named("strings", "vectors", "series", "sequences", "sets", "categories");
}
static_assert(kEnumNames<RawKind>.size() == std::variant_size_v<RawData>);

[[nodiscard]] RawKind kind_of(const RawData& data);
[[nodiscard]] Index size_of(const RawData& data);
[[nodiscard]] const std::string& source_of(const RawData& data);
/// The file without its folder and endings, which names a matrix of the samples: "words" for
/// "dir/words.tsv.gz".
[[nodiscard]] std::string name_of(const RawData& data);
[[nodiscard]] std::span<const std::string> ids_of(const RawData& data);
/// The samples at `positions`, in that order, with their ids and labels.
[[nodiscard]] RawData select(const RawData& data, std::span<const Index> positions);
/// The id of a sample in quotes, or "sample 7", counted from 1: for messages.
[[nodiscard]] std::string sample_name(std::span<const std::string> ids, Index position);

/// Reads raw data (plain, gzip or zstd). Errors name file, line, column, value and rule.
/// - strings: `id<TAB>string` on every line, or one string per line; FASTA where the name says so;
/// - vectors: a csv, tsv, npy, MatrixMarket or MATLAB table with a sample per row, LIBSVM text
///   `label index:value ...`, or IDX;
/// - series: a sample per line, numbers separated by commas, tabs or blanks, of any length; npy;
/// - sequences: FASTA;
/// - sets: `id<TAB>words` on every line, or words alone, separated by blanks;
/// - categories: a csv or tsv table of words, a sample per row.
[[nodiscard]] RawData read_raw(const std::string& path, RawKind kind, const RunContext& ctx);

}  // namespace kith
