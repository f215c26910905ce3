// SPDX-License-Identifier: Apache-2.0
// Raw data instead of a matrix: --data, --measure and the settings of measures, for commands that
// measure the pairs themselves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "input_options.hpp"
#include "kith/evaluate/experiment.hpp"
#include "kith/learn/registry.hpp"
#include "kith/measure/raw_matrix.hpp"

namespace kith::app {

struct RawOptions {
  std::vector<std::string> data;      ///< FILE or name=FILE
  std::vector<std::string> measures;  ///< [name=]MEASURE[:key=value,...]
  MeasureSettings flags;              ///< what the flags say; add_raw_options checks their ranges
  const CLI::App* command = nullptr;
};
/// After add_input_options, whose flag --gamma is then the measures' as well.
void add_raw_options(CLI::App& command, RawOptions& options);

/// MEASURE[:key=value,...] of a command with one measure. Throws Error naming the rule.
void set_measure(MeasureSettings& settings, const std::string& text);

/// What the methods at hand learn from.
struct InputNeeds {
  std::string vectors;       ///< the name of a method that learns from vectors; empty: none does
  std::string similarities;  ///< of one that learns from similarities
};
void add_need(InputNeeds& needs, const Candidate& candidate);

/// Tables, raw samples or vectors, with their labels and what is to be done to the similarities.
struct LabelledInput {
  MatchedSets matrices;
  std::vector<RawMatrix> samples;     ///< not empty: `matrices` is
  std::optional<VectorData> vectors;  ///< there where a method learns from them
  Labels labels;
  InputSettings condition;
  std::vector<std::string> doubts;  ///< which were said when it was read
};
/// Throws Error naming the flag where one is absent, excludes another or would be ignored.
[[nodiscard]] LabelledInput read_labelled(const InputOptions& input, const RawOptions& raw,
                                          const InputNeeds& needs, const RunContext& ctx);

/// Tables as read or as measured, with labels where there are any.
struct TablesInput {
  MatchedSets matrices;
  std::optional<JoinedLabels> joined;
  InputSettings condition;
};
/// Of commands that need no labels. Throws as read_labelled does, and where a measure that learns
/// from labels has none.
[[nodiscard]] TablesInput read_tables(const InputOptions& input, const RawOptions& raw,
                                      const RunContext& ctx);

/// What `evaluate` and `train --method auto` compare methods on; `matrices` are those of the input.
[[nodiscard]] ExperimentData experiment_data(const LabelledInput& input, MatchedSets matrices,
                                             const InputSettings& condition, RunContext& ctx);

/// Throws Error naming a flag of how matrices are read: --data has another way.
void refuse_read_flags(const CLI::App& command);

}  // namespace kith::app
