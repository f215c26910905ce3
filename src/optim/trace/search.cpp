// SPDX-License-Identifier: Apache-2.0
// The squared loss by one run of the interior point method, and the norm by a search around it:
//
//   rho |X|_F = min over s > 0 of |X|_F^2 / s + rho^2 s / 4,   attained at s = 2 |X|_F / rho,
//
// jointly convex in X and s. With c_i = 1 / s_i the inner problem is the squared one, and the fixed
// point s_i = 2 |K(s) - S_i| / rho is the optimum. The plain iteration descends; in x = log s it is
// accelerated by Anderson's method over m + 1 points, which for one matrix is the secant.
// Z_i = 2 c_i (K - S_i) is the multiplier, dual feasible where |Z_i| <= rho. The turns that a heavy
// loss takes first stand alone: they are six at most, and end where the gap does not fall fast.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "kith/numerics/psd.hpp"
#include "kith/optim/mkl/mixed.hpp"
#include "optim/engine/progress.hpp"
#include "optim/trace/least.hpp"
#include "optim/trace/point.hpp"
#include "optim/trace/weighted.hpp"

namespace kith::trace {
namespace {

/// x and the residual of its fixed point, the newest last.
class Anderson {
 public:
  explicit Anderson(std::size_t depth) : depth_(depth) {}

  /// The next x, each component at most kFurthest away.
  [[nodiscard]] Vector next(const Vector& x, const Vector& residual) {
    constexpr double kFurthest = 3;
    history_.emplace_back(x, residual);
    if (history_.size() > depth_ + 1) history_.pop_front();
    Vector step = residual;
    const auto columns = static_cast<Index>(history_.size()) - 1;
    if (columns > 0) {
      Matrix dx(x.size(), columns);
      Matrix dr(x.size(), columns);
      for (Index j = 0; j < columns; ++j) {
        const auto at = static_cast<std::size_t>(j);
        dx.col(j) = history_[at + 1].first - history_[at].first;
        dr.col(j) = history_[at + 1].second - history_[at].second;
      }
      Eigen::CompleteOrthogonalDecomposition<Matrix> solver;
      solver.setThreshold(1e-10);
      solver.compute(dr);
      step -= (dx + dr) * solver.solve(residual);
    }
    if (!step.allFinite()) step = residual;
    return x + step.cwiseMax(-kFurthest).cwiseMin(kFurthest);
  }

 private:
  std::size_t depth_;
  std::deque<std::pair<Vector, Vector>> history_;
};

/// log s to begin with: each S_i as far from its kernel as from the nearest one of the trace, or
/// from the mean of all.
Vector start_weights(const Problem& problem, const WeightedProblem& weighted) {
  constexpr double kLeast = 0.01;  // of |S|, or of the smallest kernel: where S is itself one
  const auto m = static_cast<Index>(problem.S.size());
  const Matrix mean = mean_similarity(problem);
  Vector x(m);
  for (Index i = 0; i < m; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double smallest = problem.trace / std::sqrt(static_cast<double>(mean.rows()));
    double distance = kLeast * std::max(problem.S[at].norm(), smallest);
    if (problem.shape == KernelShape::kShared) {
      distance = std::max(distance, (problem.S[at] - mean).norm());
    }
    if (at < weighted.eigen().size()) {
      const Vector& lambda = weighted.eigen()[at].lambda;
      distance = std::max(distance, (project_to_simplex(lambda, problem.trace).k - lambda).norm());
    }
    x(i) = std::log(2 * distance / problem.rho);
  }
  return x;
}

std::vector<Matrix> multipliers(const Vector& c, const std::vector<Matrix>& differences) {
  std::vector<Matrix> Z;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    Z.emplace_back(2 * c(static_cast<Index>(i)) * differences[i]);
  }
  return Z;
}

/// u u' / (2 gamma) less its mean eigenvalue: all multiples of the identity cost the same.
Matrix pull_of(const Vector& u, double gamma) {
  Matrix Z = u * (u / (2 * gamma)).transpose();
  Z.diagonal().array() -= Z.trace() / static_cast<double>(Z.rows());
  return Z;
}

/// Where K_i has become S_i, 2 c_i (K_i - S_i) is mostly rounding. Then Z_i = u u' / (2 gamma_i)
/// less the other Z of that kernel and its own mean eigenvalue makes W_i a multiple of the
/// identity: as good a multiplier, if it is inside the ball.
void settle_touching(const Problem& problem, const WeightedProblem& weighted,
                     const std::vector<Matrix>& differences, Proof& proof) {
  constexpr double kTouches = 1e-5;
  const Vector u = problem.y.cwiseProduct(proof.alpha);
  for (std::size_t i = 0; i < proof.Z.size(); ++i) {
    if (differences[i].norm() > kTouches * problem.S[i].norm()) continue;
    const Index k = kernel_of(problem, static_cast<Index>(i));
    const double twice = 2 * proof.gamma(k);
    if (problem.shape == KernelShape::kSpectral) {
      const Vector p = weighted.eigen()[i].U.transpose() * u;
      proof.Z[i] = p.cwiseAbs2() / twice;
      proof.Z[i].array() -= proof.Z[i].mean();
      continue;
    }
    Matrix Z = u * (u / twice).transpose();
    for (std::size_t j = 0; problem.shape == KernelShape::kShared && j < proof.Z.size(); ++j) {
      if (j != i) Z -= proof.Z[j];
    }
    Z.diagonal().array() -= Z.trace() / static_cast<double>(Z.rows());
    proof.Z[i] = std::move(Z);
  }
}

Vector norms(const std::vector<Matrix>& matrices) {
  Vector result(static_cast<Index>(matrices.size()));
  for (Index i = 0; i < result.size(); ++i) {
    result(i) = matrices[static_cast<std::size_t>(i)].norm();
  }
  return result;
}

void keep(const Problem& problem, const WeightedProblem& weighted, const Vector& c,
          const DualSolution& at, const std::vector<Matrix>& differences,
          std::vector<SymmetricEigen> kernels, Best& best) {
  const double upper = at.machine + at.difference + total_loss(problem, differences);
  Proof proof{at.alpha, at.gamma, multipliers(c, differences)};
  double lower = lower_bound(problem, weighted.eigen(), proof);
  Proof settled = proof;
  settle_touching(problem, weighted, differences, settled);
  if (const double other = lower_bound(problem, weighted.eigen(), settled); other > lower) {
    lower = other;
    proof = std::move(settled);
  }
  best.keep_proof(lower, std::move(proof));
  best.keep_solution(upper, start_solution(at, std::move(kernels)));
}

/// The machine of `at` on kernels that stay as they are; false where there is none to be had.
bool solve_machine(const Problem& problem, const std::vector<SymmetricEigen>& kernels,
                   double tolerance, DualSolution& at, const RunContext& ctx) {
  const auto machine = fixed_machine(problem, matrices_of(kernels), {.tolerance = tolerance}, ctx);
  if (!machine || !met_tolerance(machine->info.status)) return false;
  at.alpha = machine->alpha;
  at.gamma = machine->gamma;
  at.b = machine->b;
  at.iterations += machine->info.iterations;
  return true;
}

Solution squared_solution(const WeightedProblem& weighted, const DualSolution& at) {
  Solution solution = start_solution(at, weighted.kernels(at));
  solution.proof = {at.alpha, at.gamma, {}};
  solution.info.status = at.status;
  solution.info.iterations = at.iterations;
  return solution;
}

/// Under a heavy loss kernels hardly leave the nearest ones of the trace: the machine on these, the
/// kernels that are best for it, the machine on them, and so on, settles in a turn or two, where
/// Newton's method has curvatures of all sizes before it. Under costs far above 1 alpha has lost
/// the digits that margins need, and is finished. None where it does not settle.
std::optional<Solution> take_turns(const Problem& problem, WeightedProblem& weighted,
                                   const Vector& c, double tolerance, const RunContext& ctx) {
  constexpr int kTurns = 6;
  constexpr double kFaster = 0.2;  // of the last gap: slower, Newton's method is better
  constexpr double kInner = 1e-2;  // of the tolerance, for the machine
  DualSolution at = weighted.nearest(c);
  double last = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < kTurns; ++turn) {
    if (turn > 0) at = weighted.at_weights(std::move(at), c);
    if (!solve_machine(problem, weighted.kernels(at), kInner * tolerance, at, ctx)) break;
    Solution found = squared_solution(weighted, at);
    update_evidence(problem, found);
    if (found.info.gap > tolerance && finish_machine(problem, found, ctx)) {
      found.proof.alpha = found.alpha;
      update_evidence(problem, found);
    }
    if (found.info.gap <= tolerance) return found;
    if (!(found.info.gap < kFaster * last)) break;
    last = found.info.gap;
  }
  return std::nullopt;
}

/// S where it is a kernel of the trace, with its positive eigenvalues alone.
std::optional<SymmetricEigen> as_kernel(const Matrix& S, double trace) {
  constexpr double kRounding = 1e-12;
  if (std::abs(S.trace() - trace) > kRounding * trace) return std::nullopt;
  const SymmetricEigen eigen = symmetric_eigen(S);
  const double zero = kRounding * trace;
  if (eigen.lambda(0) < -zero) return std::nullopt;
  const Index kept = (eigen.lambda.array() > zero).count();
  SymmetricEigen kernel{eigen.lambda.tail(kept), eigen.U.rightCols(kept)};
  kernel.lambda *= trace / kernel.lambda.sum();
  return kernel;
}

/// Multipliers with which K_i = S_i are the best kernels for u: of the loss where S_i is not among
/// them, and for the others in equal parts what this leaves of the pull. None where that is more
/// than the loss allows.
std::optional<std::vector<Matrix>> touching_multipliers(const Problem& problem,
                                                        std::span<const Matrix> K, const Vector& u,
                                                        const Vector& gamma) {
  const ConvexLoss loss = convex_loss(problem.loss);
  std::vector<Matrix> rest;
  for (Index k = 0; k < gamma.size(); ++k) rest.push_back(pull_of(u, gamma(k)));
  std::vector<Matrix> Z(problem.S.size());
  Vector touching = Vector::Zero(gamma.size());
  for (std::size_t i = 0; i < Z.size(); ++i) {
    const Index k = kernel_of(problem, static_cast<Index>(i));
    const auto at = static_cast<std::size_t>(k);
    if (problem.S[i] == K[at]) {
      ++touching(k);
    } else {
      Z[i] = problem.rho * loss.subgradient(K[at] - problem.S[i]);
      rest[at] -= Z[i];
    }
  }
  for (std::size_t i = 0; i < Z.size(); ++i) {
    if (Z[i].size() > 0) continue;
    const Index k = kernel_of(problem, static_cast<Index>(i));
    Z[i] = rest[static_cast<std::size_t>(k)] / touching(k);
    const bool absolute = problem.loss == KernelLoss::kAbsolute;
    if ((absolute ? Z[i].cwiseAbs().maxCoeff() : Z[i].norm()) > problem.rho) return std::nullopt;
  }
  return Z;
}

/// The optimum where the kernels are K, each of them one of the S_i. Else none.
std::optional<Solution> touch_at(const Problem& problem, std::span<const Matrix> K,
                                 const RunContext& ctx) {
  std::vector<SymmetricEigen> kernels;
  for (const Matrix& S : K) {
    std::optional<SymmetricEigen> kernel = as_kernel(S, problem.trace);
    if (!kernel) return std::nullopt;
    kernels.push_back(std::move(*kernel));
  }
  const std::optional<mkl::MixedSolution> machine = fixed_machine(problem, K, {}, ctx);
  if (!machine) return std::nullopt;
  const Vector u = problem.y.cwiseProduct(machine->alpha);
  std::optional<std::vector<Matrix>> Z = touching_multipliers(problem, K, u, machine->gamma);
  if (!Z) return std::nullopt;
  Solution solution = start_solution(*machine, std::move(kernels));
  solution.proof = {machine->alpha, machine->gamma, std::move(*Z)};
  solution.info.status = machine->info.status;
  solution.info.iterations = machine->info.iterations;
  return solution;
}

}  // namespace

std::optional<Solution> solve_touching(const Problem& problem, const RunContext& ctx) {
  if (problem.shape == KernelShape::kSpectral) return std::nullopt;
  if (problem.shape == KernelShape::kSeparate) return touch_at(problem, problem.S, ctx);
  for (std::size_t i = 0; i < problem.S.size(); ++i) {
    const auto same = [&](const Matrix& S) { return S == problem.S[i]; };
    if (std::ranges::any_of(problem.S.first(i), same)) continue;
    std::optional<Solution> found = touch_at(problem, problem.S.subspan(i, 1), ctx);
    if (found) return found;
  }
  return std::nullopt;
}

Solution solve_squared(const Problem& problem, double tolerance, const RunContext& ctx) {
  constexpr double kReserve = 1e-2;  // the method converges fast: nearly free
  constexpr double kHeavy = 1e-8;    // of the heaviest loss
  WeightedProblem weighted(problem, problem.S);
  const Vector c = Vector::Constant(static_cast<Index>(problem.S.size()), problem.rho);
  const double most = heaviest_loss(problem);
  const bool heavy = problem.rho > kHeavy * most;
  if (heavy) {
    std::optional<Solution> found = take_turns(problem, weighted, c, tolerance, ctx);
    if (found) return std::move(*found);
  }
  DualSolution at = weighted.solve(c.cwiseMin(most), kReserve * tolerance, ctx);
  if (!heavy && at.status != SolveStatus::kSolved) {
    // Kernels of next to no trace: any of them leaves the machine the same.
    std::optional<Solution> found = take_turns(problem, weighted, c, tolerance, ctx);
    if (found) return std::move(*found);
  }
  if (problem.rho > most) {
    at = weighted.at_weights(std::move(at), c);
    solve_machine(problem, weighted.kernels(at), kReserve * tolerance, at, ctx);
  }
  return squared_solution(weighted, at);
}

Solution search_norm(const Problem& problem, double tolerance, long max_iterations,
                     const RunContext& ctx) {
  constexpr double kReserve = 0.5;
  constexpr double kInner = 1e-2;  // of the tolerance, for the inner problem
  constexpr long kPatience = 12;   // iterations without a better gap
  WeightedProblem weighted(problem, problem.S);
  Anderson anderson(problem.S.size());
  Vector x = start_weights(problem, weighted);
  DualSolution at;
  Best best;
  engine::BestSoFar progress(
      {.tolerance = kReserve * tolerance, .iterations = max_iterations, .patience = kPatience},
      ctx);
  while (progress.goes_on()) {
    const Vector c = (-x.array()).exp();
    at = weighted.solve(c, kInner * tolerance, ctx, progress.iterations() > 0 ? &at : nullptr);
    progress.stepped();
    std::vector<SymmetricEigen> kernels = weighted.kernels(at);
    const std::vector<Matrix> apart =
        differences(problem, weighted.eigen(), kernels, matrices_of(kernels));
    const Vector distance = norms(apart).cwiseMax(1e-300);
    keep(problem, weighted, c, at, apart, std::move(kernels), best);
    (void)progress.offer(best.gap());
    x = anderson.next(x, (2 * distance / problem.rho).array().log().matrix() - x);
  }
  progress.report(best.solution.info);
  return best.solution;
}

}  // namespace kith::trace
