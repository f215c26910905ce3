// SPDX-License-Identifier: Apache-2.0
// Matrices that are still to be measured: several measures of the same samples, or of several views
// of them in files of their own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/measure/measure.hpp"
#include "kith/measure/raw_data.hpp"

namespace kith {

/// A setting of the measure that a user gave.
struct GivenSetting {
  std::string field;
  std::string said;  ///< how it was asked for, which messages quote
};

struct RawMatrix {
  std::string name;  ///< of the matrix; empty: the stem of the file
  MeasureSettings measure;
  RawData samples;
  Index file = 0;  ///< which of the files of samples, counted from 0
  std::vector<GivenSetting> given{};
};

/// The samples at `positions` alone.
[[nodiscard]] RawMatrix select(const RawMatrix& matrix, std::span<const Index> positions);

/// Brings the samples of all of them to the order of the first: by id where every one has ids
/// (samples that are not in all of them: Error naming the first few), else by position.
[[nodiscard]] std::vector<RawMatrix> match_samples(std::vector<RawMatrix> matrices);

/// The ids of the samples, which are matched; empty: known by position.
[[nodiscard]] std::span<const std::string> ids_of(std::span<const RawMatrix> matrices);

/// Reads the samples of each from the file `files[file]`, as its measure needs them, names what
/// has no name after its file, and matches them, with a message where only some of the files
/// have ids. Throws as read_raw and match_samples do.
[[nodiscard]] std::vector<RawMatrix> read_samples(std::vector<RawMatrix> matrices,
                                                  std::span<const std::string> files,
                                                  const RunContext& ctx);

}  // namespace kith
