// SPDX-License-Identifier: Apache-2.0
// rho sum_i L(K - S_i) for L the sum of absolute values or the norm, by the alternating direction
// method of multipliers on
//
//   min Omega(K) + rho sum_i L(X_i - S_i)   s.t.  K_(i) = X_i,
//
// K_(i) the kernel that S_i is compared with; in kSpectral mu_i, X_i and lambda_i stand for K_(i),
// X_i and S_i throughout. With multipliers Z_i, penalty sigma and
// over-relaxation r, one iteration is
//
//   K     minimises Omega(K) + sigma/2 sum_i |K_(i) - X_i + Z_i / sigma|^2   (optim/trace/weighted)
//   K^_i  = r K_(i) + (1 - r) X_i
//   X_i   = S_i + shrink(K^_i + Z_i / sigma - S_i, rho / sigma)
//   Z_i  += sigma (K^_i - X_i)
//
// after which |Z_i| <= rho, in every entry or as a whole: Z with the a and gamma of K proves a
// lower bound, K itself an upper one. Two more bounds close the gap where the loss is heavy:
//
// From above, the nearest kernels of the trace and the machine on them, where X begins. For
// matrices that are kernels themselves they have no loss, and are the optimum from some rho on,
// while K is next to them and pays rho for each digit that is missing.
//
// From below, G_i = Z_i + sigma (K_(i) - X_i) of the old Z and X, with which K is exactly the best
// kernel: W of Proof has its least eigenvalue on all of the range of K. G leaves
// that box or ball by some factor 1 / t, but t G with sqrt(t) a is inside, and its W is t times as
// large: a share 1 - t of the bound is lost. Z lies inside without that, but its entries are off by
// what G was outside, and the eigenvalues with them, times the trace, whatever the size of the
// bound.
//
// sigma weighs the two errors, both in units of the objective: rho L(K - X) for the kernels and
// what the bound falls short of the rest for the multipliers. The longer it has been changed, the
// less often it is.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/numerics/psd.hpp"
#include "kith/optim/mkl/mixed.hpp"
#include "optim/engine/progress.hpp"
#include "optim/trace/point.hpp"
#include "optim/trace/weighted.hpp"

namespace kith::trace {
namespace {

struct State {
  std::vector<Matrix> X, Z;
  double sigma = 1;
};

/// X at what the S are compared with, sigma such that a typical entry is shrunk by its own size.
State start(const Problem& problem, const std::vector<Matrix>& S, std::vector<Matrix> compared) {
  constexpr double kLeast = 1e-2;  // of the mean entry: where the S are kernels themselves
  State state;
  const auto m = static_cast<double>(problem.S.size());
  double spread = 0;
  double size = 0;
  const auto typical = [&](const Matrix& D) {  // of what is shrunk at a time: an entry, or all
    return problem.loss == KernelLoss::kAbsolute ? D.cwiseAbs().mean() : D.norm();
  };
  state.X = std::move(compared);
  for (std::size_t i = 0; i < S.size(); ++i) {
    state.Z.emplace_back(Matrix::Zero(S[i].rows(), S[i].cols()));
    spread += typical(state.X[i] - S[i]) / m;
    size += typical(state.X[i]) / m;
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

/// What minimises by L(X) + 1/2 |X - V|^2.
Matrix shrink(KernelLoss loss, const Matrix& V, double by) {
  if (loss == KernelLoss::kAbsolute) return V.array().sign() * (V.array().abs() - by).max(0.0);
  const double norm = V.norm();
  return norm > by ? Matrix((1 - by / norm) * V) : Matrix::Zero(V.rows(), V.cols());
}

/// Z_i + sigma (K_(i) - X_i).
std::vector<Matrix> exact_multipliers(const std::vector<Matrix>& compared, const State& state) {
  std::vector<Matrix> G;
  for (std::size_t i = 0; i < state.X.size(); ++i) {
    G.emplace_back(state.Z[i] + state.sigma * (compared[i] - state.X[i]));
  }
  return G;
}

/// t G and sqrt(t) a with the largest t <= 1 for which all of t G is in the box.
Proof draw_inside(const Problem& problem, const DualSolution& at, std::vector<Matrix> G) {
  double largest = 0;
  const bool absolute = problem.loss == KernelLoss::kAbsolute;
  for (const Matrix& one : G) {
    largest = std::max(largest, absolute ? one.cwiseAbs().maxCoeff() : one.norm());
  }
  const double t = largest > problem.rho ? problem.rho / largest : 1;
  for (Matrix& one : G) one *= t;
  return {std::sqrt(t) * at.alpha, at.gamma, std::move(G)};
}

/// The steps in X and Z; the loss of K - X.
double update(const Problem& problem, const std::vector<Matrix>& all,
              const std::vector<Matrix>& compared, State& state) {
  constexpr double kRelaxation = 1.6;
  double apart = 0;
  for (std::size_t i = 0; i < state.X.size(); ++i) {
    const Matrix& S = all[i];
    const Matrix& Ki = compared[i];
    const Matrix ahead = kRelaxation * Ki + (1 - kRelaxation) * state.X[i];
    Matrix X =
        S + shrink(problem.loss, ahead + state.Z[i] / state.sigma - S, problem.rho / state.sigma);
    state.Z[i] += state.sigma * (ahead - X);
    apart += loss_value(problem.loss, Ki - X);
    state.X[i] = std::move(X);
  }
  return apart;
}

/// When sigma changes, and how.
class Balance {
 public:
  void weigh(long iteration, double kernels, double multipliers, double& sigma) {
    constexpr double kApart = 2;
    constexpr double kRarer = 1.2;
    if (iteration < next_) return;
    const double before = sigma;
    if (kernels > kApart * multipliers) sigma *= 2;
    if (multipliers > kApart * kernels) sigma /= 2;
    if (sigma != before) interval_ *= kRarer;
    next_ = iteration + static_cast<long>(interval_);
  }

 private:
  double interval_ = 3;
  long next_ = 3;
};

double losses(const Problem& problem, std::span<const SymmetricEigen> kernels,
              const std::vector<Matrix>& K) {
  return total_loss(problem, differences(problem, problem.eigen, kernels, K));
}

/// The machine on the kernels that X begins with.
void keep_nearest(const Problem& problem, std::vector<SymmetricEigen> kernels,
                  const std::vector<Matrix>& K, double tolerance, Best& best,
                  const RunContext& ctx) {
  const auto machine = fixed_machine(problem, K, {.tolerance = tolerance}, ctx);
  if (!machine) return;
  const double value =
      machine_value(problem, kernels, K, machine->alpha, machine->gamma, machine->b).upper +
      losses(problem, kernels, K);
  best.keep_solution(value, start_solution(*machine, std::move(kernels)));
}

/// The bound of a proof, kept if it is the best.
double keep_proof(const Problem& problem, Proof proof, Best& best) {
  const double bound = lower_bound(problem, problem.eigen, proof);
  best.keep_proof(bound, std::move(proof));
  return bound;
}

}  // namespace

Solution split_loss(const Problem& given, double tolerance, long max_iterations,
                    const RunContext& ctx) {
  constexpr double kReserve = 0.95;
  constexpr double kInner = 0.1;  // of the tolerance, for the step in K
  Problem problem = given;
  std::vector<SymmetricEigen> eigen;  // of spectra, once for all steps
  if (problem.shape == KernelShape::kSpectral && problem.eigen.empty()) {
    eigen = decompose(problem);
    problem.eigen = eigen;
  }
  const std::vector<Matrix> S = originals(problem);
  Best best;
  std::vector<SymmetricEigen> kernels = nearest_kernels(problem);
  std::vector<Matrix> K = matrices_of(kernels);
  State state = start(problem, S, compared_with(problem, kernels, K));
  keep_nearest(problem, std::move(kernels), K, kInner * tolerance, best, ctx);
  Balance balance;
  DualSolution at;
  engine::BestSoFar progress({.tolerance = kReserve * tolerance, .iterations = max_iterations},
                             ctx);
  while (progress.goes_on()) {
    const std::vector<Matrix> V = targets(state);
    WeightedProblem weighted(problem, V);
    const Vector c = Vector::Constant(static_cast<Index>(V.size()), 0.5 * state.sigma);
    at = weighted.solve(c, kInner * tolerance, ctx, progress.iterations() > 0 ? &at : nullptr);
    kernels = weighted.kernels(at);
    K = matrices_of(kernels);
    const std::vector<Matrix> compared = compared_with(problem, kernels, K);
    std::vector<Matrix> G = exact_multipliers(compared, state);
    const double apart = problem.rho * update(problem, S, compared, state);
    progress.stepped();
    const double value = at.machine + at.difference + losses(problem, kernels, K);
    best.keep_solution(value, start_solution(at, std::move(kernels)));
    const double drawn = keep_proof(problem, draw_inside(problem, at, std::move(G)), best);
    const double bound = std::max(drawn, keep_proof(problem, {at.alpha, at.gamma, state.Z}, best));
    (void)progress.offer(best.gap());
    balance.weigh(progress.iterations(), apart, best.upper - apart - bound, state.sigma);
  }
  // The K step stops early; on one kernel the machine itself is cheap to finish.
  (void)finish_machine(problem, best.solution, ctx);
  progress.report(best.solution.info);
  return best.solution;
}

}  // namespace kith::trace
