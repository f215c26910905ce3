// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/column_machines.hpp"

#include "kith/learn/svm/pair_machines.hpp"
#include "kith/learn/svm/prototypes.hpp"

namespace kith {

void keep_used_columns(ColumnMachines& model, const Matrix& coefficients,
                       std::span<const Index> prototypes) {
  std::vector<Index> used;
  for (Index j = 0; j < coefficients.rows(); ++j) {
    if ((coefficients.row(j).array() != 0).any()) used.push_back(j);
  }
  if (used.empty()) used.push_back(0);
  model.columns.clear();
  for (const Index j : used) model.columns.push_back(prototypes[static_cast<std::size_t>(j)]);
  model.coefficients = coefficients(used, Eigen::all);
}

ColumnMachines column_machines(const TrainingSet& train, std::span<const ClassPair> pairs,
                               std::span<const Index> prototypes,
                               std::span<const ColumnMachine> machines,
                               std::span<const Sigmoid> sigmoids) {
  const auto count = static_cast<Index>(pairs.size());
  ColumnMachines model;
  model.samples = train.size();
  model.pairs = pair_table(pairs, train.labels);
  model.intercepts.resize(count);
  if (!sigmoids.empty()) model.sigmoids.resize(2, count);
  Matrix all(static_cast<Index>(prototypes.size()), count);
  for (Index p = 0; p < count; ++p) {
    const auto at = static_cast<std::size_t>(p);
    all.col(p) = machines[at].coefficients;
    model.intercepts(p) = machines[at].intercept;
    if (!sigmoids.empty()) model.sigmoids.col(p) << sigmoids[at].slope, sigmoids[at].offset;
  }
  keep_used_columns(model, all, prototypes);
  return model;
}

Prediction predict(const ColumnMachines& model, const QueryBlock& queries, RunContext& /*ctx*/) {
  const QueryMatrix& query = queries.matrices.front();
  check_columns(query, std::ssize(model.columns));
  const DenseBlock rows = to_dense(query.to_training);
  Matrix decisions(rows.rows(), model.coefficients.cols());
  decisions.noalias() = rows.values() * model.coefficients;
  decisions.rowwise() += model.intercepts.transpose();
  return vote(model.pairs, decisions, sigmoids_of(model.sigmoids));
}

std::vector<Index> needed_columns(const ColumnMachines& model) { return model.columns; }

template <class A>
void archive(Archived<A, ColumnMachines>& model, A& archiver) {
  archiver("samples", model.samples);
  archiver("columns", model.columns);
  archive(model.pairs, archiver);
  archiver("coefficients", model.coefficients);
  archiver("intercepts", model.intercepts);
  archiver("sigmoids", model.sigmoids);
}
template void archive(const ColumnMachines&, SavingArchive&);
template void archive(ColumnMachines&, LoadingArchive&);

}  // namespace kith
