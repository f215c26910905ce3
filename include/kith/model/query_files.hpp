// SPDX-License-Identifier: Apache-2.0
// New samples from files, matched to a model's columns and read a chunk of rows at a time: a
// million queries need no million-row memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kith/data/formats.hpp"
#include "kith/model/trained_model.hpp"

namespace kith {

struct QueryFiles {
  std::vector<std::string> to_training;    ///< one per matrix: queries x training samples
  std::vector<std::string> from_training;  ///< one per matrix or none: training samples x queries
  std::string self;  ///< a number per line, or id<TAB>number; empty: not known
  PairKind kind = PairKind::kSimilarity;
  ReadSettings read;
};

/// Rows of raw queries, over the model's columns in the model's order, with their ids.
struct QueryChunk {
  std::vector<std::string> ids;  ///< positions from 1 where the file has none
  QueryBlock queries;
};

/// How errors name the rows of a chunk, one per matrix. Views of all three arguments.
[[nodiscard]] std::vector<QueryNames> names_of(const QueryFiles& files, const QueryChunk& chunk,
                                               const ModelRecord& record);

class QueryReader {
 public:
  /// Columns are matched by id where the file and the model both have ids (any order, extra ones
  /// ignored), else by position. Throws Error naming the first few ids that are absent.
  QueryReader(const ModelRecord& record, const QueryFiles& files, const RunContext& ctx);
  ~QueryReader();
  QueryReader(const QueryReader&) = delete;
  QueryReader& operator=(const QueryReader&) = delete;

  /// At most `most_rows` further queries; none at the end.
  [[nodiscard]] QueryChunk next(Index most_rows);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kith
