// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/kernel_sum.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kith/core/error.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "kith/learn/svm/spectrum_kernel.hpp"

namespace kith {
namespace {

void require(bool holds, const char* otherwise) {
  if (!holds) throw Error(ErrorCode::kBadInput, fmt::format("the model is damaged: {}", otherwise));
}

void check_loaded(const KernelSumModel& model) {
  const auto pairs = std::ssize(model.pairs.first);
  const auto columns = std::ssize(model.columns);
  const std::vector<Index>& at = model.columns;
  require(std::is_sorted(at.begin(), at.end()) && columns > 0 && at.front() >= 0 &&
              at.back() < model.samples,
          "its columns are no ascending positions of training samples");
  require(model.intercepts.size() == pairs && model.weights.cols() == pairs,
          "intercepts or weights are not one per pair of classes");
  require(
      model.sigmoids.size() == 0 || (model.sigmoids.rows() == 2 && model.sigmoids.cols() == pairs),
      "sigmoids are not one per pair of classes");
  for (const Matrix& c : model.coefficients) {
    require(c.rows() == columns && c.cols() == pairs,
            "coefficients are not one per column and pair of classes");
  }
}

}  // namespace

void check_query_matrices(const QueryBlock& queries, Index matrices) {
  if (std::ssize(queries.matrices) == matrices) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("queries have rows of {} matrices; the model was trained on {}",
                          queries.matrices.size(), matrices));
}

void keep_columns(KernelSumModel& model, std::span<const Matrix> coefficients) {
  model.columns.clear();
  for (Index j = 0; j < model.samples; ++j) {
    const bool needed = std::any_of(coefficients.begin(), coefficients.end(),
                                    [&](const Matrix& c) { return (c.row(j).array() != 0).any(); });
    if (needed) model.columns.push_back(j);
  }
  if (model.columns.empty()) model.columns.push_back(0);  // a query has to have something
  model.coefficients.clear();
  for (const Matrix& c : coefficients) {
    model.coefficients.emplace_back(c(model.columns, Eigen::all));
  }
}

Matrix decision_values(const KernelSumModel& model, const QueryBlock& queries,
                       const RunContext& ctx) {
  check_query_matrices(queries, std::ssize(model.coefficients));
  Matrix decisions = Matrix::Zero(queries.size(), model.intercepts.size());
  for (std::size_t i = 0; i < model.coefficients.size(); ++i) {
    ctx.check_stop();
    check_columns(queries.matrices[i], std::ssize(model.columns));
    const DenseBlock rows = query_rows(queries.matrices[i], model.spectrum);
    decisions.noalias() += rows.values() * model.coefficients[i];
  }
  decisions.rowwise() += model.intercepts.transpose();
  return decisions;
}

Prediction predict(const KernelSumModel& model, const QueryBlock& queries, const RunContext& ctx) {
  return vote(model.pairs, decision_values(model, queries, ctx), sigmoids_of(model.sigmoids));
}

template <class A>
void archive(Archived<A, KernelSumModel>& model, A& archiver) {
  Index matrices = std::ssize(model.coefficients);
  archiver("matrices", matrices);
  archiver("samples", model.samples);
  archiver("columns", model.columns);
  archive(model.pairs, archiver);
  archiver("intercepts", model.intercepts);
  archiver("sigmoids", model.sigmoids);
  archiver("weights", model.weights);
  archiver("spectrum", model.spectrum);
  if constexpr (A::kLoading) {
    // The weights were read: a wrong count cannot ask for more than there is.
    require(matrices == model.weights.rows(), "weights are not one per matrix");
    model.coefficients.resize(static_cast<std::size_t>(matrices));
  }
  for (std::size_t i = 0; i < model.coefficients.size(); ++i) {
    archiver(fmt::format("coefficients_{}", i), model.coefficients[i]);
  }
  if constexpr (A::kLoading) check_loaded(model);
}
template void archive(const KernelSumModel&, SavingArchive&);
template void archive(KernelSumModel&, LoadingArchive&);

}  // namespace kith
