// SPDX-License-Identifier: Apache-2.0
// Raw data instead of a matrix: --data, --measure and the settings of measures, for commands that
// measure the pairs themselves.
#pragma once

#include <string>
#include <vector>

#include "input_options.hpp"
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

/// Either tables or raw samples, with their labels and what is to be done to the similarities.
struct LabelledInput {
  MatchedSets matrices;
  std::vector<RawMatrix> samples;  ///< not empty: `matrices` is
  Labels labels;
  InputSettings condition;
};
/// Throws Error naming the flag where one is absent, excludes another or would be ignored.
[[nodiscard]] LabelledInput read_labelled(const InputOptions& input, const RawOptions& raw,
                                          const RunContext& ctx);

/// Throws Error naming a flag of how matrices are read: --data has another way.
void refuse_read_flags(const CLI::App& command);

}  // namespace kith::app
