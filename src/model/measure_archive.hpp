// SPDX-License-Identifier: Apache-2.0
// The measure of a matrix in a model file: settings in the JSON of the matrix, samples as arrays
// `measure.K.*`.
#pragma once

#include <string>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/measure/measure_rule.hpp"
#include "kith/model/archive.hpp"

namespace kith::detail {

void write_measure(ArchiveWriter& arrays, const std::string& prefix, MeasureRule rule);

/// `settings` as relevant_settings gave them. Throws Error naming the rule where they or the arrays
/// break one.
[[nodiscard]] MeasureRule read_measure(ArchiveReader& arrays, const std::string& prefix,
                                       const Json& settings,
                                       const std::vector<std::string>& class_names);

}  // namespace kith::detail
