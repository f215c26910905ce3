// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/multiclass/sparse_columns.hpp"
#include "kith/core/positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"

namespace kith {
namespace {

/// What a product relies on, whoever wrote the file.
void check_loaded(const SparseColumns& columns, std::string_view name) {
  const std::vector<Index>& starts = columns.starts;
  const Index entries = std::ssize(columns.at);
  const bool fits = columns.rows >= 0 && !starts.empty() && starts.front() == 0 &&
                    std::is_sorted(starts.begin(), starts.end()) && starts.back() == entries &&
                    columns.values.size() == entries;
  const auto inside = [&](int row) { return row >= 0 && row < columns.rows; };
  if (fits && std::all_of(columns.at.begin(), columns.at.end(), inside)) return;
  throw broken("the model is damaged: the parts of {} do not fit each other", name);
}

}  // namespace

SparseColumns::SparseColumns(const MatrixRef& dense) {
  SparseColumnsBuilder builder(dense.rows());
  const std::vector<Index> all = all_positions(dense.rows());
  for (Index j = 0; j < dense.cols(); ++j) builder.add(all, dense.col(j));
  *this = builder.done();
}

Vector SparseColumns::column(Index j) const {
  Vector values_of_column = Vector::Zero(rows);
  const auto s = static_cast<std::size_t>(j);
  for (Index k = starts[s]; k < starts[s + 1]; ++k) {
    values_of_column(at[static_cast<std::size_t>(k)]) = values(k);
  }
  return values_of_column;
}

Matrix SparseColumns::dense() const {
  Matrix all(rows, cols());
  for (Index j = 0; j < cols(); ++j) all.col(j) = column(j);
  return all;
}

std::vector<Index> SparseColumns::used_rows() const {
  std::vector<bool> used(static_cast<std::size_t>(rows), false);
  for (const int row : at) used[static_cast<std::size_t>(row)] = true;
  std::vector<Index> list;
  for (Index i = 0; i < rows; ++i) {
    if (used[static_cast<std::size_t>(i)]) list.push_back(i);
  }
  return list;
}

SparseColumns SparseColumns::with_rows(std::span<const Index> kept) const {
  std::vector<int> place(static_cast<std::size_t>(rows), -1);
  for (std::size_t k = 0; k < kept.size(); ++k) {
    place[static_cast<std::size_t>(kept[k])] = static_cast<int>(k);
  }
  SparseColumns some = *this;
  some.rows = std::ssize(kept);
  for (int& row : some.at) row = place[static_cast<std::size_t>(row)];
  return some;
}

void SparseColumnsBuilder::add(std::span<const Index> rows, const VectorRef& values) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double value = values(static_cast<Index>(k));
    if (value == 0) continue;
    made_.at.push_back(static_cast<int>(rows[k]));
    values_.push_back(value);
  }
  made_.starts.push_back(std::ssize(made_.at));
}

SparseColumns SparseColumnsBuilder::done() {
  made_.values = Eigen::Map<const Vector>(values_.data(), std::ssize(values_));
  values_.clear();
  return std::move(made_);
}

Matrix product(const Eigen::Ref<const RowMatrix>& rows, const SparseColumns& columns) {
  constexpr double kDense = 0.25;  // share of entries from which on a dense product is faster
  const auto most = static_cast<double>(columns.rows) * static_cast<double>(columns.cols());
  if (static_cast<double>(columns.values.size()) >= kDense * most) {
    Matrix all(rows.rows(), columns.cols());
    all.noalias() = rows * columns.dense();
    return all;
  }
  Matrix sums(rows.rows(), columns.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    const double* row = rows.row(i).data();
    for (Index j = 0; j < columns.cols(); ++j) {
      const auto s = static_cast<std::size_t>(j);
      double sum = 0;
      for (Index k = columns.starts[s]; k < columns.starts[s + 1]; ++k) {
        sum += columns.values(k) * row[columns.at[static_cast<std::size_t>(k)]];
      }
      sums(i, j) = sum;
    }
  }
  return sums;
}

template <class A>
void archive(Archived<A, SparseColumns>& columns, std::string_view name, A& archiver) {
  archiver(fmt::format("{}_rows", name), columns.rows);
  archiver(fmt::format("{}_starts", name), columns.starts);
  archiver(fmt::format("{}_at", name), columns.at);
  archiver(std::string(name), columns.values);
  if constexpr (A::kLoading) check_loaded(columns, name);
}
template void archive(const SparseColumns&, std::string_view, SavingArchive&);
template void archive(SparseColumns&, std::string_view, LoadingArchive&);

}  // namespace kith
