// SPDX-License-Identifier: Apache-2.0
#include "learn/kernel_learning/trace_block.hpp"

#include <algorithm>

#include "kith/learn/kernel_learning/costs_in_reach.hpp"
#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "numerics/unit.hpp"

namespace kith::detail {
namespace {

/// The printed update gains nothing after its first ten or twenty steps.
constexpr long kPrintedIterations = 100;

Matrix mean_of(const std::vector<Matrix>& all) {
  Matrix sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) sum += all[i];
  return sum / static_cast<double>(all.size());
}

trace::Solution solve_at(const trace::Problem& problem, const TraceSettings& settings,
                         const RunContext& ctx) {
  const double tolerance = tolerance_of(settings, problem.shape);
  if (!descends(settings)) return trace::learn_kernel(problem, {.tolerance = tolerance}, ctx);
  papers::MirrorDescentSettings mirror{.update = settings.update, .tolerance = tolerance};
  if (settings.update == papers::MirrorUpdate::kPrinted) mirror.max_iterations = kPrintedIterations;
  if (settings.iterations) mirror.max_iterations = *settings.iterations;
  return papers::mirror_descent(problem, mirror, ctx);
}

/// Without the zeros, which no treatment can divide by, and what rounding or an exponential left in
/// their place.
SymmetricEigen positive_part(const SymmetricEigen& kernel) {
  constexpr double kZero = 1e-12;
  const double cut = kZero * kernel.lambda.maxCoeff();
  std::vector<Index> kept;
  for (Index i = 0; i < kernel.lambda.size(); ++i) {
    if (kernel.lambda(i) > cut) kept.push_back(i);
  }
  return {kernel.lambda(kept), kernel.U(Eigen::all, kept)};
}

const SymmetricEigen& decomposition(const TraceBlock& block, std::size_t i) {
  static const SymmetricEigen none;  // treatments other than map ask for nothing
  return block.eigen.empty() ? none : block.eigen[i];
}

}  // namespace

bool descends(const TraceSettings& settings) {
  return settings.solver == TraceSolver::kMirrorDescent ||
         settings.update == papers::MirrorUpdate::kPrinted;
}

double tolerance_of(const TraceSettings& settings, trace::KernelShape shape) {
  constexpr double kOfDescent = 0.05;
  const double exact = trace::default_tolerance(settings.loss, shape);
  return settings.tolerance.value_or(descends(settings) ? kOfDescent : exact);
}

TraceBlock trace_block(SharedWork& work, const BinaryTask& task, trace::KernelShape shape) {
  const TrainingSet& train = work.train();
  TraceBlock block;
  for (Index i = 0; i < std::ssize(train.matrices); ++i) {
    block.S.emplace_back(work.symmetric(i)(task.samples, task.samples));
  }
  if (shape == trace::KernelShape::kShared && block.S.size() > 1) block.mean = {mean_of(block.S)};
  block.y = task.y();
  block.weights = weights_of(train, task);
  return block;
}

TraceBlock part_of(const TraceBlock& block, std::span<const Index> at) {
  TraceBlock part;
  for (const Matrix& S : block.S) part.S.emplace_back(S(at, at));
  for (const Matrix& S : block.mean) part.mean.emplace_back(S(at, at));
  part.y = block.y(at);
  part.weights = block.weights(at);
  return part;
}

double own_trace(const TraceBlock& block) {
  constexpr double kRounding = 1e-12;  // of a sum that cancels
  double trace = 0;
  double size = 0;
  for (const Matrix& S : block.S) {
    trace += S.trace();
    size += S.diagonal().cwiseAbs().sum();
  }
  if (trace > kRounding * size) return trace / static_cast<double>(block.S.size());
  const Vector lambda = symmetric_eigenvalues(mean_of(block.S));
  const double positive = lambda.cwiseMax(0.0).sum();
  if (positive > kRounding * lambda.cwiseAbs().sum()) return positive;
  return static_cast<double>(block.y.size());
}

double unit_of(const TraceSettings& settings, double trace, Index samples) {
  if (settings.loss == trace::KernelLoss::kOwn) return 1;
  return own_unit(trace / static_cast<double>(samples));
}

trace::Problem problem_of(TraceBlock& block, trace::KernelShape shape,
                          const TraceSettings& settings, double trace, double unit) {
  const double blame = settings.trace ? 1.0 : unit;
  const bool squared = settings.loss == trace::KernelLoss::kSquared;
  check_range("cost times the trace per sample", settings.cost * unit, blame);
  const double rho = settings.rho * unit * unit * (squared ? unit : 1.0);
  check_range(squared ? "rho times the cube of the trace per sample"
                      : "rho times the square of the trace per sample",
              rho, blame);
  block.set_unit(unit);
  trace::Problem problem{.S = block.in_unit(),
                         .y = block.y,
                         .cost = (settings.cost * unit) * block.weights,
                         .rho = rho};
  double largest = 1;
  for (const Matrix& S : problem.S) largest = std::max(largest, S.cwiseAbs().maxCoeff());
  check_range("rho times the distance of the similarities from kernels of the trace",
              std::max(1.0, rho) * largest * (squared ? largest : 1.0), blame);
  problem.trace = trace / unit;
  problem.loss = settings.loss;
  problem.own = settings.own_loss.get();
  problem.shape = shape;
  const bool reduces = squared && !descends(settings);
  if (reduces || shape == trace::KernelShape::kSpectral) problem.eigen = block.eigen_in_unit();
  return problem;
}

trace::Solution solve(trace::Problem& problem, const TraceSettings& settings,
                      const RunContext& ctx) {
  const double size = problem.trace / static_cast<double>(problem.y.size());
  return with_costs_in_reach(problem.cost, size, [&] { return solve_at(problem, settings, ctx); });
}

trace::Solution in_data_unit(trace::Solution solution, double unit) {
  if (unit == 1) return solution;
  solution.alpha /= unit;
  for (SymmetricEigen& kernel : solution.kernels) kernel.lambda *= unit;
  solution.machine /= unit;
  solution.lower /= unit;
  solution.offset /= unit;
  solution.info.objective /= unit;
  return solution;
}

Vector weights_of(const trace::Solution& solution) {
  constexpr double kLargestWeight = 1e6;
  return solution.gamma.cwiseInverse().cwiseMin(kLargestWeight);
}

std::vector<LearnedMachine> machines_of(TraceBlock& block, const trace::Solution& solution,
                                        Treatment treatment) {
  if (treatment == Treatment::kMap) block.decompose();
  const Vector u = block.y.cwiseProduct(solution.alpha);
  const Vector weights = weights_of(solution);
  std::vector<LearnedMachine> machines;
  for (std::size_t i = 0; i < solution.kernels.size(); ++i) {
    machines.push_back(learned_machine(treatment, positive_part(solution.kernels[i]),
                                       decomposition(block, i), weights(static_cast<Index>(i)) * u,
                                       i == 0 ? solution.b : 0));
  }
  return machines;
}

double worst_consistency(const TraceBlock& block, const trace::Solution& solution,
                         Treatment treatment) {
  double worst = 0;
  for (std::size_t i = 0; i < solution.kernels.size(); ++i) {
    worst = std::max(worst, consistency(treatment, positive_part(solution.kernels[i]),
                                        decomposition(block, i), block.seen()[i]));
  }
  return worst;
}

}  // namespace kith::detail
