// SPDX-License-Identifier: Apache-2.0
// rho sum_i |K - S_i|_1 by the alternating direction method of multipliers on
//
//   min Omega(K) + rho sum_i |X_i - S_i|_1   s.t.  K_(i) = X_i,
//
// K_(i) the kernel that S_i is compared with. With multipliers Z_i, penalty sigma and
// over-relaxation r, one iteration is
//
//   K     minimises Omega(K) + sigma/2 sum_i |K_(i) - X_i + Z_i / sigma|^2   (optim/trace_weighted)
//   K^_i  = r K_(i) + (1 - r) X_i
//   X_i   = S_i + shrink(K^_i + Z_i / sigma - S_i, rho / sigma)
//   Z_i  += sigma (K^_i - X_i)
//
// after which |Z_i| <= rho everywhere: Z with the a and gamma of K proves a lower bound, K itself
// an upper one. sigma follows the ratio of the two residuals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/numerics/psd.hpp"
#include "kith/optim/smo.hpp"
#include "optim/trace_point.hpp"
#include "optim/trace_weighted.hpp"

namespace kith::detail {
namespace {

struct State {
  std::vector<Matrix> X, Z;
  double sigma = 1;
  double primal = 0;  // |K - X| relative to |K|
  double dual = 0;    // sigma |X - old X| relative to |Z|
};

Matrix nearest_kernel(const Matrix& S, double trace) {
  const SymmetricEigen eigen = symmetric_eigen(S);
  return reconstruct(eigen.U, project_to_simplex(eigen.lambda, trace).k);
}

/// X at the nearest kernels, sigma such that a typical entry is shrunk by its own size.
State start(const TraceKernelProblem& problem) {
  constexpr double kLeast = 1e-2;  // of the mean entry: where the S are kernels themselves
  State state;
  const auto m = static_cast<double>(problem.S.size());
  double spread = 0;
  double size = 0;
  Matrix shared;
  if (problem.shape == KernelShape::kShared) {
    shared = problem.S[0];
    for (std::size_t i = 1; i < problem.S.size(); ++i) shared += problem.S[i];
    shared = nearest_kernel(shared / m, problem.trace);
  }
  for (const Matrix& S : problem.S) {
    state.X.push_back(shared.size() > 0 ? shared : nearest_kernel(S, problem.trace));
    state.Z.emplace_back(Matrix::Zero(S.rows(), S.cols()));
    spread += (state.X.back() - S).cwiseAbs().mean() / m;
    size += state.X.back().cwiseAbs().mean() / m;
  }
  state.sigma = problem.rho / std::max(spread, kLeast * size);
  return state;
}

std::vector<Matrix> targets(const State& state) {
  std::vector<Matrix> V;
  for (std::size_t i = 0; i < state.X.size(); ++i) {
    V.emplace_back(state.X[i] - state.Z[i] / state.sigma);
  }
  return V;
}

Matrix shrink(const Matrix& V, double by) {
  return V.array().sign() * (V.array().abs() - by).max(0.0);
}

/// The steps in X and Z.
void update(const TraceKernelProblem& problem, const std::vector<Matrix>& K, State& state) {
  constexpr double kRelaxation = 1.6;
  double apart = 0;
  double moved = 0;
  double kernels = 0;
  double forces = 0;
  for (std::size_t i = 0; i < state.X.size(); ++i) {
    const Matrix& S = problem.S[i];
    const Matrix& Ki = K[static_cast<std::size_t>(kernel_of(problem, static_cast<Index>(i)))];
    const Matrix ahead = kRelaxation * Ki + (1 - kRelaxation) * state.X[i];
    Matrix X = S + shrink(ahead + state.Z[i] / state.sigma - S, problem.rho / state.sigma);
    state.Z[i] += state.sigma * (ahead - X);
    apart += (Ki - X).squaredNorm();
    moved += (X - state.X[i]).squaredNorm();
    kernels += Ki.squaredNorm();
    forces += state.Z[i].squaredNorm();
    state.X[i] = std::move(X);
  }
  state.primal = std::sqrt(apart / kernels);
  state.dual = forces > 0 ? state.sigma * std::sqrt(moved / forces) : 1;
}

void balance(State& state) {
  constexpr double kApart = 3;
  if (state.primal > kApart * state.dual) state.sigma *= 2;
  if (state.dual > kApart * state.primal) state.sigma /= 2;
}

double losses(const TraceKernelProblem& problem, const std::vector<Matrix>& K) {
  double loss = 0;
  for (std::size_t i = 0; i < problem.S.size(); ++i) {
    const Index k = kernel_of(problem, static_cast<Index>(i));
    loss += (K[static_cast<std::size_t>(k)] - problem.S[i]).cwiseAbs().sum();
  }
  return problem.rho * loss;
}

/// The K step stops early; on one kernel the machine itself is cheap to finish.
void finish_machine(const TraceKernelProblem& problem, TraceKernelSolution& solution,
                    const RunContext& ctx) {
  if (solution.kernels.size() != 1) return;
  const Matrix K = reconstruct(solution.kernels[0].U, solution.kernels[0].lambda);
  const SvmDual machine{SymmetricView::dense(K), problem.y, problem.cost, {}};
  const SmoSolution found = smo(machine, {}, ctx, solution.alpha);
  if (!met_tolerance(found.info.status)) return;
  solution.alpha = found.alpha;
  solution.b = found.b;
}

}  // namespace

TraceKernelSolution split_absolute(const TraceKernelProblem& problem, double tolerance,
                                   long max_iterations, const RunContext& ctx) {
  constexpr double kReserve = 0.95;
  constexpr double kInner = 0.1;  // of the tolerance, for the step in K
  constexpr long kBalance = 10;   // iterations between two changes of sigma
  State state = start(problem);
  TraceKernelSolution best;
  TraceKernelProof proof;
  TraceDualSolution at;
  double upper = std::numeric_limits<double>::infinity();
  double lower = -upper;
  SolveStatus status = SolveStatus::kIterationLimit;
  long iteration = 0;
  while (iteration < max_iterations) {
    const std::vector<Matrix> V = targets(state);
    WeightedProblem weighted(problem, V);
    const Vector c = Vector::Constant(static_cast<Index>(V.size()), 0.5 * state.sigma);
    at = weighted.solve(c, kInner * tolerance, ctx, iteration > 0 ? &at : nullptr);
    std::vector<SymmetricEigen> kernels = weighted.kernels(at);
    std::vector<Matrix> K;
    for (const SymmetricEigen& kernel : kernels) K.push_back(reconstruct(kernel.U, kernel.lambda));
    update(problem, K, state);
    ++iteration;
    const double value = at.machine + at.difference + losses(problem, K);
    if (value < upper) {
      upper = value;
      best = start_solution(at, std::move(kernels));
    }
    TraceKernelProof now{at.alpha, at.gamma, state.Z};
    if (const double bound = lower_bound(problem, {}, now); bound > lower) {
      lower = bound;
      proof = std::move(now);
    }
    if (upper - lower <= kReserve * tolerance * upper) {
      status = SolveStatus::kSolved;
      break;
    }
    if (iteration % kBalance == 0) balance(state);
  }
  finish_machine(problem, best, ctx);
  best.proof = std::move(proof);
  best.info.status = status;
  best.info.iterations = iteration;
  return best;
}

}  // namespace kith::detail
