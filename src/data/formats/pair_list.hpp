// SPDX-License-Identifier: Apache-2.0
// From pairs in the order of a file to compressed rows, in time and memory linear in their number.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/id_table.hpp"
#include "kith/core/context.hpp"
#include "kith/core/error.hpp"
#include "kith/data/formats.hpp"

namespace kith::detail {

struct PairEntry {
  std::int32_t row = 0;
  std::int32_t column = 0;
  double value = 0;
};

/// Pairs as a file lists them. Lines are kept only where a duplicate has to be reported.
struct PairEntries {
  std::vector<PairEntry> entries;
  std::vector<std::int64_t> lines;  ///< empty, or of each entry

  void add(std::int32_t row, std::int32_t column, double value) {
    entries.push_back({row, column, value});
  }
};

/// Throws the error for a pair that is listed a second time.
using DuplicateError =
    std::function<Error(const PairEntry& entry, std::int64_t first_line, std::int64_t line)>;

/// Sorts by row, then column (stable: duplicates are combined in the order of the file). With
/// Duplicates::kError `lines` must be filled and `duplicate` makes the error.
[[nodiscard]] SparseBlock compress(PairEntries pairs, Index rows, Index cols, Absent absent,
                                   Duplicates duplicates, const DuplicateError& duplicate);

/// Whether some pair of different samples is listed in both directions; a square block.
[[nodiscard]] bool lists_both_directions(const SparseBlock& block, const SparseBlock& turned);

/// Every pair of `block` in both directions, where no pair is listed in both.
[[nodiscard]] SparseBlock mirrored(const SparseBlock& block, const SparseBlock& turned);

/// Collects pairs of ids. Square: rows and columns are the ids in order of first appearance, and a
/// list without any pair in both directions is taken as undirected. Bipartite: rows are the
/// distinct first ids, columns the distinct second ones.
class PairList {
 public:
  enum class Direction { kByContent, kDirected };

  PairList(std::string file, const ReadSettings& settings);

  void add(std::string_view from, std::string_view to, double value, long line);
  /// A sample without a pair yet: fixes its place in the order.
  void declare_row(std::string_view id, long line);
  void declare_column(std::string_view id, long line);
  void set_direction(Direction direction) { direction_ = direction; }
  /// Only before the first pair or declaration.
  void set_bipartite() { bipartite_ = true; }
  void set_absent(Absent absent) { absent_ = absent; }
  [[nodiscard]] bool empty() const {
    return waiting_.empty() && pairs_.entries.empty() && row_ids_.size() == 0;
  }

  /// The table; this list is used up. Throws Error(kBadInput) for duplicates under kError and for a
  /// list without pairs.
  [[nodiscard]] SimilaritySet finish(const RunContext& ctx);

 private:
  /// A pair whose ids are not looked up yet; their text is in waiting_text_.
  struct Waiting {
    std::size_t text;
    std::size_t from_size;
    std::size_t to_size;
    std::uint32_t from_hash;
    std::uint32_t to_hash;
    double value;
    long line;
  };
  void look_up_waiting();
  [[nodiscard]] std::int32_t number(IdTable& table, std::string_view id, std::uint32_t hash,
                                    long line);
  [[nodiscard]] IdTable& columns() { return bipartite_ ? column_ids_ : row_ids_; }

  std::string file_;
  Duplicates duplicates_;
  bool bipartite_;
  Direction direction_ = Direction::kByContent;
  Absent absent_ = Absent::kMissing;
  IdTable row_ids_;     // of both sides unless bipartite
  IdTable column_ids_;  // used when bipartite
  PairEntries pairs_;
  std::vector<Waiting> waiting_;
  std::string waiting_text_;
};

}  // namespace kith::detail
