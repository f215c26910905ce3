// SPDX-License-Identifier: Apache-2.0
// `kith predict --labels`: how good the predictions are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/data/labels.hpp"
#include "kith/evaluate/score.hpp"
#include "kith/pipeline/query_files.hpp"
#include "session.hpp"

namespace kith::app {

/// Joins labels to queries as they come, and scores what is predicted of them.
class PredictionScore {
 public:
  /// Reads the labels; `record` is kept by reference.
  PredictionScore(const std::string& path, const ModelRecord& record);
  PredictionScore(const std::string&, ModelRecord&&) = delete;
  PredictionScore(const PredictionScore&) = delete;
  PredictionScore& operator=(const PredictionScore&) = delete;

  /// Those with labels that may be queries without any pair.
  [[nodiscard]] std::vector<std::string> expected() const;
  /// Before the first chunk: the list of pairs that the queries come from, or nothing.
  void begin(std::string_view unordered);
  void add(const QueryChunk& chunk, const Prediction& prediction, const RunContext& ctx);
  /// Of all chunks; its notes are complete but for those on the queries.
  [[nodiscard]] Score finish() const;

 private:
  [[nodiscard]] std::vector<std::string> notes_on_labels() const;

  LabelFile file_;
  const ModelRecord& record_;
  std::optional<StreamedLabels> labels_;
  Scorer scorer_;
};

/// What was predicted, in a line: "predicted 200 samples: a 120, b 80; written to FILE".
class PredictionSummary {
 public:
  explicit PredictionSummary(const std::vector<std::string>& class_names);
  void add(const Prediction& prediction);
  [[nodiscard]] std::string text(const std::string& file) const;

 private:
  const std::vector<std::string>& class_names_;
  std::vector<Index> counts_;
};

}  // namespace kith::app
