// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/multiclass/machines.hpp"

#include <algorithm>
#include <utility>

#include "core/errors.hpp"

namespace kith {
namespace {

std::vector<Index> rows_in_use(const Matrix& values) {
  std::vector<Index> used;
  for (Index j = 0; j < values.rows(); ++j) {
    if ((values.row(j).array() != 0).any()) used.push_back(j);
  }
  if (used.empty() && values.rows() > 0) used.push_back(0);
  return used;
}

void check_loaded(const Machines& machines) {
  const Index tasks = machines.tasks.size();
  const Matrix& sigmoids = machines.sigmoids;
  if (machines.coefficients.cols() == tasks && machines.intercepts.size() == tasks &&
      (sigmoids.size() == 0 || (sigmoids.rows() == 2 && sigmoids.cols() == tasks))) {
    return;
  }
  throw broken(
      "the model is damaged: {} columns of coefficients, {} intercepts and {} "
      "sigmoids for {} pairs of classes",
      machines.coefficients.cols(), machines.intercepts.size(), sigmoids.cols(), tasks);
}

}  // namespace

Matrix decision_values(const Machines& machines, const Eigen::Ref<const RowMatrix>& rows) {
  Matrix decisions = product(rows, machines.coefficients);
  decisions.rowwise() += machines.intercepts.transpose();
  return decisions;
}

Prediction predict(const Machines& machines, const Eigen::Ref<const RowMatrix>& rows) {
  constexpr Index kMostValues = Index{1} << 22;
  const Index step = std::max<Index>(1, kMostValues / std::max<Index>(1, machines.tasks.size()));
  if (rows.rows() <= step) {
    return decide(machines.tasks, decision_values(machines, rows), machines.sigmoids);
  }
  Prediction all;
  all.scores.resize(rows.rows(), machines.tasks.classes);
  if (machines.sigmoids.size() > 0) all.probabilities.resize(rows.rows(), machines.tasks.classes);
  for (Index begin = 0; begin < rows.rows(); begin += step) {
    const Index count = std::min(step, rows.rows() - begin);
    const Prediction some =
        decide(machines.tasks, decision_values(machines, rows.middleRows(begin, count)),
               machines.sigmoids);
    all.labels.insert(all.labels.end(), some.labels.begin(), some.labels.end());
    all.scores.middleRows(begin, count) = some.scores;
    if (machines.sigmoids.size() > 0) {
      all.probabilities.middleRows(begin, count) = some.probabilities;
    }
  }
  return all;
}

void LinearMachine::make_sparse() {
  for (Index j = 0; j < c.size(); ++j) {
    if (c(j) != 0) at.push_back(j);
  }
  c = Vector(c(at));
}

MappedColumns map_columns(const SparseColumns& coefficients,
                          const std::function<Matrix(const MatrixRef&)>& times_map) {
  std::vector<Index> used = coefficients.used_rows();
  if (used.empty() || !times_map) {
    if (used.empty()) used.push_back(0);
    return {.columns = used, .map = {}, .coefficients = coefficients.with_rows(used)};
  }
  if (coefficients.cols() <= std::ssize(used)) {
    const Matrix mapped = times_map(coefficients.dense());
    std::vector<Index> columns = rows_in_use(mapped);
    const SparseColumns all(mapped);
    SparseColumns kept = all.with_rows(columns);
    return {.columns = std::move(columns), .map = {}, .coefficients = std::move(kept)};
  }
  Matrix units = Matrix::Zero(coefficients.rows, std::ssize(used));
  for (std::size_t k = 0; k < used.size(); ++k) units(used[k], static_cast<Index>(k)) = 1;
  const Matrix map = times_map(units);
  std::vector<Index> columns = rows_in_use(map);
  return {.columns = columns,
          .map = map(columns, Eigen::all),
          .coefficients = coefficients.with_rows(used)};
}

template <class A>
void archive(Archived<A, Machines>& machines, A& archiver) {
  archive(machines.tasks, archiver);
  archive(machines.coefficients, "coefficients", archiver);
  archiver("intercepts", machines.intercepts);
  archiver("sigmoids", machines.sigmoids);
  if constexpr (A::kLoading) check_loaded(machines);
}
template void archive(const Machines&, SavingArchive&);
template void archive(Machines&, LoadingArchive&);

}  // namespace kith
