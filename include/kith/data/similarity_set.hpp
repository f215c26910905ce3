// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/data/block.hpp"

namespace kith {

enum class PairKind { kSimilarity, kDistance };

/// One table of pairwise values as it was read: numbers, ids, and what has been done to it since.
struct SimilaritySet {
  std::string name;    ///< given by `name=FILE`, else the file's stem
  std::string source;  ///< the file, for messages and records
  std::string format;  ///< the format it was read as ("csv", "npy", ...)
  PairKind kind = PairKind::kSimilarity;
  Block block;
  std::vector<std::string> row_ids;     ///< empty: the source has none
  std::vector<std::string> column_ids;  ///< empty: the source has none
  std::vector<std::string> applied;     ///< what was applied to it, in words, in order
  /// Whether the rows have an order of their own. A table of pairs, such as an edge list, has none:
  /// its samples are known by id alone.
  bool ordered = true;
  std::string score_column{};  ///< that a BLAST table was read by; empty: it is none

  [[nodiscard]] Index rows() const { return kith::rows(block); }
  [[nodiscard]] Index cols() const { return kith::cols(block); }
};

/// Throws Error unless the table is square and its row and column ids (where both exist) are the
/// same set; columns are put into the order of the rows.
[[nodiscard]] SimilaritySet square(SimilaritySet set);

/// Samples by their ids, and where they come from, for messages.
struct KnownSamples {
  std::span<const std::string> ids;
  std::string_view source;
};
/// For each sample of `first` its position in `other`. Throws Error naming the first few that only
/// one of them has, and an id that stands twice.
[[nodiscard]] std::vector<Index> order_by_id(const KnownSamples& first, const KnownSamples& other);

/// What a user should know about files of which some have ids and some have none, naming one of
/// each: their samples are matched by position. Empty: nothing.
[[nodiscard]] std::string position_note(std::span<const KnownSamples> files);

/// Several tables over the same samples, each made `square` and brought to the order of the first:
/// by id where every table has ids (samples that are not in all of them: Error naming the first
/// few), else by position. A table without an order of its own is not matched by position: Error.
struct MatchedSets {
  std::vector<SimilaritySet> sets;
  std::vector<std::string> ids;  ///< empty: no ids
};
[[nodiscard]] MatchedSets match(std::vector<SimilaritySet> sets);

}  // namespace kith
