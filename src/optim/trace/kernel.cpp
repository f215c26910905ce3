// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/trace/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "optim/engine/box.hpp"
#include "optim/trace/block.hpp"
#include "optim/trace/least.hpp"
#include "optim/trace/point.hpp"

namespace kith::trace {

using engine::refuse;

namespace {

double kernel_violation(const Problem& problem, const Vector& lambda) {
  return std::max(std::abs(lambda.sum() - problem.trace), -lambda.minCoeff()) / problem.trace;
}

/// How far the eigenvectors of a learned spectrum are from being those of S.
double basis_violation(const Problem& problem, const SymmetricEigen& kernel, const Matrix& S,
                       const Vector& lambda) {
  const double turned = (S * kernel.U - kernel.U * lambda.asDiagonal()).norm();
  return turned / std::max(S.norm(), problem.trace);
}

double weight_violation(const Vector& gamma) {
  return std::max(std::abs(gamma.sum() - 1), -gamma.minCoeff());
}

void check_sizes(const Problem& problem, const Solution& solution) {
  const Index n = problem.y.size();
  const Index p = kernel_count(problem);
  const bool spectral = problem.shape == KernelShape::kSpectral;
  bool fits = solution.alpha.size() == n && solution.proof.alpha.size() == n &&
              solution.gamma.size() == p && solution.proof.gamma.size() == p &&
              std::ssize(solution.kernels) == p &&
              solution.proof.Z.size() == multiplier_count(problem);
  for (const SymmetricEigen& kernel : solution.kernels) {
    fits = fits && kernel.lambda.size() > 0 && kernel.U.rows() == n &&
           kernel.U.cols() == kernel.lambda.size() && (!spectral || kernel.lambda.size() == n);
  }
  for (const Matrix& Z : solution.proof.Z) {
    fits = fits && Z.rows() == n && Z.cols() == (spectral ? 1 : n);
  }
  if (!fits) refuse("the solution is not of the size of the problem");
}

/// The certificate and what its computation also found.
struct Evidence {
  Certificate certificate;
  double machine = 0;
};

/// Everything but feasibility.
Evidence evidence(const Problem& problem, const Solution& solution) {
  std::vector<SymmetricEigen> eigen;
  const bool squared = problem.loss == KernelLoss::kSquared;
  if (problem.shape == KernelShape::kSpectral && !squared) eigen = decompose(problem);
  const std::vector<Matrix> K = matrices_of(solution.kernels);
  Evidence found;
  Certificate& c = found.certificate;
  const MachineValue machine =
      machine_value(problem, solution.kernels, K, solution.alpha, solution.gamma, solution.b);
  c.kkt_residual = machine.kkt_residual;
  found.machine = machine.upper;
  if (squared) {
    const SquaredLoss loss(problem);
    c.offset = loss.least();
    const double upper = machine.upper + loss.excess(solution.kernels);
    const double lower = loss.lower_bound(solution.proof.alpha, solution.proof.gamma);
    c.gap = dual::relative_gap(lower, upper);
    c.upper = c.offset + upper;
    c.lower = c.offset + lower;
    const Proof& proof = solution.proof;
    c.kkt_residual = std::max(c.kkt_residual, machine_value(problem, solution.kernels, K,
                                                            proof.alpha, proof.gamma, solution.b)
                                                  .kkt_residual);
  } else {
    c.upper = machine.upper + total_loss(problem, differences(problem, eigen, solution.kernels, K));
    c.lower = lower_bound(problem, eigen, solution.proof);
    c.gap = dual::relative_gap(c.lower, c.upper);
  }
  return found;
}

double infeasibility(const Problem& problem, const Solution& solution) {
  double worst = std::max({weight_violation(solution.gamma), weight_violation(solution.proof.gamma),
                           engine::infeasibility(problem.y, problem.cost, solution.alpha),
                           engine::infeasibility(problem.y, problem.cost, solution.proof.alpha)});
  const std::vector<Matrix> K = matrices_of(solution.kernels);
  for (std::size_t k = 0; k < K.size(); ++k) {
    worst = std::max(worst, kernel_violation(problem, symmetric_eigenvalues(K[k])));
    if (problem.shape != KernelShape::kSpectral) continue;
    const Vector lambda = symmetric_eigenvalues(problem.S[k]);
    worst = std::max(worst, basis_violation(problem, solution.kernels[k], problem.S[k], lambda));
  }
  return worst;
}

/// Whether a solver came to kernels and a machine at all.
bool is_whole(const Problem& problem, const Solution& solution) {
  const auto p = static_cast<std::size_t>(kernel_count(problem));
  bool whole = solution.alpha.size() == problem.y.size() && solution.alpha.allFinite() &&
               std::isfinite(solution.b) && solution.gamma.allFinite() &&
               solution.kernels.size() == p && solution.proof.alpha.size() == problem.y.size() &&
               solution.proof.alpha.allFinite() && solution.proof.gamma.allFinite() &&
               solution.proof.Z.size() == multiplier_count(problem);
  for (const SymmetricEigen& kernel : solution.kernels) {
    whole = whole && kernel.lambda.size() > 0 && kernel.lambda.allFinite() && kernel.U.allFinite();
  }
  return whole;
}

/// The nearest kernel of the trace, its positive eigenvalues alone.
SymmetricEigen nearest_kernel(const Matrix& S, double trace) {
  const SymmetricEigen eigen = symmetric_eigen(S);
  const Vector k = project_to_simplex(eigen.lambda, trace).k;
  const Index kept = (k.array() > 0).count();  // the last, since lambda ascends
  return {k.tail(kept), eigen.U.rightCols(kept)};
}

/// What stands for an answer where numbers left their range: multiples of the identity and a
/// machine that is 0.
Solution no_answer(const Problem& problem, long iterations) {
  const Index n = problem.y.size();
  const Index p = kernel_count(problem);
  Solution none;
  none.alpha = Vector::Zero(n);
  none.gamma = Vector::Constant(p, 1.0 / static_cast<double>(p));
  const SymmetricEigen kernel{Vector::Constant(n, problem.trace / static_cast<double>(n)),
                              Matrix::Identity(n, n)};
  none.kernels.assign(static_cast<std::size_t>(p), kernel);
  none.proof.alpha = none.alpha;
  none.proof.gamma = none.gamma;
  const bool spectral = problem.shape == KernelShape::kSpectral;
  none.proof.Z.assign(multiplier_count(problem), Matrix::Zero(n, spectral ? 1 : n));
  none.info.status = SolveStatus::kNumericalFailure;
  none.info.iterations = iterations;
  return none;
}

/// The machine on the kernels of `found` by itself: next to a heavy loss the search leaves it few
/// digits. `found` has its evidence.
void finish_machine_on_kernels(const Problem& problem, Solution& found, const RunContext& ctx) {
  constexpr double kEnough = 1e-2;  // of the margin
  if (found.info.kkt_residual <= kEnough) return;
  const auto machine = fixed_machine(problem, matrices_of(found.kernels), {}, ctx);
  if (!machine || !met_tolerance(machine->info.status)) return;
  Solution other = found;
  other.alpha = machine->alpha;
  other.gamma = machine->gamma;
  other.b = machine->b;
  update_evidence(problem, other);
  const bool better = other.info.kkt_residual < found.info.kkt_residual;
  if (better && other.info.objective <= found.info.objective) found = std::move(other);
}

/// The search, which finds some answers to all digits; of others, where a matrix is nearly touched,
/// its multipliers prove little. What splitting then proves or finds better is taken from it.
Solution search_and_split(const Problem& problem, double tolerance, long limit,
                          const RunContext& ctx) {
  constexpr double kProved = 5e-4;  // what splitting has to reach, and reaches soon
  constexpr long kSplittingLimit = 1000;
  Solution found = search_norm(problem, tolerance, limit, ctx);
  if (!is_whole(problem, found)) return found;
  const bool spectral = problem.shape == KernelShape::kSpectral;
  const double enough = spectral ? tolerance : std::max(tolerance, kProved);
  update_evidence(problem, found);
  if (found.info.gap <= enough) return found;
  Solution other = split_loss(problem, enough, kSplittingLimit, ctx);
  if (!is_whole(problem, other)) return found;
  update_evidence(problem, other);
  const long iterations = found.info.iterations + other.info.iterations;
  if (other.lower > found.lower) found.proof = other.proof;
  if (other.info.objective < found.info.objective) {
    other.proof = std::move(found.proof);
    found = std::move(other);
  }
  update_evidence(problem, found);
  found.info.iterations = iterations;
  found.info.status = SolveStatus::kReducedAccuracy;
  return found;
}

/// The spectra nearest to those of the matrices and the machine on them. Under a heavy loss they
/// are the optimum but for rounding, and leave the interior point on spectra no digits. None where
/// that is not proved.
std::optional<Solution> solve_at_nearest_spectra(const Problem& problem, double tolerance,
                                                 const RunContext& ctx) {
  constexpr double kTouches = 1e-12;
  constexpr double kEnough = 1e-2;  // of the margin
  const std::vector<SymmetricEigen> eigen = decompose(problem);
  Solution found;
  for (const SymmetricEigen& one : eigen) {
    found.kernels.push_back({project_to_simplex(one.lambda, problem.trace).k, one.U});
  }
  const auto machine = fixed_machine(problem, matrices_of(found.kernels), {}, ctx);
  if (!machine || !met_tolerance(machine->info.status)) return std::nullopt;
  found.alpha = machine->alpha;
  found.gamma = machine->gamma;
  found.b = machine->b;
  found.proof = {machine->alpha, machine->gamma, {}};
  const Vector u = problem.y.cwiseProduct(found.alpha);
  for (std::size_t i = 0; i < eigen.size(); ++i) {
    const Vector apart = found.kernels[i].lambda - eigen[i].lambda;
    Vector z = problem.rho * apart / apart.norm();
    if (!(apart.norm() > kTouches * eigen[i].lambda.norm())) {
      // Any z inside the ball is a subgradient: the one that pulls all eigenvalues alike.
      z = (eigen[i].U.transpose() * u).cwiseAbs2() / (2 * found.gamma(static_cast<Index>(i)));
      z.array() -= z.mean();
    }
    found.proof.Z.emplace_back(std::move(z));
  }
  update_evidence(problem, found);
  if (!(found.info.gap <= tolerance && found.info.kkt_residual <= kEnough)) return std::nullopt;
  found.info.iterations = machine->info.iterations;
  found.info.status = SolveStatus::kSolved;
  return found;
}

Solution solve_norm(const Problem& problem, double tolerance, long limit, const RunContext& ctx) {
  if (problem.shape == KernelShape::kSpectral) {
    std::optional<Solution> nearest = solve_at_nearest_spectra(problem, tolerance, ctx);
    if (nearest) return std::move(*nearest);
  }
  Solution found = search_and_split(problem, tolerance, limit, ctx);
  if (is_whole(problem, found)) finish_machine_on_kernels(problem, found, ctx);
  return found;
}

Solution solve(const Problem& problem, double tolerance, long limit, const RunContext& ctx) {
  if (problem.loss == KernelLoss::kSquared) return solve_squared(problem, tolerance, ctx);
  if (problem.loss == KernelLoss::kOwn) return proximal_steps(problem, tolerance, limit, ctx);
  std::optional<Solution> found = solve_touching(problem, ctx);
  if (found) return std::move(*found);
  return problem.loss == KernelLoss::kNorm ? solve_norm(problem, tolerance, limit, ctx)
                                           : split_loss(problem, tolerance, limit, ctx);
}

}  // namespace

Index kernel_count(const Problem& problem) {
  return problem.shape == KernelShape::kShared ? 1 : static_cast<Index>(problem.S.size());
}

ConvexLoss loss_of(const Problem& problem) {
  return problem.loss == KernelLoss::kOwn ? *problem.own : convex_loss(problem.loss);
}

Matrix checked_subgradient(const Problem& problem, const ConvexLoss& loss, const Matrix& X) {
  Matrix Z = loss.subgradient(X);
  if (Z.rows() != X.rows() || Z.cols() != X.cols()) {
    refuse(fmt::format("the gradient of the loss is {} x {}, and its argument {} x {}", Z.rows(),
                       Z.cols(), X.rows(), X.cols()));
  }
  if (!Z.allFinite()) refuse("the gradient of the loss is not finite");
  if (X.cols() == X.rows()) Z = 0.5 * (Z + Z.transpose()).eval();
  return problem.rho * Z;
}

std::size_t multiplier_count(const Problem& problem) {
  return problem.loss == KernelLoss::kSquared ? 0 : problem.S.size();
}

Index kernel_of(const Problem& problem, Index i) {
  return problem.shape == KernelShape::kShared ? 0 : i;
}

double loss_value(KernelLoss loss, const MatrixRef& X) {
  switch (loss) {
    case KernelLoss::kAbsolute:
      return X.cwiseAbs().sum();
    case KernelLoss::kNorm:
      return X.norm();
    case KernelLoss::kSquared:
    case KernelLoss::kOwn:
      break;
  }
  return X.squaredNorm();
}

std::vector<Matrix> matrices_of(std::span<const SymmetricEigen> kernels) {
  std::vector<Matrix> K;
  for (const SymmetricEigen& kernel : kernels) K.push_back(reconstruct(kernel.U, kernel.lambda));
  return K;
}

const Matrix& compared(const Problem& problem, std::span<const Matrix> K, std::size_t i) {
  return K[static_cast<std::size_t>(kernel_of(problem, static_cast<Index>(i)))];
}

std::vector<Matrix> differences(const Problem& problem, std::span<const SymmetricEigen> eigen,
                                std::span<const SymmetricEigen> kernels,
                                std::span<const Matrix> K) {
  std::vector<Matrix> found;
  for (std::size_t i = 0; i < problem.S.size(); ++i) {
    if (problem.shape == KernelShape::kSpectral) {
      found.emplace_back(kernels[i].lambda - eigen[i].lambda);
    } else {
      found.emplace_back(compared(problem, K, i) - problem.S[i]);
    }
  }
  return found;
}

std::vector<Matrix> originals(const Problem& problem) {
  if (problem.shape != KernelShape::kSpectral) return {problem.S.begin(), problem.S.end()};
  std::vector<Matrix> spectra;
  for (const SymmetricEigen& eigen : problem.eigen) spectra.emplace_back(eigen.lambda);
  return spectra;
}

std::vector<Matrix> compared_with(const Problem& problem, std::span<const SymmetricEigen> kernels,
                                  std::span<const Matrix> K) {
  std::vector<Matrix> found;
  for (std::size_t i = 0; i < problem.S.size(); ++i) {
    if (problem.shape == KernelShape::kSpectral) {
      found.emplace_back(kernels[i].lambda);
    } else {
      found.push_back(compared(problem, K, i));
    }
  }
  return found;
}

std::vector<SymmetricEigen> nearest_kernels(const Problem& problem) {
  if (problem.shape == KernelShape::kShared) {
    return {nearest_kernel(mean_similarity(problem), problem.trace)};
  }
  std::vector<SymmetricEigen> kernels;
  if (problem.shape == KernelShape::kSpectral) {
    for (const SymmetricEigen& eigen : problem.eigen) {
      kernels.push_back({project_to_simplex(eigen.lambda, problem.trace).k, eigen.U});
    }
    return kernels;
  }
  for (const Matrix& S : problem.S) kernels.push_back(nearest_kernel(S, problem.trace));
  return kernels;
}

double total_loss(const Problem& problem, std::span<const Matrix> differences) {
  double loss = 0;
  for (const Matrix& X : differences) {
    loss += problem.loss == KernelLoss::kOwn ? problem.own->value(X) : loss_value(problem.loss, X);
  }
  return problem.rho * loss;
}

Matrix draw_into_domain(KernelLoss loss, double rho, Matrix Z) {
  if (loss == KernelLoss::kAbsolute) return Z.cwiseMax(-rho).cwiseMin(rho);
  if (loss == KernelLoss::kNorm) {
    const double norm = Z.norm();
    if (norm > rho) Z *= rho / norm;
  }
  return Z;
}

double lower_bound(const Problem& problem, std::span<const SymmetricEigen> eigen,
                   const Proof& proof) {
  const bool spectral = problem.shape == KernelShape::kSpectral;
  const Vector u = problem.y.cwiseProduct(proof.alpha);
  std::vector<Matrix> W(static_cast<std::size_t>(kernel_count(problem)));
  double bound = proof.alpha.sum();
  for (Index i = 0; i < static_cast<Index>(problem.S.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Matrix& kept = proof.Z[at];
    const bool own = problem.loss == KernelLoss::kOwn;
    const Matrix Z = own ? checked_subgradient(problem, *problem.own, kept)
                         : draw_into_domain(problem.loss, problem.rho, kept);
    if (own) bound += problem.rho * problem.own->value(kept) - Z.cwiseProduct(kept).sum();
    bound -= spectral ? eigen[at].lambda.dot(Z.col(0)) : Z.cwiseProduct(problem.S[at]).sum();
    Matrix& sum = W[static_cast<std::size_t>(kernel_of(problem, i))];
    if (sum.size() == 0) {
      sum = Z;
    } else {
      sum += Z;
    }
  }
  for (std::size_t k = 0; k < W.size(); ++k) {
    const double twice = 2 * proof.gamma(static_cast<Index>(k));
    if (spectral) {
      const Vector p = eigen[k].U.transpose() * u;
      bound += problem.trace * (W[k].col(0) - p.cwiseAbs2() / twice).minCoeff();
    } else {
      W[k].noalias() -= u * (u / twice).transpose();
      bound += problem.trace * symmetric_eigenvalues(std::move(W[k])).minCoeff();
    }
  }
  return bound;
}

MachineValue machine_value(const Problem& problem, std::span<const SymmetricEigen> kernels,
                           std::span<const Matrix> K, const VectorRef& alpha,
                           const VectorRef& gamma, double b) {
  const Vector u = problem.y.cwiseProduct(alpha);
  Matrix sum = K[0] / gamma(0);
  for (std::size_t i = 1; i < K.size(); ++i) sum += K[i] / gamma(static_cast<Index>(i));
  double largest = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Vector p = kernels[i].U.transpose() * u / gamma(static_cast<Index>(i));
    largest = std::max(largest, kernels[i].lambda.dot(p.cwiseAbs2()));
  }
  const dual::SvmDual machine{dual::SymmetricView::dense(sum), problem.y, problem.cost, {}};
  const dual::SvmCertificate found = certify(machine, alpha, b);
  MachineValue value;
  // For several kernels the squared norm of the primal is the largest u'K_i u / gamma_i^2, not
  // their mean; certify may have stretched it by 1e-9.
  value.upper = found.primal;
  if (kernels.size() > 1) {
    value.upper += 0.5 * (1 + 3e-9) * std::max(0.0, largest - found.quadratic);
  }
  // Where costs are far above alpha, margins short by 1e-8 would make all of the loss.
  const Vector margins = problem.y.cwiseProduct(found.decision);
  value.upper = std::min(value.upper, engine::best_primal(problem.cost, largest, margins));
  value.kkt_residual = found.kkt_residual;
  return value;
}

std::optional<mkl::MixedSolution> fixed_machine(const Problem& problem, std::span<const Matrix> K,
                                                const mkl::MixedSettings& settings,
                                                const RunContext& ctx) {
  constexpr double kLeastWeight = 1e-6;
  mkl::MixedSolution machine = mkl::solve_mixed({K, problem.y, problem.cost}, settings, ctx);
  if (!machine.alpha.allFinite() || !(machine.gamma.minCoeff() >= kLeastWeight)) {
    return std::nullopt;
  }
  return machine;
}

std::vector<SymmetricEigen> decompose(std::span<const Matrix> S) {
  std::vector<SymmetricEigen> eigen;
  for (const Matrix& one : S) eigen.push_back(symmetric_eigen(one));
  return eigen;
}

std::vector<SymmetricEigen> decompose(const Problem& problem) {
  if (!problem.eigen.empty()) return {problem.eigen.begin(), problem.eigen.end()};
  const bool mean = problem.shape == KernelShape::kShared && problem.S.size() > 1;
  return mean ? std::vector{symmetric_eigen(mean_similarity(problem))} : decompose(problem.S);
}

Matrix mean_similarity(const Problem& problem) {
  const auto m = static_cast<double>(problem.S.size());
  Matrix mean = Matrix::Zero(problem.y.size(), problem.y.size());
  for (const Matrix& S : problem.S) mean += S / m;
  return mean;
}

double default_tolerance(KernelLoss loss, KernelShape shape) {
  if (loss == KernelLoss::kAbsolute) return 1e-3;
  if (loss == KernelLoss::kOwn) return 1e-4;
  return shape == KernelShape::kSpectral && loss == KernelLoss::kNorm ? 1e-4 : 1e-6;
}

void validate(const Problem& problem) {
  const Index n = problem.y.size();
  engine::check_machine(problem.S, problem.y, problem.cost, "similarity matrix");
  engine::check_positive("rho", problem.rho);
  engine::check_positive("trace", problem.trace);
  if (problem.loss == KernelLoss::kOwn &&
      (problem.own == nullptr || !problem.own->value || !problem.own->subgradient)) {
    refuse("loss own needs a function with its gradient");
  }
  const bool shared = problem.shape == KernelShape::kShared;
  if (!problem.eigen.empty() && problem.eigen.size() != (shared ? 1 : problem.S.size())) {
    refuse(
        fmt::format("{} decompositions for {} matrices", problem.eigen.size(), problem.S.size()));
  }
  for (const SymmetricEigen& eigen : problem.eigen) {
    if (eigen.lambda.size() != n || eigen.U.rows() != n || eigen.U.cols() != n) {
      refuse("a decomposition is not of the size of its matrix");
    }
  }
}

Certificate certify(const Problem& problem, const Solution& solution) {
  validate(problem);
  check_sizes(problem, solution);
  Certificate found = evidence(problem, solution).certificate;
  found.feasibility = infeasibility(problem, solution);
  return found;
}

void update_evidence(const Problem& problem, Solution& solution) {
  validate(problem);
  check_sizes(problem, solution);
  const Evidence found = evidence(problem, solution);
  solution.lower = found.certificate.lower;
  solution.offset = found.certificate.offset;
  solution.machine = found.machine;
  solution.info.objective = found.certificate.upper;
  solution.info.gap = found.certificate.gap;
  solution.info.kkt_residual = found.certificate.kkt_residual;
}

Solution learn_kernel(const Problem& problem, const Settings& settings, const RunContext& ctx) {
  validate(problem);
  const bool absolute = problem.loss == KernelLoss::kAbsolute;
  if (absolute && problem.shape == KernelShape::kSpectral) {
    refuse("the sum of absolute values is not provided as a loss of spectra");
  }
  const double tolerance =
      settings.tolerance > 0 ? settings.tolerance : default_tolerance(problem.loss, problem.shape);
  const bool first_order = absolute || problem.loss == KernelLoss::kOwn;
  const long limit = settings.max_iterations > 0 ? settings.max_iterations
                     : first_order               ? 1000
                                                 : 100;
  constexpr double kContradiction = 0.1;  // of the margin: what a gap of 1e-5 may leave
  Solution solution = solve(problem, tolerance, limit, ctx);
  if (!is_whole(problem, solution)) solution = no_answer(problem, solution.info.iterations);
  // From what is returned, by another route than the iteration's.
  update_evidence(problem, solution);
  const bool proved =
      solution.info.gap <= tolerance && (absolute || solution.info.kkt_residual <= kContradiction);
  solution.info.status = measured_status(solution.info.status, proved);
  return solution;
}

ConvexLoss convex_loss(KernelLoss loss) {
  ConvexLoss found;
  found.value = [loss](const Matrix& X) { return loss_value(loss, X); };
  found.subgradient = [loss](const Matrix& X) -> Matrix {
    if (loss == KernelLoss::kAbsolute) return X.cwiseSign();
    if (loss == KernelLoss::kSquared) return 2 * X;
    const double norm = X.norm();
    if (norm == 0) return Matrix::Zero(X.rows(), X.cols());
    return X / norm;
  };
  return found;
}

}  // namespace kith::trace
