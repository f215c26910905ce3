// SPDX-License-Identifier: Apache-2.0
#include "kith/pipeline/given_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

/// The known pairs of some samples with a row.
struct RowSum {
  double sum = 0;
  Index known = 0;

  void add(double value) {
    if (std::isnan(value)) return;
    sum += value;
    ++known;
  }
  /// NaN where no pair is known.
  [[nodiscard]] double mean() const {
    return known == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(known);
  }
};

/// Of row i over the ascending `columns`, the sample `own` left out. Pairs that are not known are 0
/// where `zeros` says so.
RowSum sum_of_row(const Block& block, Index i, std::span<const Index> columns, Index own,
                  bool zeros) {
  RowSum row;
  if (const auto* dense = std::get_if<DenseBlock>(&block)) {
    const std::span<const double> values = dense->row(i);
    for (const Index j : columns) {
      if (j != own) row.add(values[static_cast<std::size_t>(j)]);
    }
  } else {
    const SparseRow listed = std::get<SparseBlock>(block).row(i);
    std::size_t e = 0;
    for (const Index j : columns) {
      while (e < listed.size() && listed.columns[e] < j) ++e;
      if (e < listed.size() && listed.columns[e] == j && j != own) row.add(listed.values[e]);
    }
  }
  if (zeros) {
    row.known = std::ssize(columns) - (std::ranges::binary_search(columns, own) ? 1 : 0);
  }
  return row;
}

double value_at(const Block& block, Index i, Index j) {
  return std::visit([&](const auto& held) { return held(i, j); }, block);
}

bool absent_are_zero(const Block& block) {
  const auto* sparse = std::get_if<SparseBlock>(&block);
  return sparse != nullptr && sparse->absent == Absent::kZero;
}

std::vector<Index> ascending(std::vector<Index> columns) {
  std::ranges::sort(columns);
  return columns;
}

/// The columns of rows that are `width` wide which the model needs.
std::vector<Index> needed(const ModelRecord& record, Index width) {
  if (width == std::ssize(record.positions)) return all_positions(width);
  std::vector<Index> wanted;
  for (Index at : record.positions) {
    if (width != record.samples && !record.kept.empty()) {
      at = record.kept[static_cast<std::size_t>(at)];
    }
    if (at < width) wanted.push_back(at);
  }
  return ascending(std::move(wanted));
}

/// The range of fewer means says little.
constexpr Index kFewestSamples = 20;
/// Of training rows, evenly spread: enough for a range.
constexpr Index kMostRows = 300;

/// How far outside the mean of `rows` new rows may be: the range of so many training rows is not
/// that of all there could be.
double slack(const GivenValues& given, Index samples, double rows) {
  const double width = given.largest_mean - given.least_mean;
  const double size = std::max(std::abs(given.least_mean), std::abs(given.largest_mean));
  constexpr double kRounding = 1e-6;
  return width * (0.5 / std::sqrt(rows) + 1 / std::sqrt(static_cast<double>(samples))) +
         kRounding * size;
}

}  // namespace

std::optional<GivenValues> given_values(const GivenTable& table, std::span<const Index> columns) {
  const std::vector<Index> wanted = ascending({columns.begin(), columns.end()});
  GivenValues given{.score_column = table.score_column,
                    .zeros = table.zeros || absent_are_zero(table.block),
                    .least_mean = std::numeric_limits<double>::infinity(),
                    .largest_mean = -std::numeric_limits<double>::infinity()};
  Index known = 0;
  for (const Index i : spread_positions(rows(table.block), kMostRows)) {
    RowSum row = sum_of_row(table.block, i, wanted, i, given.zeros);
    const double others = row.mean();
    if (std::isnan(others)) continue;
    ++known;
    // A training sample may be presented as a new one, with its own pair.
    if (std::ranges::binary_search(wanted, i)) {
      const double own = value_at(table.block, i, i);
      row.add(given.zeros && std::isnan(own) ? 0 : own);
    }
    const double all = row.mean();
    given.least_mean = std::min({given.least_mean, others, all});
    given.largest_mean = std::max({given.largest_mean, others, all});
  }
  if (known < 2) return std::nullopt;
  return given;
}

QueryDoubts::QueryDoubts(const ModelRecord& record)
    : record_(&record), seen_(record.matrices.size()) {}

void QueryDoubts::add(const QueryBlock& queries) {
  for (std::size_t m = 0; m < std::min(seen_.size(), queries.matrices.size()); ++m) {
    const std::optional<GivenValues>& given = record_->matrices[m].given;
    if (!given) continue;
    const Block& block = queries.matrices[m].to_training;
    const std::vector<Index> wanted = needed(*record_, cols(block));
    for (Index i = 0; i < rows(block); ++i) {
      const double mean = sum_of_row(block, i, wanted, -1, given->zeros).mean();
      if (!std::isfinite(mean)) continue;
      seen_[m].sum += mean;
      seen_[m].rows += 1;
    }
  }
}

std::vector<std::string> QueryDoubts::notes(std::span<const std::string> sources) const {
  std::vector<std::string> notes;
  for (std::size_t m = 0; m < seen_.size(); ++m) {
    const ModelMatrix& matrix = record_->matrices[m];
    if (!matrix.given || record_->samples < kFewestSamples || seen_[m].rows == 0) continue;
    const double mean = seen_[m].sum / seen_[m].rows;
    const double reach = slack(*matrix.given, record_->samples, seen_[m].rows);
    if (mean >= matrix.given->least_mean - reach && mean <= matrix.given->largest_mean + reach) {
      continue;
    }
    const bool distances = matrix.rule.kind == PairKind::kDistance;
    const std::string& column = matrix.given->score_column;
    std::string mend = distances ? "a model of similarities is trained with [[distance=no]]"
                                 : "a model of distances is trained with [[distance]]";
    if (!column.empty())
      mend = fmt::format("[[score-column={}]] is what it was trained by", column);
    notes.push_back(fmt::format(
        "{}: the numbers are unlike those that the model was trained on: new rows are {} on "
        "average, those of the training samples from {} to {}. The model takes {} of the measure "
        "and the scale that it was trained on; {}",
        m < sources.size() ? sources[m] : "matrix " + in_quotes(matrix.name), format_short(mean, 4),
        format_short(matrix.given->least_mean, 4), format_short(matrix.given->largest_mean, 4),
        distances ? "distances" : "similarities", mend));
  }
  return notes;
}

}  // namespace kith
