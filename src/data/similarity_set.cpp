// SPDX-License-Identifier: Apache-2.0
#include "kith/data/similarity_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

std::string described(const SimilaritySet& set) {
  if (!set.source.empty()) return set.source;
  return set.name.empty() ? std::string("the matrix") : in_quotes(set.name);
}

/// Where each id stands. Throws when one stands twice.
Positions unique_positions(std::span<const std::string> ids, std::string_view source,
                           std::string_view what) {
  Positions positions = positions_of(ids);
  for (std::size_t i = 0; i < ids.size() && positions.size() < ids.size(); ++i) {
    const Index first = positions.at(ids[i]);
    if (first == static_cast<Index>(i)) continue;
    throw invalid("{}: {} id {} stands at {} {} and {}; ids must be unique", source, what,
                  in_quotes(ids[i]), what, first + 1, i + 1);
  }
  return positions;
}

void check_id_count(const std::vector<std::string>& ids, Index count, const SimilaritySet& set,
                    std::string_view what) {
  if (ids.empty() || static_cast<Index>(ids.size()) == count) return;
  throw invalid("{}: {} {} ids for {} {}s", described(set), ids.size(), what, count, what);
}

/// Where `samples` stand in `other`, whose positions are given. Throws unless all of them do.
std::vector<Index> all_known(const KnownSamples& samples, const KnownSamples& other,
                             const Positions& positions) {
  MatchedIds matched = match_ids(samples.ids, positions);
  if (matched.unknown.empty()) return std::move(matched.positions);
  throw invalid("{} of the {} samples of {} are not in {}: {}", matched.unknown.size(),
                samples.ids.size(), samples.source, other.source, list_some(matched.unknown));
}

void match_by_id(std::vector<SimilaritySet>& sets) {
  const SimilaritySet& first = sets.front();
  for (std::size_t k = 1; k < sets.size(); ++k) {
    SimilaritySet& other = sets[k];
    if (other.row_ids == first.row_ids) continue;
    const std::vector<Index> order =
        order_by_id({first.row_ids, described(first)}, {other.row_ids, described(other)});
    other.block = select(other.block, order, order);
    other.row_ids = first.row_ids;
    other.column_ids = first.row_ids;
  }
}

void match_by_position(const std::vector<SimilaritySet>& sets) {
  const auto unordered =
      std::find_if(sets.begin(), sets.end(), [](const SimilaritySet& set) { return !set.ordered; });
  for (const SimilaritySet& other : sets) {
    if (unordered != sets.end() && other.row_ids.empty()) {
      throw invalid(
          "{} lists pairs of ids, which have no order, and {} has no ids; their "
          "samples cannot be matched. Use a matrix with ids",
          described(*unordered), described(other));
    }
    if (other.rows() == sets.front().rows()) continue;
    throw invalid(
        "{} has {} samples and {} has {}; matrices that are matched by position "
        "(not all of them have ids) must have the same number",
        described(sets.front()), sets.front().rows(), described(other), other.rows());
  }
}

}  // namespace

SimilaritySet square(SimilaritySet set) {
  if (set.rows() != set.cols()) {
    throw invalid(
        "{}: the table is {} x {}; similarities between training samples must be "
        "square; samples with their features or series are given with [[data]] and "
        "[[measure]]",
        described(set), set.rows(), set.cols());
  }
  check_id_count(set.row_ids, set.rows(), set, "row");
  check_id_count(set.column_ids, set.cols(), set, "column");
  if (set.row_ids.empty()) set.row_ids = set.column_ids;
  if (set.column_ids.empty()) set.column_ids = set.row_ids;
  if (set.row_ids.empty()) return set;

  (void)unique_positions(set.row_ids, described(set), "row");
  if (set.row_ids == set.column_ids) return set;
  const Positions columns = unique_positions(set.column_ids, described(set), "column");
  const MatchedIds matched = match_ids(set.row_ids, columns);
  if (!matched.unknown.empty()) {
    throw invalid("{}: {} of {} rows have no column of the same id: {}", described(set),
                  matched.unknown.size(), set.rows(), list_some(matched.unknown));
  }
  set.block = select(set.block, all_positions(set.rows()), matched.positions);
  set.column_ids = set.row_ids;
  set.applied.emplace_back("columns put into the order of the rows by id");
  return set;
}

std::vector<Index> order_by_id(const KnownSamples& first, const KnownSamples& other) {
  const Positions first_positions = unique_positions(first.ids, first.source, "sample");
  const Positions positions = unique_positions(other.ids, other.source, "sample");
  std::vector<Index> order = all_known(first, other, positions);
  (void)all_known(other, first, first_positions);
  return order;
}

std::string position_note(std::span<const KnownSamples> files) {
  const auto named = std::find_if(files.begin(), files.end(),
                                  [](const KnownSamples& one) { return !one.ids.empty(); });
  const auto unnamed = std::find_if(files.begin(), files.end(),
                                    [](const KnownSamples& one) { return one.ids.empty(); });
  if (named == files.end() || unnamed == files.end()) return {};
  return fmt::format("samples are matched by position: {} has ids, and {} has none", named->source,
                     unnamed->source);
}

MatchedSets match(std::vector<SimilaritySet> sets) {
  MatchedSets matched;
  bool all_have_ids = true;
  for (SimilaritySet& set : sets) {
    set = square(std::move(set));
    all_have_ids = all_have_ids && !set.row_ids.empty();
    if (matched.ids.empty()) matched.ids = set.row_ids;
  }
  if (all_have_ids && sets.size() > 1) {
    match_by_id(sets);
  } else if (!all_have_ids) {
    match_by_position(sets);
  }
  matched.sets = std::move(sets);
  return matched;
}

}  // namespace kith
