// SPDX-License-Identifier: Apache-2.0
// Samples that belong together, such as homologous sequences or repeated measurements of one
// person: no split puts samples of one group on both sides.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kith/core/types.hpp"

namespace kith {

struct Labels;

struct Groups {
  /// The group 0 .. of each sample; empty: there are no groups, every sample stands for itself.
  std::vector<int> ids;
  std::vector<std::string> names;  ///< that users gave, by group

  [[nodiscard]] bool empty() const { return ids.empty(); }
  [[nodiscard]] const std::string& name_of(Index sample) const {
    return names[static_cast<std::size_t>(ids[static_cast<std::size_t>(sample)])];
  }
};

/// Groups are numbered as classes are, in natural order of their names.
[[nodiscard]] Groups make_groups(std::span<const std::string> per_sample);
/// The groups of `samples`, in that order, over the same names.
[[nodiscard]] Groups select(const Groups& groups, std::span<const Index> samples);

/// How many different groups there are.
[[nodiscard]] Index count_groups(std::span<const int> groups);
/// Whether two samples are of one group. Groups of a single sample each change nothing: whatever is
/// drawn is drawn as without groups.
[[nodiscard]] bool ties_samples(std::span<const int> groups);

/// In how many pieces samples can be drawn: groups where they tie samples, else samples.
[[nodiscard]] Index count_pieces(const Labels& labels);

/// Gives the samples their groups. Throws Error unless there is one for each sample, and where all
/// are of one group: nothing could be held out. `source` is what the groups are called.
void set_groups(Labels& labels, Groups groups, std::string_view source);

/// What a user should know about the groups of the labels: that they tie no samples, and classes
/// that cannot be held out because one group has all of their samples. In words; none: nothing.
[[nodiscard]] std::vector<std::string> notes_on_groups(const Labels& labels,
                                                       std::string_view source);

}  // namespace kith
