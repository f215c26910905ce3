// SPDX-License-Identifier: Apache-2.0
// New samples as raw data, measured against the samples that a model keeps.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/measure/raw_matrix.hpp"
#include "kith/pipeline/query_files.hpp"

namespace kith {

/// How many files of new samples the model takes: none where it was trained on matrices, one for
/// all of its matrices or of vectors, or one for each matrix.
[[nodiscard]] Index files_of_samples(const ModelRecord& record);

/// The files in the order of the matrices, or the one for all of them: by name where they have
/// names, else by position. Throws Error(kInvalidArgument) where the model takes no raw samples, or
/// others.
[[nodiscard]] std::vector<std::string> sample_files(const ModelRecord& record,
                                                    std::span<const NamedFile> files);

/// The same chunks as QueryReader gives, out of files of raw samples. They are read as a whole; the
/// rows over the model's columns, which take more memory, are measured a chunk at a time.
class RawQueryReader {
 public:
  /// `record` is kept by reference; `files` are as sample_files gives them. Samples of several
  /// files are matched by id where all have ids, else by position, in the order of the first.
  /// Throws as read_samples does.
  RawQueryReader(const ModelRecord& record, std::span<const std::string> files,
                 const RunContext& ctx);
  RawQueryReader(ModelRecord&&, std::span<const std::string>, const RunContext&) = delete;

  /// At most `most_rows` further queries; none at the end.
  [[nodiscard]] QueryChunk next(Index most_rows);
  /// How errors name the rows of a chunk. Views of this reader, of the chunk and of the record.
  [[nodiscard]] std::vector<QueryNames> names_of(const QueryChunk& chunk) const;

 private:
  const ModelRecord* record_;
  RunContext ctx_;
  std::vector<RawMatrix> matrices_;
  Index done_ = 0;
};

}  // namespace kith
