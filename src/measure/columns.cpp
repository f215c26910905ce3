// SPDX-License-Identifier: Apache-2.0
#include "measure/columns.hpp"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

#include "core/errors.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

struct NamedColumns {
  const std::vector<std::string>& names;
  const std::string& source;
};

[[noreturn]] void refuse_column(const std::string& message) {
  throw invalid("{}; columns that have names in both files are matched by name", message);
}

using Positions = std::unordered_map<std::string_view, Index>;

Positions positions_of(const NamedColumns& columns) {
  Positions positions;
  for (const std::string& name : columns.names) {
    if (positions.emplace(name, static_cast<Index>(positions.size())).second) continue;
    refuse_column(fmt::format("{} has two columns {}", columns.source, in_quotes(name)));
  }
  return positions;
}

void refuse_unknown(const NamedColumns& columns, const Positions& known,
                    const std::string& known_source) {
  for (const std::string& name : columns.names) {
    if (known.contains(name)) continue;
    refuse_column(fmt::format("{} has a column {}, and {} has none of this name", columns.source,
                              in_quotes(name), known_source));
  }
}

/// Where the columns of `training` are among those of `queries`; empty: at their own positions.
std::vector<Index> order_of(const NamedColumns& queries, const NamedColumns& training) {
  std::vector<Index> order;
  if (queries.names.empty() || training.names.empty() || queries.names == training.names) {
    return order;
  }
  const Positions in_queries = positions_of(queries);
  refuse_unknown(training, in_queries, queries.source);
  refuse_unknown(queries, positions_of(training), training.source);
  for (const std::string& name : training.names) order.push_back(in_queries.at(name));
  return order;
}

}  // namespace

std::optional<VectorData> in_column_order(const VectorData& queries, const VectorData& training) {
  const std::vector<Index> order =
      order_of({queries.columns, queries.source}, {training.columns, training.source});
  if (order.empty()) return std::nullopt;
  const std::vector<Index> all = all_positions(rows(queries.values));
  VectorData moved{
      .source = queries.source, .ids = queries.ids, .values = select(queries.values, all, order)};
  moved.absent_is_zero = queries.absent_is_zero;
  moved.columns = training.columns;
  return moved;
}

std::optional<CategoryData> in_column_order(const CategoryData& queries,
                                            const CategoryData& training) {
  const std::vector<Index> order =
      order_of({queries.columns, queries.source}, {training.columns, training.source});
  if (order.empty()) return std::nullopt;
  CategoryData moved = queries;
  for (std::size_t i = 0; i < moved.values.size(); ++i) {
    for (std::size_t k = 0; k < order.size(); ++k) {
      moved.values[i][k] = queries.values[i][static_cast<std::size_t>(order[k])];
    }
  }
  moved.columns = training.columns;
  return moved;
}

}  // namespace kith::detail
