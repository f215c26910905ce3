// SPDX-License-Identifier: Apache-2.0
// Two stable counting sorts, by column and then by row, put m pairs over n samples into compressed
// rows in O(m + n); nothing of size n^2 exists at any time.
#include "data/formats/pair_list.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr std::size_t kTogether = 64;  // lookups of ids whose waits for memory overlap

constexpr std::size_t at(std::int64_t position) { return static_cast<std::size_t>(position); }

/// Where the entries of each key begin: count + 1 numbers.
template <class Key>
std::vector<std::int64_t> starts_by(const std::vector<PairEntry>& entries, Index count, Key key) {
  std::vector<std::int64_t> starts(at(count) + 1, 0);
  for (const PairEntry& entry : entries) ++starts[at(key(entry)) + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  return starts;
}

template <class Key>
PairEntries sorted_by(const PairEntries& pairs, Index count, Key key) {
  std::vector<std::int64_t> next = starts_by(pairs.entries, count, key);
  PairEntries sorted;
  sorted.entries.resize(pairs.entries.size());
  sorted.lines.resize(pairs.lines.size());
  for (std::size_t k = 0; k < pairs.entries.size(); ++k) {
    const std::size_t slot = at(next[at(key(pairs.entries[k]))]++);
    sorted.entries[slot] = pairs.entries[k];
    if (!pairs.lines.empty()) sorted.lines[slot] = pairs.lines[k];
  }
  return sorted;
}

/// The entries begin .. end-1 are the same pair in the order of the file.
double combined(const PairEntries& pairs, std::size_t begin, std::size_t end, Duplicates rule,
                const DuplicateError& duplicate) {
  double value = pairs.entries[begin].value;
  if (end - begin == 1) return value;
  if (rule == Duplicates::kError) {
    throw duplicate(pairs.entries[begin], pairs.lines[begin], pairs.lines[begin + 1]);
  }
  for (std::size_t k = begin + 1; k < end; ++k) {
    const double next = pairs.entries[k].value;
    value = rule == Duplicates::kMax ? std::max(value, next) : value + next;
  }
  return rule == Duplicates::kMean ? value / static_cast<double>(end - begin) : value;
}

}  // namespace

SparseBlock compress(PairEntries pairs, Index rows, Index cols, Absent absent,
                     Duplicates duplicates, const DuplicateError& duplicate) {
  assert((duplicates != Duplicates::kError || pairs.lines.size() == pairs.entries.size()) &&
         "duplicates are reported by line");
  pairs = sorted_by(pairs, cols, [](const PairEntry& e) { return e.column; });
  pairs = sorted_by(pairs, rows, [](const PairEntry& e) { return e.row; });

  SparseBlock block;
  block.cols = cols;
  block.absent = absent;
  block.starts.assign(at(rows) + 1, 0);
  block.columns.reserve(pairs.entries.size());
  block.values.reserve(pairs.entries.size());
  const std::vector<PairEntry>& entries = pairs.entries;
  for (std::size_t k = 0; k < entries.size();) {
    std::size_t end = k + 1;
    while (end < entries.size() && entries[end].row == entries[k].row &&
           entries[end].column == entries[k].column) {
      ++end;
    }
    block.columns.push_back(entries[k].column);
    block.values.push_back(combined(pairs, k, end, duplicates, duplicate));
    ++block.starts[at(entries[k].row) + 1];
    k = end;
  }
  for (std::size_t i = 1; i < block.starts.size(); ++i) block.starts[i] += block.starts[i - 1];
  return block;
}

bool lists_both_directions(const SparseBlock& block, const SparseBlock& turned) {
  for (Index i = 0; i < block.rows(); ++i) {
    const std::span<const std::int32_t> from = block.row(i).columns;
    const std::span<const std::int32_t> to = turned.row(i).columns;
    for (std::size_t a = 0, b = 0; a < from.size() && b < to.size();) {
      const std::int32_t next = std::min(from[a], to[b]);
      if (from[a] == to[b] && next != i) return true;
      a += from[a] == next ? 1 : 0;
      b += to[b] == next ? 1 : 0;
    }
  }
  return false;
}

SparseBlock mirrored(const SparseBlock& block, const SparseBlock& turned) {
  SparseBlock both = block.without_rows();
  both.starts.reserve(block.starts.size());
  both.columns.reserve(block.columns.size() * 2);
  both.values.reserve(block.values.size() * 2);
  for (Index i = 0; i < block.rows(); ++i) {
    // A pair stands in one of the two, save the diagonal, which stands in both.
    const double absent = std::numeric_limits<double>::quiet_NaN();
    merge_rows(block.row(i), turned.row(i), absent, [&](Index column, double forth, double back) {
      both.add(column, std::isnan(forth) ? back : forth);
    });
    both.end_row();
  }
  return both;
}

PairList::PairList(std::string file, const ReadSettings& settings)
    : file_(std::move(file)), duplicates_(settings.duplicates), bipartite_(settings.bipartite) {}

std::int32_t PairList::number(IdTable& table, std::string_view id, std::uint32_t hash, long line) {
  const std::int32_t number = table.intern(id, hash);
  if (number == IdTable::kNone) {
    throw bad_input({file_, line}, "more than 2147483647 different ids");
  }
  return number;
}

void PairList::add(std::string_view from, std::string_view to, double value, long line) {
  const Waiting pair = {.text = waiting_text_.size(),
                        .from_size = from.size(),
                        .to_size = to.size(),
                        .from_hash = IdTable::hash_of(from),
                        .to_hash = IdTable::hash_of(to),
                        .value = value,
                        .line = line};
  row_ids_.prefetch_slot(pair.from_hash);
  columns().prefetch_slot(pair.to_hash);
  waiting_text_.append(from).append(to);
  waiting_.push_back(pair);
  if (waiting_.size() == kTogether) look_up_waiting();
}

/// A million ids do not fit into the cache. Looked up one by one, most of the time would be spent
/// waiting for memory; looked up together, the waits overlap.
void PairList::look_up_waiting() {
  for (const Waiting& pair : waiting_) {
    row_ids_.prefetch_text(pair.from_hash);
    columns().prefetch_text(pair.to_hash);
  }
  for (const Waiting& pair : waiting_) {
    const std::string_view text(waiting_text_);
    const std::string_view from = text.substr(pair.text, pair.from_size);
    const std::string_view to = text.substr(pair.text + pair.from_size, pair.to_size);
    const std::int32_t row = number(row_ids_, from, pair.from_hash, pair.line);
    const std::int32_t column = number(columns(), to, pair.to_hash, pair.line);
    pairs_.add(row, column, pair.value);
    if (duplicates_ == Duplicates::kError) pairs_.lines.push_back(pair.line);
  }
  waiting_.clear();
  waiting_text_.clear();
}

void PairList::declare_row(std::string_view id, long line) {
  look_up_waiting();
  (void)number(row_ids_, id, IdTable::hash_of(id), line);
}

void PairList::declare_column(std::string_view id, long line) {
  look_up_waiting();
  (void)number(columns(), id, IdTable::hash_of(id), line);
}

SimilaritySet PairList::finish(const RunContext& ctx) {
  look_up_waiting();
  if (pairs_.entries.empty()) throw bad_input({file_}, "the list has no pairs");
  const DuplicateError duplicate = [&](const PairEntry& entry, std::int64_t first_line,
                                       std::int64_t line) {
    return bad_input({file_, static_cast<long>(line)},
                     "the pair " + in_quotes(row_ids_[entry.row]) + ", " +
                         in_quotes(columns()[entry.column]) +
                         " is listed a second time (first in line " + std::to_string(first_line) +
                         "); duplicates are set to error, and max, mean or sum would combine them");
  };
  ctx.check_stop();
  SparseBlock block = compress(std::exchange(pairs_, {}), row_ids_.size(), columns().size(),
                               absent_, duplicates_, duplicate);
  SimilaritySet set;
  if (!bipartite_ && direction_ == Direction::kByContent) {
    ctx.check_stop();
    const SparseBlock turned = transposed(block);
    // The diagonal is its own mirror; without another pair there is nothing to say.
    SparseBlock both;
    if (!lists_both_directions(block, turned)) both = mirrored(block, turned);
    if (both.entries() > block.entries()) {
      set.applied.emplace_back(
          "no pair is listed in both directions: each counts for both (undirected list)");
      block = std::move(both);
    }
  }
  set.block = std::move(block);
  set.row_ids = row_ids_.strings();
  set.column_ids = bipartite_ ? column_ids_.strings() : set.row_ids;
  return set;
}

}  // namespace kith::detail
