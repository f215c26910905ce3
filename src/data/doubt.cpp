// SPDX-License-Identifier: Apache-2.0
#include "kith/data/doubt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>

#include "kith/core/positions.hpp"

namespace kith {
namespace {

constexpr Index kMostRows = 100;  // that are judged
/// Fewer rows show nothing.
constexpr Index kFewestRows = 4;
/// Noise may turn a row round.
constexpr double kNearlyEvery = 0.95;
/// Of the pairs; zeros beside a diagonal of zeros, as in the table of a graph, are no distances.
constexpr double kMostPairs = 0.5;

/// E-values: below `kSmall` a hit means something, and good hits are many orders further down.
constexpr double kSmall = 1e-3;
constexpr double kTiny = 1e-15;
constexpr double kSpan = 1e-10;  // of the least to the largest; a unit moves both
constexpr double kShareOfSmall = 0.1;

/// Calls visit(column, value) for each known pair of row i, the sample itself included.
template <class Visit>
void visit_row(const Block& block, Index i, const Visit& visit) {
  if (const auto* dense = std::get_if<DenseBlock>(&block)) {
    for (Index j = 0; j < dense->cols(); ++j) {
      const double value = (*dense)(i, j);
      if (!std::isnan(value)) visit(j, value);
    }
    return;
  }
  const auto& sparse = std::get<SparseBlock>(block);
  const SparseRow row = sparse.row(i);
  std::size_t e = 0;
  for (Index j = 0; j < sparse.cols && sparse.absent == Absent::kZero; ++j) {
    const bool listed = e < row.size() && row.columns[e] == j;
    visit(j, listed ? row.values[e++] : 0.0);
  }
  for (; e < row.size(); ++e) visit(row.columns[e], row.values[e]);
}

/// How the similarity of a sample to itself stands to its others.
struct Diagonal {
  Index rows = 0;   ///< that have itself and another
  Index least = 0;  ///< rows in which no other value is smaller
  Index most = 0;   ///< rows in which no other value is larger
  double pairs = 0;
  double above = 0;  ///< pairs above the diagonal
  double below = 0;
  double small = 0;  ///< pairs from 0 to `kSmall`, 0 excluded
  double smallest = std::numeric_limits<double>::infinity();  ///< above 0
  double largest = 0;
  bool negative = false;

  [[nodiscard]] bool is_least() const { return nearly_every(least) && above > kMostPairs * pairs; }
  [[nodiscard]] bool is_most() const { return nearly_every(most) && below > kMostPairs * pairs; }
  [[nodiscard]] bool of_evalues() const {
    return nearly_every(least) && !negative && smallest < kTiny && smallest < kSpan * largest &&
           small > kShareOfSmall * pairs;
  }

 private:
  [[nodiscard]] bool nearly_every(Index count) const {
    return rows >= kFewestRows &&
           static_cast<double>(count) >= kNearlyEvery * static_cast<double>(rows);
  }
};

/// What a row shows beside `own`, as lanes that the compiler turns into vectors. A pair that is
/// not known compares as false everywhere.
struct RowCounts {
  static constexpr std::size_t kLanes = 8;
  using Counts = std::array<std::int64_t, kLanes>;
  Counts pairs{};
  Counts above{};
  Counts below{};
  Counts small{};
  Counts negative{};
  std::array<double, kLanes> smallest{};
  std::array<double, kLanes> largest{};

  RowCounts() { smallest.fill(std::numeric_limits<double>::infinity()); }
  void add(std::size_t lane, double value, double own) {
    pairs[lane] += value == value ? 1 : 0;
    above[lane] += value > own ? 1 : 0;
    below[lane] += value < own ? 1 : 0;
    small[lane] += value > 0 && value < kSmall ? 1 : 0;
    negative[lane] += value < 0 ? 1 : 0;
    const double positive = value > 0 ? value : std::numeric_limits<double>::infinity();
    smallest[lane] = positive < smallest[lane] ? positive : smallest[lane];
    largest[lane] = value > largest[lane] ? value : largest[lane];
  }
  void add(std::span<const double> values, double own) {
    std::size_t j = 0;
    for (; j + kLanes <= values.size(); j += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, values[j + lane], own);
    }
    for (; j < values.size(); ++j) add(0, values[j], own);
  }
};

double total(const RowCounts::Counts& counts) {
  return static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
}

void add_row(const Block& block, Index i, Diagonal& seen) {
  const double own = std::visit([i](const auto& held) { return held(i, i); }, block);
  if (std::isnan(own)) return;
  RowCounts row;
  if (const auto* dense = std::get_if<DenseBlock>(&block)) {
    row.add(dense->row(i), own);
  } else {
    visit_row(block, i, [&](Index, double value) { row.add(0, value, own); });
  }
  const double pairs = total(row.pairs) - 1;  // the sample itself is among them
  const double above = total(row.above);
  const double below = total(row.below);
  seen.negative = seen.negative || total(row.negative) > 0;
  seen.smallest = std::min(seen.smallest, *std::ranges::min_element(row.smallest));
  seen.largest = std::max(seen.largest, *std::ranges::max_element(row.largest));
  seen.small += total(row.small) - (own > 0 && own < kSmall ? 1 : 0);
  if (pairs == 0) return;
  ++seen.rows;
  seen.least += below == 0 ? 1 : 0;
  seen.most += above == 0 ? 1 : 0;
  seen.pairs += pairs;
  seen.above += above;
  seen.below += below;
}

Diagonal look(const SimilaritySet& set) {
  Diagonal seen;
  for (const Index i : spread_positions(set.rows(), kMostRows)) add_row(set.block, i, seen);
  return seen;
}

/// How much larger pairs of one class are than pairs of two, in standard deviations of all pairs;
/// NaN where there are no pairs of either kind.
struct ClassContrast {
  double difference = std::numeric_limits<double>::quiet_NaN();
  double uncertainty = 0;  ///< of the difference, as if pairs were independent

  /// By a tenth of a standard deviation.
  [[nodiscard]] bool is_alike() const { return difference > 0.1; }
  /// Without a diagonal the classes are all that tells: they must say it loudly.
  [[nodiscard]] bool is_clearly(double sign) const {
    return sign * difference > std::max(0.25, 5 * uncertainty);
  }
};
ClassContrast contrast_of(const SimilaritySet& set, const Labels& labels) {
  struct Sums {
    double count = 0;
    double sum = 0;
    double squares = 0;
    [[nodiscard]] double mean() const { return sum / count; }  // NaN without pairs
  };
  Sums within;
  Sums between;
  for (const Index i : spread_positions(set.rows(), kMostRows)) {
    const int own = labels.ids[static_cast<std::size_t>(i)];
    visit_row(set.block, i, [&](Index j, double value) {
      if (j == i) return;
      Sums& sums = labels.ids[static_cast<std::size_t>(j)] == own ? within : between;
      ++sums.count;
      sums.sum += value;
      sums.squares += value * value;
    });
  }
  const double count = within.count + between.count;
  const double mean = (within.sum + between.sum) / count;
  const double variance = (within.squares + between.squares) / count - mean * mean;
  if (!(variance > 0)) return {};
  return {.difference = (within.mean() - between.mean()) / std::sqrt(variance),
          .uncertainty = std::sqrt(1 / within.count + 1 / between.count)};
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Doubt on_similarities(const SimilaritySet& set, const Labels* labels,
                      std::string_view score_column) {
  if (score_column == "evalue") {
    return {fmt::format("{}: E-values are smallest where samples are most alike, but are given as "
                        "similarities; [[score-column=bitscore]] takes the scores",
                        set.source),
            Mend::kScoresOfTable};
  }
  const Diagonal diagonal = look(set);
  if (diagonal.of_evalues()) {
    return {fmt::format(
                "{}: the numbers look like E-values, which are smallest where samples are most "
                "alike, but are given as similarities; [[score-column=bitscore]] takes the scores "
                "of a BLAST table, and [[distance]] keeps at least the order of E-values",
                set.source),
            set.format == "blast" ? Mend::kScoresOfTable : Mend::kDistance};
  }
  if (diagonal.rows == 0 && labels != nullptr && contrast_of(set, *labels).is_clearly(-1)) {
    return {fmt::format("{}: the numbers look like distances, but are given as similarities: "
                        "samples of a class are less similar to each other than to those of other "
                        "classes; [[distance]] takes distances",
                        set.source),
            Mend::kDistance};
  }
  if (!diagonal.is_least()) return {};
  if (labels != nullptr && contrast_of(set, *labels).is_alike()) return {};
  const bool classes = labels != nullptr && labels->has_two_classes();
  return {
      fmt::format("{}: the numbers look like distances, but are given as similarities: samples are "
                  "less similar to themselves than to others{}; [[distance]] takes distances",
                  set.source, classes ? ", and no more similar within classes than between" : ""),
      Mend::kDistance};
}

/// Score columns of alignments that grow with similarity.
constexpr std::array<std::string_view, 7> kScores = {"bitscore", "bits",   "pident", "fident",
                                                     "length",   "alnlen", "nident"};

Doubt on_distances(const SimilaritySet& set, const Labels* labels, std::string_view score_column) {
  if (is_one_of(score_column, kScores)) {
    return {
        fmt::format("{}: the column {} is largest where samples are most alike, but is given as "
                    "distances; [[distance=no]] takes similarities",
                    set.source, score_column),
        Mend::kSimilarity};
  }
  const Diagonal diagonal = look(set);
  if (diagonal.rows == 0 && labels != nullptr && contrast_of(set, *labels).is_clearly(1)) {
    return {fmt::format("{}: the numbers look like similarities, but are given as distances: "
                        "samples of a class are farther from each other than from those of other "
                        "classes; [[distance=no]] takes similarities",
                        set.source),
            Mend::kSimilarity};
  }
  if (!diagonal.is_most()) return {};
  return {fmt::format("{}: the numbers look like similarities, but are given as distances: samples "
                      "are farther from themselves than from others; [[distance=no]] takes "
                      "similarities",
                      set.source),
          Mend::kSimilarity};
}

}  // namespace

Doubt doubt(const SimilaritySet& set, const Labels* labels, std::string_view score_column) {
  if (set.format != "blast") score_column = {};
  return set.kind == PairKind::kSimilarity ? on_similarities(set, labels, score_column)
                                           : on_distances(set, labels, score_column);
}

}  // namespace kith
