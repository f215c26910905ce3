// SPDX-License-Identifier: Apache-2.0
#include "condition/scale.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/errors.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {

std::string fit_unit(Table& table, InputRule& rule, int threads) {
  const std::optional<ValueRange> range = known_range(table, threads);
  if (!range || range->low == range->high) return "not scaled: all similarities are the same";
  rule.low = range->low;
  rule.span = range->high - range->low;
  if (!std::isfinite(rule.span)) {
    throw invalid("similarities reach from {} to {}; that range is too wide for [[scale=unit]]",
                  format_short(range->low), format_short(range->high));
  }
  apply_unit(rule, table, threads);
  return fmt::format("scaled from [{}, {}] to [0, 1]", format_short(range->low),
                     format_short(range->high));
}

double unit_value(const InputRule& rule, double similarity) {
  return (similarity - rule.low) / rule.span;
}

void apply_unit(const InputRule& rule, Table& table, int threads) {
  if (rule.low == 0 && rule.span == 1) return;
  map_values(table, threads, [&](double value) { return unit_value(rule, value); });
}

std::string fit_spread(Table& table, InputRule& rule, int threads) {
  double diagonal = 0;
  double sum = 0;
  double magnitude = 0;
  double pairs = 0;  // an absent zero is a pair
  for (Index i = 0; i < rows(table); ++i) {
    diagonal += diagonal_value(table, i).value_or(0);
    for (const double value : row_values(table, i)) {
      if (std::isnan(value)) continue;
      sum += value;
      magnitude += std::abs(value);
      ++pairs;
    }
  }
  if (missing_pairs(table) == 0)
    pairs = static_cast<double>(rows(table)) * static_cast<double>(cols(table));
  if (magnitude == 0) return "not rescaled: all similarities are 0";
  const double spread = diagonal / static_cast<double>(rows(table)) - sum / pairs;
  rule.spread = spread > 1e-6 * magnitude / pairs ? spread : magnitude / pairs;
  apply_spread(rule, table, threads);
  return fmt::format("divided by their spread, {}", format_short(rule.spread));
}

void apply_spread(const InputRule& rule, Table& table, int threads) {
  map_values(table, threads, [spread = rule.spread](double value) { return value / spread; });
}

void fit_cosine(Table& table, InputRule& rule, const PairNames& names, int threads) {
  rule.root_diagonal.resize(rows(table));
  for (Index i = 0; i < rows(table); ++i) {
    const std::optional<double> self = diagonal_value(table, i);
    if (!self || !(*self > 0)) {
      throw invalid(
          "the self-similarity of {} is {}; [[scale=cosine]] needs positive ones "
          "([[diagonal=one]] or [[diagonal=max-row]] set them)",
          names.row(i), self ? format_short(*self) : "missing");
    }
    rule.root_diagonal[i] = std::sqrt(*self);
  }
  apply_cosine(rule, table, rule.root_diagonal, threads);
  set_diagonal(table, [](Index, std::optional<double>) { return std::optional(1.0); });
}

void apply_cosine(const InputRule& rule, Table& table, const Vector& root, int threads) {
  edit_rows(table, threads, [&](Index i, std::span<double> values, const std::int32_t* columns) {
    for (std::size_t e = 0; e < values.size(); ++e) {
      const Index j = columns == nullptr ? static_cast<Index>(e) : columns[e];
      values[e] /= root[i] * rule.root_diagonal[j];
    }
  });
}

}  // namespace kith::detail
