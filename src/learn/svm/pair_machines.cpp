// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/pair_machines.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "kith/core/parallel.hpp"
#include "kith/numerics/extreme_eigen.hpp"
#include "kith/optim/dual/smo.hpp"

namespace kith {
namespace {

Matrix sub_matrix(const MatrixRef& K, std::span<const Index> rows, std::span<const Index> cols) {
  Matrix sub(static_cast<Index>(rows.size()), static_cast<Index>(cols.size()));
  for (std::size_t j = 0; j < cols.size(); ++j) {
    const double* column = K.col(cols[j]).data();
    double* out = sub.col(static_cast<Index>(j)).data();
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = column[rows[i]];
  }
  return sub;
}

Vector as_vector(std::span<const int> signs) {
  Vector y(static_cast<Index>(signs.size()));
  for (Index i = 0; i < y.size(); ++i) y(i) = signs[static_cast<std::size_t>(i)];
  return y;
}

/// One machine of one pair: coefficients c = Y a over the pair's samples.
struct Machine {
  Vector c;
  double b = 0;
  SolveInfo info;
  Sigmoid sigmoid;
};

/// Everything that is fixed along a path: the pair, its block of the kernel, its sample weights.
struct PairProblem {
  const ClassPair* pair = nullptr;
  Matrix own;  // the pair's block, where it is not the whole kernel
  const Matrix* K = nullptr;
  Vector weights;  // per sample, empty: all 1
  bool convex = true;

  [[nodiscard]] Vector costs(double cost) const {
    if (weights.size() > 0) return cost * weights;
    return Vector::Constant(static_cast<Index>(pair->samples.size()), cost);
  }
};

const Matrix& kernel_of(const PairProblem& problem) {
  return problem.K != nullptr ? *problem.K : problem.own;
}

PairProblem make_problem(const ClassPair& pair, const Matrix& K, const TrainingSet& train,
                         bool convex, const RunContext& ctx) {
  PairProblem problem;
  problem.pair = &pair;
  if (train.weights.size() > 0) {
    problem.weights = train.weights(pair.samples);
  }
  if (static_cast<Index>(pair.samples.size()) == K.rows()) {
    problem.K = &K;
  } else {
    problem.own = sub_matrix(K, pair.samples, pair.samples);
  }
  // A matrix that was left as it is may well be a kernel, and then there is an optimum to certify.
  problem.convex = convex || is_positive_semidefinite(kernel_of(problem), ctx);
  return problem;
}

Sigmoid sigmoid_of(const PairProblem& problem, double cost, const dual::SmoSolution& whole,
                   const Rng& stream, const RunContext& ctx) {
  const Matrix& K = kernel_of(problem);
  const Vector y = as_vector(problem.pair->signs);
  const Vector costs = problem.costs(cost);
  const auto held_out = [&](const FoldSplit& split) -> Vector {
    const Matrix inner = sub_matrix(K, split.outside, split.outside);
    const dual::SvmDual dual{.K = dual::SymmetricView::dense(inner),
                             .y = y(split.outside),
                             .cost = costs(split.outside),
                             .linear = {}};
    const dual::SmoSettings loose{.tolerance = kCalibrationTolerance,
                                  .gap_tolerance = std::numeric_limits<double>::infinity(),
                                  .indefinite = !problem.convex};
    const dual::SmoSolution part = dual::smo(dual, loose, ctx, Vector(whole.alpha(split.outside)));
    const Vector c = dual.y.cwiseProduct(part.alpha);
    const Vector decisions = sub_matrix(K, split.inside, split.outside) * c;
    return decisions.array() + part.b;
  };
  const auto own = [&]() -> Vector { return (K * y.cwiseProduct(whole.alpha)).array() + whole.b; };
  return cross_fitted_sigmoid(problem.pair->signs, stream, held_out, own);
}

/// The machines of one pair for ascending costs.
std::vector<Machine> solve_pair(const PairProblem& problem,
                                std::span<const MachineSettings> ascending, const Rng& stream,
                                const RunContext& ctx) {
  const Vector y = as_vector(problem.pair->signs);
  std::vector<Machine> machines;
  std::optional<dual::SmoSolution> last;
  double last_cost = 0;
  for (const MachineSettings& settings : ascending) {
    ctx.check_stop();
    const bool reusable = last && problem.convex && problem.weights.size() == 0 &&
                          last->info.status == SolveStatus::kSolved &&
                          last->largest_alpha < last_cost;
    if (!reusable) {
      const dual::SvmDual dual{.K = dual::SymmetricView::dense(kernel_of(problem)),
                               .y = y,
                               .cost = problem.costs(settings.cost),
                               .linear = {}};
      const dual::SmoSettings solver{.tolerance = settings.tolerance,
                                     .gap_tolerance = settings.tolerance,
                                     .indefinite = !problem.convex};
      std::optional<Vector> start;
      if (last && problem.convex) start = last->alpha;
      last = dual::smo(dual, solver, ctx, start);
      last_cost = settings.cost;
    }
    Machine machine{
        .c = y.cwiseProduct(last->alpha), .b = last->b, .info = last->info, .sigmoid = {}};
    if (settings.probability) {
      machine.sigmoid = sigmoid_of(problem, settings.cost, *last, stream, ctx);
    }
    machines.push_back(std::move(machine));
  }
  return machines;
}

/// The machines of all pairs for one cost, side by side.
MachineTable assemble(std::span<const ClassPair> pairs,
                      const std::vector<std::vector<Machine>>& machines, std::size_t step,
                      const MachineSettings& settings, const Labels& labels) {
  const auto count = static_cast<Index>(pairs.size());
  MachineTable all{.coefficients = Matrix::Zero(labels.size(), count),
                   .intercepts = Vector(count),
                   .sigmoids = settings.probability ? Matrix(2, count) : Matrix(),
                   .info = {}};
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const Machine& machine = machines[p][step];
    const auto column = static_cast<Index>(p);
    all.coefficients.col(column)(pairs[p].samples) = machine.c;
    all.intercepts(column) = machine.b;
    if (settings.probability) {
      all.sigmoids.col(column) << machine.sigmoid.slope, machine.sigmoid.offset;
    }
    all.info.subproblems.push_back({pair_name(pairs[p], labels), machine.info});
  }
  return all;
}

}  // namespace

std::vector<MachineTable> train_pairs(const Matrix& K, const TrainingSet& train,
                                      std::span<const ClassPair> pairs,
                                      std::span<const MachineSettings> ascending, bool convex,
                                      const RunContext& ctx) {
  std::vector<std::vector<Machine>> machines(pairs.size());
  parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
    const PairProblem problem = make_problem(pairs[p], K, train, convex, ctx);
    machines[p] = solve_pair(problem, ascending, ctx.rng.stream("svm calibration", p), ctx);
  });
  std::vector<MachineTable> tables;
  for (std::size_t step = 0; step < ascending.size(); ++step) {
    tables.push_back(assemble(pairs, machines, step, ascending[step], train.labels));
  }
  return tables;
}

void state_primal(MachineTable& table, std::span<const ClassPair> pairs, const TrainingSet& train,
                  const Matrix& decisions, double cost) {
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto column = static_cast<Index>(p);
    double norm = 0;
    double loss = 0;
    for (std::size_t k = 0; k < pairs[p].samples.size(); ++k) {
      const Index i = pairs[p].samples[k];
      const double f = decisions(i, column);
      const double weight = train.weights.size() > 0 ? train.weights(i) : 1;
      norm += table.coefficients(i, column) * f;
      loss += weight * std::max(0.0, 1 - pairs[p].signs[k] * (f + table.intercepts(column)));
    }
    table.info.subproblems[p].info.objective = 0.5 * norm + cost * loss;
  }
}

std::vector<Sigmoid> sigmoids_of(const MatrixRef& sigmoids) {
  std::vector<Sigmoid> all;
  for (Index p = 0; p < sigmoids.cols(); ++p) {
    all.push_back({.slope = sigmoids(0, p), .offset = sigmoids(1, p)});
  }
  return all;
}

}  // namespace kith
