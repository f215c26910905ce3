// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/column_machines.hpp"

#include <algorithm>
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
