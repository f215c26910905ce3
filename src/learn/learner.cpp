// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kith/core/error.hpp"

namespace kith {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// From a met tolerance to no answer at all.
int badness(SolveStatus status) {
  switch (status) {
    case SolveStatus::kSolved:
      return 0;
    case SolveStatus::kStationary:
      return 1;
    case SolveStatus::kStopped:
      return 2;
    case SolveStatus::kReducedAccuracy:
      return 3;
    case SolveStatus::kIterationLimit:
      return 4;
    case SolveStatus::kNumericalFailure:
      return 5;
    case SolveStatus::kInfeasible:
      return 6;
  }
  return 7;
}

double largest(const std::vector<Subproblem>& subproblems, double SolveInfo::*field) {
  double most = kNan;
  for (const Subproblem& one : subproblems) {
    const double value = one.info.*field;
    if (!std::isnan(value) && !(value <= most)) most = value;
  }
  return most;
}

}  // namespace

std::vector<Index> all_positions(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
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

void check_columns(const QueryMatrix& query, Index needed) {
  for (const Block* block :
       {&query.to_training, query.from_training ? &*query.from_training : nullptr}) {
    if (block == nullptr || cols(*block) == needed) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("queries have {} columns; the model needs {}", cols(*block), needed));
  }
}

SolveStatus FitInfo::status() const {
  SolveStatus worst = SolveStatus::kSolved;
  for (const Subproblem& one : subproblems) {
    if (badness(one.info.status) > badness(worst)) worst = one.info.status;
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
