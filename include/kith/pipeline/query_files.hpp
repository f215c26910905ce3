// SPDX-License-Identifier: Apache-2.0
// New samples from files, matched to a model's columns and read a chunk of rows at a time: a
// million queries need no million-row memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/data/formats.hpp"
#include "kith/pipeline/trained_model.hpp"

namespace kith {

/// The files of new samples for one matrix of a model.
struct QueryFile {
  std::string to_training;    ///< queries x training samples
  std::string from_training;  ///< training samples x queries; empty: the directions are the same
  std::string self;           ///< a number per line, or id<TAB>number; empty: not known
  PairKind kind = PairKind::kSimilarity;
  /// Of a BLAST table, the column that was asked for; empty: the one of training.
  std::string score_column{};
};

struct QueryFiles {
  std::vector<QueryFile> matrices;  ///< one per matrix of the model, in its order
  ReadSettings read;
  /// Ids of queries that a list of pairs need not mention: one without any pair is then a row
  /// without values. Nothing to files of other formats, whose rows are the queries.
  std::vector<std::string> expected{};
};

/// A file as a user gave it: for the matrix of that name, or for none in particular.
struct NamedFile {
  std::string name;
  std::string path;
};

/// For each matrix of the model, the position in `files` of the one that is for it, or -1. By name
/// where the files have names; where none has, there must be one per matrix, in its order. `source`
/// is what errors call them, mentions among it: an unknown name, two files of one name, names for
/// some alone, another number.
[[nodiscard]] std::vector<Index> files_by_matrix(const ModelRecord& record,
                                                 std::span<const NamedFile> files,
                                                 std::string_view source);

/// Rows of raw queries, over the model's columns in the model's order, with their ids.
struct QueryChunk {
  std::vector<std::string> ids;  ///< positions from 1 where the file has none
  QueryBlock queries;
  bool numbered = false;  ///< the ids are such positions
};

/// The rows in which no matrix has a value, to or from a training sample that the model needs:
/// nothing is known of these queries.
[[nodiscard]] std::vector<Index> queries_without_pairs(const QueryBlock& queries);

/// How errors name the rows of a chunk, one per matrix. Views of all three arguments.
[[nodiscard]] std::vector<QueryNames> names_of(const QueryFiles& files, const QueryChunk& chunk,
                                               const ModelRecord& record);

/// What is said of them, by their names; there is one at least.
[[nodiscard]] std::string note_without_pairs(std::span<const std::string> names, Index queries);

/// Those of `ids`, say of a file of labels, that may be queries: no training sample has them. None
/// where the model does not know the ids of its training samples.
[[nodiscard]] std::vector<std::string> possible_queries(const ModelRecord& record,
                                                        std::span<const std::string> ids);

class QueryReader {
 public:
  /// Columns are matched by id where the file and the model both have ids (any order, extra ones
  /// ignored), else by position; the queries of several matrices likewise, in the order of the
  /// first file that has one. Every file must hold the same ones. In a list of pairs a query that
  /// another file or `files.expected` has is a row without values. Throws Error naming the first
  /// few ids that are absent.
  QueryReader(const ModelRecord& record, const QueryFiles& files, const RunContext& ctx);
  ~QueryReader();
  QueryReader(const QueryReader&) = delete;
  QueryReader& operator=(const QueryReader&) = delete;

  /// At most `most_rows` further queries; none at the end.
  [[nodiscard]] QueryChunk next(Index most_rows);
  /// The file that the queries come from where it is a list of pairs, whose rows have no order;
  /// else empty.
  [[nodiscard]] std::string_view unordered() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kith
