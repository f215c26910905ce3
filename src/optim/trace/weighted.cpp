// SPDX-License-Identifier: Apache-2.0
#include "optim/trace/weighted.hpp"

#include <cmath>
#include <utility>

#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/smo.hpp"
#include "optim/trace/point.hpp"

namespace kith::trace {

WeightedProblem::WeightedProblem(const Problem& problem, std::span<const Matrix> S)
    : problem_(problem), S_(S) {
  if (problem.shape == KernelShape::kShared && S.size() > 1) return;
  const bool spectral = problem.shape == KernelShape::kSpectral;
  eigen_ = of_problem() || spectral ? decompose(problem) : decompose(S);
  for (std::size_t i = 0; spectral && !of_problem() && i < S.size(); ++i) {
    eigen_[i].lambda = S[i].col(0);
  }
  if (spectral) return;
  for (const SymmetricEigen& eigen : eigen_) {
    blocks_.emplace_back(eigen, problem.trace);
  }
}

void WeightedProblem::make_blocks(const Vector& c) {
  const Vector weights = c / c.sum();
  if (mean_weights_.size() == weights.size() && mean_weights_ == weights) return;
  blocks_.clear();
  if (of_problem() && (weights.array() == weights(0)).all()) {
    blocks_.emplace_back(std::move(decompose(problem_).front()), problem_.trace);
  } else {
    Matrix V = Matrix::Zero(problem_.y.size(), problem_.y.size());
    for (std::size_t i = 0; i < S_.size(); ++i) V += weights(static_cast<Index>(i)) * S_[i];
    blocks_.emplace_back(symmetric_eigen(std::move(V)), problem_.trace);
  }
  mean_weights_ = weights;
}

DualSolution WeightedProblem::solve(const Vector& c, double tolerance, const RunContext& ctx,
                                    const DualSolution* near) {
  if (problem_.shape == KernelShape::kSpectral) {
    const SpectralDual dual{eigen_, c, problem_.trace, problem_.y, problem_.cost};
    return spectral_newton(dual, tolerance, ctx, near);
  }
  const bool mean = problem_.shape == KernelShape::kShared && S_.size() > 1;
  if (mean) make_blocks(c);
  const Dual dual{blocks_, mean ? Vector::Constant(1, c.sum()) : c, problem_.y, problem_.cost};
  DualSolution found = newton(dual, tolerance, ctx, near);
  if (found.status == SolveStatus::kSolved) return found;
  DualSolution other = barrier(dual, tolerance, ctx);
  other.iterations += found.iterations;
  return other.difference < found.difference ? other : found;
}

DualSolution WeightedProblem::nearest(const Vector& c) {
  if (problem_.shape == KernelShape::kShared && S_.size() > 1) make_blocks(c);
  const Index p = kernel_count(problem_);
  DualSolution at;
  at.alpha = Vector::Zero(problem_.y.size());
  at.gamma = Vector::Constant(p, 1.0 / static_cast<double>(p));
  at.points.resize(static_cast<std::size_t>(p));
  return at_weights(std::move(at), c);
}

DualSolution WeightedProblem::at_weights(DualSolution at, const Vector& c) const {
  const Vector u = problem_.y.cwiseProduct(at.alpha);
  for (Index i = 0; i < at.gamma.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (problem_.shape == KernelShape::kSpectral) {
      const Vector pull = eigen_[k].U.transpose() * u / (2 * std::sqrt(c(i) * at.gamma(i)));
      at.points[k].k = project_to_simplex(eigen_[k].lambda + pull.cwiseAbs2(), problem_.trace).k;
    } else {
      const bool mean = problem_.shape == KernelShape::kShared && S_.size() > 1;
      at.points[k] = blocks_[k].at(u / std::sqrt(at.gamma(i)), mean ? c.sum() : c(i));
    }
  }
  return at;
}

std::vector<SymmetricEigen> WeightedProblem::kernels(const DualSolution& at) const {
  std::vector<SymmetricEigen> found;
  for (std::size_t i = 0; i < eigen_.size() && blocks_.empty(); ++i) {
    found.push_back({at.points[i].k, eigen_[i].U});
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) found.push_back(blocks_[i].kernel(at.points[i]));
  return found;
}

bool finish_machine(const Problem& problem, Solution& solution, const RunContext& ctx) {
  if (solution.kernels.size() != 1) return false;
  const Matrix K = reconstruct(solution.kernels[0].U, solution.kernels[0].lambda);
  const dual::SvmDual machine{dual::SymmetricView::dense(K), problem.y, problem.cost, {}};
  const dual::SmoSolution found = dual::smo(machine, {}, ctx, solution.alpha);
  if (!met_tolerance(found.info.status)) return false;
  solution.alpha = found.alpha;
  solution.b = found.b;
  return true;
}

}  // namespace kith::trace
