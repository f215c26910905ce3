// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/learner.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/errors.hpp"

namespace kith {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double largest(const std::vector<Subproblem>& subproblems, double SolveInfo::*field) {
  double most = kNan;
  for (const Subproblem& one : subproblems) {
    const double value = one.info.*field;
    if (!std::isnan(value) && !(value <= most)) most = value;
  }
  return most;
}

}  // namespace

Prediction blank_prediction(Index queries, int classes, bool probabilities) {
  Prediction blank{.labels = std::vector<int>(static_cast<std::size_t>(queries)),
                   .scores = Matrix::Zero(queries, classes),
                   .probabilities = {}};
  if (probabilities) blank.probabilities = blank.scores;
  return blank;
}

QueryBlock over_columns(const QueryBlock& queries, std::span<const Index> columns) {
  QueryBlock chosen = queries;  // shares the numbers
  const auto choose = [&](Block& block) {
    if (cols(block) == std::ssize(columns)) return;
    block = select(block, all_positions(rows(block)), columns);
  };
  for (QueryMatrix& query : chosen.matrices) {
    choose(query.to_training);
    if (query.from_training) choose(*query.from_training);
  }
  return chosen;
}

void check_columns(Index given, Index needed) {
  if (given == needed) return;
  throw invalid("queries have {} columns; the model needs {}", given, needed);
}

void check_columns(const QueryMatrix& query, Index needed) {
  check_columns(cols(query.to_training), needed);
  if (query.from_training) check_columns(cols(*query.from_training), needed);
}

DenseBlock mean_rows(const QueryMatrix& query) {
  DenseBlock to = to_dense(query.to_training);
  if (!query.from_training) return to;
  return DenseBlock(0.5 * (to.values() + to_dense(*query.from_training).values()));
}

std::vector<std::size_t> FitInfo::listed() const {
  constexpr std::size_t kMost = 1000;
  std::vector<std::size_t> all(subproblems.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (all.size() <= kMost) return all;
  const auto worse = [&](std::size_t a, std::size_t b) {
    const SolveInfo& one = subproblems[a].info;
    const SolveInfo& other = subproblems[b].info;
    if (one.status != other.status) return one.status > other.status;
    const double gap = std::isnan(one.gap) ? 0 : one.gap;
    const double other_gap = std::isnan(other.gap) ? 0 : other.gap;
    return gap != other_gap ? gap > other_gap : a < b;
  };
  std::partial_sort(all.begin(), all.begin() + kMost, all.end(), worse);
  all.resize(kMost);
  std::sort(all.begin(), all.end());
  return all;
}

SolveStatus FitInfo::status() const {
  SolveStatus worst = SolveStatus::kSolved;
  for (const Subproblem& one : subproblems) {
    worst = std::max(worst, one.info.status);
  }
  return worst;
}

double FitInfo::gap() const { return largest(subproblems, &SolveInfo::gap); }

double FitInfo::kkt_residual() const { return largest(subproblems, &SolveInfo::kkt_residual); }

long FitInfo::iterations() const {
  long sum = 0;
  for (const Subproblem& one : subproblems) sum += one.info.iterations;
  return sum;
}

double FitInfo::objective() const {
  return subproblems.size() == 1 ? subproblems.front().info.objective : kNan;
}

double FitInfo::objective_offset() const {
  return subproblems.size() == 1 ? subproblems.front().objective_offset : kNan;
}

}  // namespace kith
