// SPDX-License-Identifier: Apache-2.0
// What a user should know of a search: a value that was chosen at the end of its grid, and a
// setting whose values all gave the same error.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kith/evaluate/experiment.hpp"

namespace kith {

/// What the losses of one search say of each axis of its grid.
struct AxisFinding {
  std::string field;
  std::string end;    ///< the value chosen, where it is the last of its side and better than inside
  bool flat = false;  ///< every value gave the same loss, whatever the other settings
};
/// `losses` as best_place takes them, of a method that is no committee.
[[nodiscard]] std::vector<AxisFinding> axis_findings(const Candidate& method, Index samples,
                                                     std::span<const double> losses);

/// One sentence for each setting that ended at its grid's end, or changed nothing, on most of the
/// finished partitions; with the flag that mends it.
[[nodiscard]] std::vector<std::string> evaluation_notes(const ExperimentData& data,
                                                        const ExperimentPlan& plan,
                                                        const Store& store,
                                                        std::int64_t experiment);
/// The same of one search.
[[nodiscard]] std::vector<std::string> search_notes(const std::string& method,
                                                    std::span<const AxisFinding> findings);

}  // namespace kith
