// SPDX-License-Identifier: Apache-2.0
// Where `kith predict` puts its predictions, and in which form.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kith/data/atomic_file.hpp"
#include "kith/pipeline/explanation.hpp"
#include "kith/pipeline/query_files.hpp"

namespace kith::app {

/// A file under a temporary name until all is well, or standard output where there is no path.
class PredictionOutput {
 public:
  explicit PredictionOutput(const std::string& path);
  void write(std::string_view text);
  void commit();

 private:
  std::unique_ptr<AtomicFile> file_;
};

/// What a chunk of queries is told; no explanations where none were asked for.
using Answers = ExplainedPrediction;

class PredictionWriter {
 public:
  virtual ~PredictionWriter() = default;
  virtual void chunk(const QueryChunk& chunk, const Answers& answers) = 0;
  /// After the last chunk; `score` is for the end of a document that has one, else null.
  virtual void finish(const Json& score) = 0;
};

/// One JSON document, written as it grows, or a table. `record` is kept by reference; `explain` is
/// how many training samples are named for each prediction.
[[nodiscard]] std::unique_ptr<PredictionWriter> make_writer(bool json, PredictionOutput& out,
                                                            const ModelRecord& record,
                                                            Index explain);

}  // namespace kith::app
