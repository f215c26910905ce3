// SPDX-License-Identifier: Apache-2.0
#include "kith/data/classes_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith {

ClassesNote note_on_classes(const Labels& labels, std::string_view source) {
  const std::vector<Index> counts = labels.counts();
  const auto classes = std::ssize(counts) - std::ranges::count(counts, Index{0});
  const auto single = std::ranges::count(counts, Index{1});
  if (single == labels.size() && labels.size() > 2) {
    const bool blanks = std::ranges::all_of(
        labels.names, [](const std::string& name) { return name.find(' ') != std::string::npos; });
    return {fmt::format("{}: each of the {} samples has a class of its own, so there is nothing to "
                        "learn; a class needs at least two samples. The first labels are {} and "
                        "{}{}",
                        source, labels.size(), in_quotes(labels.name_of(0)),
                        in_quotes(labels.name_of(1)),
                        blanks ? "; an id and a label are separated by a tab, not by a blank"
                               : ". Are they ids?"),
            true};
  }
  if (2 * single <= classes) return {};
  const auto first = std::ranges::find(counts, Index{1}) - counts.begin();
  return {fmt::format("{}: {} of {} classes have a single sample, such as {}: no method can learn "
                      "such a class and be tested on it. Are these the right labels?",
                      source, single, classes,
                      in_quotes(labels.names[static_cast<std::size_t>(first)])),
          false};
}

void check_classes(const Labels& labels, std::string_view source, const RunContext& ctx) {
  const ClassesNote note = note_on_classes(labels, source);
  if (note.nothing_to_learn) throw Error(ErrorCode::kBadInput, note.text);
  if (!note.text.empty()) ctx.message(note.text);
}

void check_two_classes(const Labels& labels, std::string_view samples) {
  if (labels.has_two_classes()) return;
  throw invalid("the {} {} are all of one class{}; a classifier needs at least two", labels.size(),
                samples, labels.size() > 0 ? " (" + in_quotes(labels.name_of(0)) + ")" : "");
}

}  // namespace kith
