// SPDX-License-Identifier: Apache-2.0
// What models alone and committees share: reading a file of either, and rows for a model.
#pragma once

#include <span>
#include <string>

#include "kith/pipeline/trained_model.hpp"

namespace kith::detail {

/// The model of a file that was read.
[[nodiscard]] TrainedModel with_parts(LoadedModel loaded);

/// Throws Error unless there is one matrix of new rows per training matrix.
void check_matrices(const ModelRecord& record, const QueryBlock& raw);

/// What the method of a model that is no committee takes: rows under the input rules, over the
/// columns it needs, or vectors.
[[nodiscard]] QueryBlock prepared_queries(const TrainedModel& model, QueryBlock raw,
                                          RunContext& ctx, std::span<const QueryNames> names);

}  // namespace kith::detail
