// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/kernel_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "core/errors.hpp"
#include "kith/learn/svm/prototypes.hpp"
#include "kith/learn/svm/spectrum_kernel.hpp"

namespace kith {
namespace {

void require(bool holds, const char* otherwise) {
  if (!holds) throw broken("the model is damaged: {}", otherwise);
}

void check_loaded(const KernelSumModel& model) {
  const Index tasks = model.tasks.size();
  const auto columns = std::ssize(model.columns);
  const std::vector<Index>& at = model.columns;
  require(std::is_sorted(at.begin(), at.end()) && columns > 0 && at.front() >= 0 &&
              at.back() < model.samples,
          "its columns are no ascending positions of training samples");
  require(model.intercepts.size() == tasks && model.weights.cols() == tasks,
          "intercepts or weights are not one per pair of classes");
  require(
      model.sigmoids.size() == 0 || (model.sigmoids.rows() == 2 && model.sigmoids.cols() == tasks),
      "sigmoids are not one per pair of classes");
  for (std::size_t i = 0; i < model.coefficients.size(); ++i) {
    const Matrix& map = model.maps[i];
    require(map.size() == 0 || map.rows() == columns, "a map is not over its columns");
    require(model.coefficients[i].rows == (map.size() == 0 ? columns : map.cols()) &&
                model.coefficients[i].cols() == tasks,
            "coefficients are not one per column and pair of classes");
  }
}

/// The same over `all`, which hold its columns.
void spread(MappedColumns& part, std::span<const Index> all) {
  std::vector<Index> place;
  for (const Index column : part.columns) {
    place.push_back(std::lower_bound(all.begin(), all.end(), column) - all.begin());
  }
  if (part.map.size() == 0) {
    part.coefficients.rows = std::ssize(all);
    for (int& row : part.coefficients.at) {
      row = static_cast<int>(place[static_cast<std::size_t>(row)]);
    }
  } else {
    Matrix map = Matrix::Zero(std::ssize(all), part.map.cols());
    map(place, Eigen::all) = part.map;
    part.map = std::move(map);
  }
}

/// Coefficients of one matrix over all training samples.
SparseColumns of_matrix(Index which, std::span<const SumMachine> machines, Tasks tasks,
                        Index samples) {
  SparseColumnsBuilder builder(samples);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::vector<Index>& matrix = machines[t].matrix;
    const auto at = std::find(matrix.begin(), matrix.end(), which);
    if (at == matrix.end()) {
      builder.add({}, Vector());
    } else {
      builder.add(tasks[t].samples, machines[t].c.col(at - matrix.begin()));
    }
  }
  return builder.done();
}

}  // namespace

void check_query_matrices(const QueryBlock& queries, Index matrices) {
  if (std::ssize(queries.matrices) == matrices) return;
  throw invalid("queries have rows of {} matrices; the model was trained on {}",
                queries.matrices.size(), matrices);
}

Vector sum_decisions(std::span<const Matrix> kernels, const Matrix& c, double b,
                     std::span<const Index> rows, std::span<const Index> trained_on) {
  Vector f = Vector::Constant(std::ssize(rows), b);
  for (Index i = 0; i < c.cols(); ++i) {
    const Matrix block = kernels[static_cast<std::size_t>(i)](rows, trained_on);
    f += block * c.col(i);
  }
  return f;
}

Fitted<KernelSumModel> kernel_sum(FittedTasks<SumMachine>&& fitted, Tasks tasks,
                                  const TrainingSet& train,
                                  std::span<const TestTransform> transforms) {
  Fitted<KernelSumModel> result{.model = {}, .info = std::move(fitted.info)};
  KernelSumModel& model = result.model;
  model.samples = train.size();
  model.tasks = task_table(tasks, train.labels);
  model.intercepts.resize(std::ssize(tasks));
  model.weights.resize(std::ssize(transforms), std::ssize(tasks));
  model.sigmoids = std::move(fitted.sigmoids);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const SumMachine& machine = fitted.machines[t];
    model.intercepts(static_cast<Index>(t)) = machine.b;
    model.weights.col(static_cast<Index>(t)) = machine.weights;
    for (std::size_t i = 0; i < transforms.size(); ++i) {
      result.info.subproblems[t].kernel_weights.push_back(
          {train.matrices[i].name, machine.weights(static_cast<Index>(i))});
    }
  }
  std::vector<MappedColumns> parts;
  std::vector<bool> used(static_cast<std::size_t>(train.size()), false);
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    const auto fold_in = [&](const MatrixRef& c) { return fold(transforms[i], c); };
    const SparseColumns own =
        of_matrix(static_cast<Index>(i), fitted.machines, tasks, train.size());
    const bool unchanged = std::holds_alternative<Unchanged>(transforms[i]);
    parts.push_back(unchanged ? map_columns(own, nullptr) : map_columns(own, fold_in));
    if (parts.back().coefficients.values.size() == 0) continue;
    for (const Index column : parts.back().columns) used[static_cast<std::size_t>(column)] = true;
  }
  for (Index j = 0; j < train.size(); ++j) {
    if (used[static_cast<std::size_t>(j)]) model.columns.push_back(j);
  }
  if (model.columns.empty()) model.columns.push_back(0);  // a query has to have something
  for (MappedColumns& part : parts) {
    if (part.coefficients.values.size() == 0) part.columns = {model.columns.front()};
    spread(part, model.columns);
    model.coefficients.push_back(std::move(part.coefficients));
    model.maps.push_back(std::move(part.map));
  }
  return result;
}

Matrix decision_values(const KernelSumModel& model, const QueryBlock& queries,
                       const RunContext& ctx) {
  check_query_matrices(queries, std::ssize(model.coefficients));
  Matrix decisions = Matrix::Zero(queries.size(), model.intercepts.size());
  for (std::size_t i = 0; i < model.coefficients.size(); ++i) {
    ctx.check_stop();
    check_columns(queries.matrices[i], std::ssize(model.columns));
    DenseBlock rows = query_rows(queries.matrices[i], model.spectrum);
    if (model.maps[i].size() > 0) rows = DenseBlock(RowMatrix(rows.values() * model.maps[i]));
    decisions += product(rows.values(), model.coefficients[i]);
  }
  decisions.rowwise() += model.intercepts.transpose();
  return decisions;
}

Prediction predict(const KernelSumModel& model, const QueryBlock& queries, const RunContext& ctx) {
  return decide(model.tasks, decision_values(model, queries, ctx), model.sigmoids);
}

std::vector<Index> needed_columns(const KernelSumModel& model) { return model.columns; }

template <class A>
void archive(Archived<A, KernelSumModel>& model, A& archiver) {
  Index matrices = std::ssize(model.coefficients);
  archiver("matrices", matrices);
  archiver("samples", model.samples);
  archiver("columns", model.columns);
  archive(model.tasks, archiver);
  archiver("intercepts", model.intercepts);
  archiver("sigmoids", model.sigmoids);
  archiver("weights", model.weights);
  archiver("spectrum", model.spectrum);
  if constexpr (A::kLoading) {
    // The weights were read: a wrong count cannot ask for more than there is.
    require(matrices == model.weights.rows(), "weights are not one per matrix");
    model.coefficients.resize(static_cast<std::size_t>(matrices));
    model.maps.resize(static_cast<std::size_t>(matrices));
  }
  for (std::size_t i = 0; i < model.coefficients.size(); ++i) {
    archive(model.coefficients[i], fmt::format("coefficients_{}", i), archiver);
    archiver(fmt::format("map_{}", i), model.maps[i]);
  }
  if constexpr (A::kLoading) check_loaded(model);
}
template void archive(const KernelSumModel&, SavingArchive&);
template void archive(KernelSumModel&, LoadingArchive&);

}  // namespace kith
