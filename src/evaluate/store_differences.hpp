// SPDX-License-Identifier: Apache-2.0
// What tells two records apart, in words for the user.
#pragma once

#include <string>
#include <vector>

#include "kith/evaluate/store.hpp"

namespace kith::detail {

/// "folds is 10 in the store and 5 now", one text per key; the order of keys does not matter, and a
/// number equals itself however it is written.
[[nodiscard]] std::vector<std::string> json_differences(const Json& stored, const Json& now);

/// Of data, labels, ids, protocol, input and partitions. Empty: results may be shared.
[[nodiscard]] std::vector<std::string> differences(const ExperimentRecord& stored,
                                                   const ExperimentRecord& now);
[[nodiscard]] std::vector<std::string> differences(const CandidateRecord& stored,
                                                   const CandidateRecord& now);

}  // namespace kith::detail
