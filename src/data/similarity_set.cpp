// SPDX-License-Identifier: Apache-2.0
#include "kith/data/similarity_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

using Positions = std::unordered_map<std::string_view, Index>;

std::string described(const SimilaritySet& set) {
  if (!set.source.empty()) return set.source;
  return set.name.empty() ? std::string("the matrix") : in_quotes(set.name);
}

/// Where each id stands. Throws when one stands twice.
Positions positions_of(std::span<const std::string> ids, std::string_view source,
                       std::string_view what) {
  Positions positions;
  positions.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto [found, is_new] = positions.try_emplace(ids[i], static_cast<Index>(i));
    if (is_new) continue;
    throw invalid("{}: {} id {} stands at {} {} and {}; ids must be unique", source, what,
                  in_quotes(ids[i]), what, found->second + 1, i + 1);
  }
  return positions;
}

/// Those of `ids` that `positions` does not know, in quotes.
std::vector<std::string> unknown_ids(std::span<const std::string> ids, const Positions& positions) {
  std::vector<std::string> unknown;
  for (const std::string& id : ids) {
    if (!positions.contains(id)) unknown.push_back(in_quotes(id));
  }
  return unknown;
}

/// Where the samples `ids` stand; every one of them is known.
std::vector<Index> order_of(std::span<const std::string> ids, const Positions& positions) {
  std::vector<Index> order;
  order.reserve(ids.size());
  for (const std::string& id : ids) order.push_back(positions.at(id));
  return order;
}

void check_id_count(const std::vector<std::string>& ids, Index count, const SimilaritySet& set,
                    std::string_view what) {
  if (ids.empty() || static_cast<Index>(ids.size()) == count) return;
  throw invalid("{}: {} {} ids for {} {}s", described(set), ids.size(), what, count, what);
}

/// Throws unless `positions`, those of `other`, have every one of `samples`.
void check_all_known(const KnownSamples& samples, const KnownSamples& other,
                     const Positions& positions) {
  const std::vector<std::string> absent = unknown_ids(samples.ids, positions);
  if (absent.empty()) return;
  throw invalid("{} of the {} samples of {} are not in {}: {}", absent.size(), samples.ids.size(),
                samples.source, other.source, list_some(absent));
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

  const Positions rows = positions_of(set.row_ids, described(set), "row");
  if (set.row_ids == set.column_ids) return set;
  const Positions columns = positions_of(set.column_ids, described(set), "column");
  const std::vector<std::string> unknown = unknown_ids(set.row_ids, columns);
  if (!unknown.empty()) {
    throw invalid("{}: {} of {} rows have no column of the same id: {}", described(set),
                  unknown.size(), set.rows(), list_some(unknown));
  }
  set.block = select(set.block, all_positions(set.rows()), order_of(set.row_ids, columns));
  set.column_ids = set.row_ids;
  set.applied.emplace_back("columns put into the order of the rows by id");
  return set;
}

std::vector<Index> order_by_id(const KnownSamples& first, const KnownSamples& other) {
  const Positions first_positions = positions_of(first.ids, first.source, "sample");
  const Positions positions = positions_of(other.ids, other.source, "sample");
  check_all_known(first, other, positions);
  check_all_known(other, first, first_positions);
  return order_of(first.ids, positions);
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
