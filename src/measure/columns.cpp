// SPDX-License-Identifier: Apache-2.0
#include "measure/columns.hpp"

#include <fmt/format.h>

#include <utility>

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

Positions unique_positions(const NamedColumns& columns) {
  Positions positions = positions_of(columns.names);
  for (Index i = 0; i < std::ssize(columns.names); ++i) {
    const std::string& name = columns.names[static_cast<std::size_t>(i)];
    if (positions.at(name) == i) continue;
    refuse_column(fmt::format("{} has two columns {}", columns.source, in_quotes(name)));
  }
  return positions;
}

/// Where `columns` are among others; throws unless all of them are.
std::vector<Index> all_known(const NamedColumns& columns, const Positions& others,
                             const std::string& source) {
  MatchedIds matched = match_ids(columns.names, others);
  if (matched.unknown.empty()) return std::move(matched.positions);
  refuse_column(fmt::format("{} has a column {}, and {} has none of this name", columns.source,
                            matched.unknown.front(), source));
}

/// Where the columns of `training` are among those of `queries`; empty: at their own positions.
std::vector<Index> order_of(const NamedColumns& queries, const NamedColumns& training) {
  if (queries.names.empty() || training.names.empty() || queries.names == training.names) return {};
  std::vector<Index> order = all_known(training, unique_positions(queries), queries.source);
  (void)all_known(queries, unique_positions(training), training.source);
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
