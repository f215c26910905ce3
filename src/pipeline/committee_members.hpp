// SPDX-License-Identifier: Apache-2.0
// The members of a committee: in its file, and as they predict together.
#pragma once

#include <span>
#include <vector>

#include "kith/pipeline/trained_model.hpp"

namespace kith::detail {

/// Each member as the bytes of its own file, with the positions of its matrices among those of the
/// committee.
void archive_members(const std::vector<TrainedModel>& members, SavingArchive& archiver);

/// The same back. Throws Error where a member is no model of the samples and matrices of `record`.
[[nodiscard]] std::vector<TrainedModel> members_of(const ModelRecord& record,
                                                   LoadingArchive& archiver);

/// What each member of a committee takes, of rows as for `predict`.
struct MemberRows {
  QueryBlock rows;
  std::vector<QueryNames> names;
};
[[nodiscard]] std::vector<MemberRows> member_rows(const TrainedModel& model, const QueryBlock& raw,
                                                  std::span<const QueryNames> names);

/// The prediction of a committee before its priors and costs; rows as for `predict`.
[[nodiscard]] Prediction predict_together(const TrainedModel& model, const QueryBlock& raw,
                                          RunContext& ctx, std::span<const QueryNames> names);

}  // namespace kith::detail
