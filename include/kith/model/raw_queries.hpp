// SPDX-License-Identifier: Apache-2.0
// New samples as raw data, measured against the samples that a model keeps.
#pragma once

#include <string>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/measure/raw_data.hpp"
#include "kith/model/query_files.hpp"

namespace kith {

/// True when the model can measure new samples itself: it was trained from raw data.
[[nodiscard]] bool takes_raw_samples(const ModelRecord& record);

/// The same chunks as QueryReader gives, out of a file of raw samples. The file is read as a whole;
/// the rows over the model's columns, which take more memory, are measured a chunk at a time.
class RawQueryReader {
 public:
  /// `record` is kept by reference. Throws Error(kInvalidArgument) unless it takes raw samples, and
  /// as read_raw does.
  RawQueryReader(const ModelRecord& record, const std::string& path, const RunContext& ctx);
  RawQueryReader(ModelRecord&&, const std::string&, const RunContext&) = delete;

  /// At most `most_rows` further queries; none at the end.
  [[nodiscard]] QueryChunk next(Index most_rows);
  /// How errors name the rows of a chunk. Views of this reader, of the chunk and of the record.
  [[nodiscard]] std::vector<QueryNames> names_of(const QueryChunk& chunk) const;

 private:
  const ModelRecord* record_;
  RunContext ctx_;
  RawData samples_;
  Index done_ = 0;
};

}  // namespace kith
