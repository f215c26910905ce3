// SPDX-License-Identifier: Apache-2.0
// The measure of a matrix in a model file: settings in the JSON of the matrix, samples as arrays
// `measure.K.*`.
#pragma once

#include <span>
#include <string>

#include "kith/core/json.hpp"
#include "kith/measure/measure_rule.hpp"
#include "kith/model/archive.hpp"
#include "kith/model/model_file.hpp"

namespace kith::detail {

/// Samples that the first matrix of `before` with samples of the same file and kind has, too, are
/// not written again.
void write_measure(ArchiveWriter& arrays, const std::string& prefix, const MeasureRule& rule,
                   std::span<const ModelMatrix> before);

/// What is known of a measure before its arrays are read.
struct MeasureEntry {
  Json settings;  ///< as relevant_settings gave them
  Index file = 0;
};
/// Samples that are not there are those of the matrix of `before` as above. Throws Error naming the
/// rule where entry or arrays break one.
[[nodiscard]] MeasureRule read_measure(ArchiveReader& arrays, const std::string& prefix,
                                       const MeasureEntry& entry, const ModelRecord& record,
                                       std::span<const ModelMatrix> before);

}  // namespace kith::detail
