// SPDX-License-Identifier: Apache-2.0
#include "kith/data/groups.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "core/errors.hpp"
#include "data/bundles.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"
#include "kith/data/labels.hpp"

namespace kith {

Groups make_groups(std::span<const std::string> per_sample) {
  Labels named = make_labels(per_sample);
  return {.ids = std::move(named.ids), .names = std::move(named.names)};
}

Groups select(const Groups& groups, std::span<const Index> samples) {
  return {.ids = values_at(groups.ids, samples), .names = groups.names};
}

Index count_groups(std::span<const int> groups) {
  return std::ssize(std::set<int>(groups.begin(), groups.end()));
}

bool ties_samples(std::span<const int> groups) { return count_groups(groups) < std::ssize(groups); }

Index count_pieces(const Labels& labels) {
  const std::vector<int>& groups = labels.groups.ids;
  return ties_samples(groups) ? count_groups(groups) : labels.size();
}

void set_groups(Labels& labels, Groups groups, std::string_view source) {
  if (std::ssize(groups.ids) != labels.size()) {
    throw invalid("{}: {} groups for {} samples; there must be one per sample", source,
                  groups.ids.size(), labels.size());
  }
  if (count_groups(groups.ids) == 1 && labels.size() > 1) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}: all {} samples are of one group, {}, so that nothing can be held "
                            "out; there must be two groups or more",
                            source, labels.size(), in_quotes(groups.name_of(0))));
  }
  labels.groups = std::move(groups);
}

std::vector<std::string> notes_on_groups(const Labels& labels, std::string_view source) {
  std::vector<std::string> notes;
  const Groups& groups = labels.groups;
  if (groups.empty()) return notes;
  if (!ties_samples(groups.ids)) {
    notes.push_back(fmt::format(
        "{}: each of the {} samples has a group of its own, so the groups change nothing", source,
        labels.size()));
    return notes;
  }
  const detail::Bundles bundles = detail::bundles_of(labels.ids, groups.ids);
  std::vector<std::string> held;
  for (std::size_t c = 0; c < bundles.of_class.size(); ++c) {
    if (bundles.of_class[c] == 1 && bundles.class_sizes[c] > 1)
      held.push_back(in_quotes(labels.names[c]));
  }
  if (held.empty()) return notes;
  notes.push_back(fmt::format(
      "{}: all samples of {} {} are in one group. Where that group is held out, nothing is left to "
      "learn the class from; no test part has it",
      source, held.size() == 1 ? "class" : "each of the classes", list_some(held)));
  return notes;
}

}  // namespace kith
