// SPDX-License-Identifier: Apache-2.0
// What a user should know of a search: a value that was chosen at the end of its grid, and a
// setting whose values all gave the same error. An evaluation keeps its notes in its store.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kith/evaluate/experiment.hpp"

namespace kith {

/// What the losses of one search say of each axis of its grid.
struct AxisFinding {
  std::string field;
  /// The value chosen, where it is the least or the largest number and better than the one beside
  /// it. The least value that the setting takes is no end, such as one neighbour; nor is a count of
  /// all samples.
  std::string end;
  /// Positions of the inputs with which every value gave the same loss, whatever the other
  /// settings.
  std::vector<std::size_t> flat;
};
/// `losses` as best_place takes them, of a method that is no committee.
[[nodiscard]] std::vector<AxisFinding> axis_findings(const Candidate& method, Index samples,
                                                     std::span<const double> losses);

/// One sentence for each setting of a method that ended at its grid's end, or changed nothing, in
/// one search; with the flag that mends it.
[[nodiscard]] std::vector<std::string> search_notes(const Candidate& method,
                                                    const ExperimentData& data,
                                                    std::span<const AxisFinding> findings);
/// Doubts about the input as a store keeps them, beside the notes on searches.
[[nodiscard]] Json notes_json(std::span<const std::string> doubts);
/// The same of an evaluation: of what ended at an end on most of the finished partitions, or
/// changed nothing on all of them. The members of a committee, on the partitions on which they took
/// part; those that are rows as well speak there. Keeps these notes and the doubts of the plan in
/// the store, in place of those that it has of the same methods, and returns the notes.
std::vector<std::string> keep_notes(const ExperimentData& data, const ExperimentPlan& plan,
                                    Store& store, std::int64_t experiment);

}  // namespace kith
