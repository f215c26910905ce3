// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/column_machines.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/errors.hpp"

namespace kith {
namespace {

/// What the coefficients are over: the columns, or what the map makes of them.
DenseBlock mapped(const ColumnMachines& model, const DenseBlock& rows) {
  check_columns(rows.cols(), std::ssize(model.columns));
  if (model.map.size() == 0) return rows;
  return DenseBlock(RowMatrix(rows.values() * model.map));
}

/// The machines of a class summed in its favour: over the columns, and the offset.
struct InFavour {
  Vector coefficients;
  double offset = 0;
};
InFavour in_favour(const ColumnMachines& model, int label) {
  InFavour sum{.coefficients = Vector::Zero(model.coefficients.rows), .offset = 0};
  for (Index t = 0; t < model.tasks.size(); ++t) {
    const auto task = static_cast<std::size_t>(t);
    const bool first = model.tasks.first[task] == label;
    if (!first && model.tasks.second[task] != label) continue;
    const double sign = first ? 1 : -1;
    sum.coefficients += sign * model.coefficients.column(t);
    sum.offset += sign * model.intercepts(t);
  }
  if (model.map.size() > 0) sum.coefficients = Vector(model.map * sum.coefficients);
  return sum;
}

void check_loaded(const ColumnMachines& model) {
  const std::vector<Index>& at = model.columns;
  const Index over = model.map.size() == 0 ? std::ssize(at) : model.map.cols();
  const bool mapped = model.map.size() == 0 || model.map.rows() == std::ssize(at);
  const auto inside = [&](Index column) { return column >= 0 && column < model.samples; };
  if (mapped && model.coefficients.rows == over && std::all_of(at.begin(), at.end(), inside)) {
    return;
  }
  throw broken("the model is damaged: coefficients, map and columns do not fit each other");
}

}  // namespace

ColumnMachines column_machines(Machines machines, Index samples, std::span<const Index> prototypes,
                               const std::function<Matrix(const MatrixRef&)>& times_map) {
  MappedColumns mapped = map_columns(machines.coefficients, times_map);
  ColumnMachines model{{std::move(machines)}, samples, {}, std::move(mapped.map)};
  model.coefficients = std::move(mapped.coefficients);
  for (const Index j : mapped.columns) {
    model.columns.push_back(prototypes[static_cast<std::size_t>(j)]);
  }
  return model;
}

Matrix decision_values(const ColumnMachines& model, const DenseBlock& rows) {
  const Machines& machines = model;
  return decision_values(machines, mapped(model, rows).values());
}

Prediction predict(const ColumnMachines& model, const DenseBlock& rows) {
  const Machines& machines = model;
  return predict(machines, mapped(model, rows).values());
}

DenseBlock machine_rows(const ColumnMachines& /*model*/, const QueryBlock& queries,
                        const RunContext& /*ctx*/) {
  return to_dense(queries.matrices.front().to_training);
}

std::vector<Explanation> explain(const ColumnMachines& model, const DenseBlock& rows,
                                 std::span<const int> labels) {
  check_columns(rows.cols(), std::ssize(model.columns));
  std::map<int, InFavour> by_label;
  for (const int label : labels) {
    if (!by_label.contains(label)) by_label.emplace(label, in_favour(model, label));
  }
  std::vector<Explanation> explanations(labels.size());
  for (std::size_t q = 0; q < labels.size(); ++q) {
    const InFavour& own = by_label.at(labels[q]);
    explanations[q].offset = own.offset;
    for (Index j = 0; j < rows.cols(); ++j) {
      const double amount = rows(static_cast<Index>(q), j) * own.coefficients(j);
      if (amount == 0) continue;
      explanations[q].samples.push_back({model.columns[static_cast<std::size_t>(j)], amount});
    }
  }
  return explanations;
}

std::vector<Index> needed_columns(const ColumnMachines& model) { return model.columns; }

template <class A>
void archive(Archived<A, ColumnMachines>& model, A& archiver) {
  archiver("samples", model.samples);
  archiver("columns", model.columns);
  archiver("map", model.map);
  Archived<A, Machines>& machines = model;
  archive(machines, archiver);
  if constexpr (A::kLoading) check_loaded(model);
}
template void archive(const ColumnMachines&, SavingArchive&);
template void archive(ColumnMachines&, LoadingArchive&);

}  // namespace kith
