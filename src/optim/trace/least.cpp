// SPDX-License-Identifier: Apache-2.0
#include "optim/trace/least.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/trace/block.hpp"
#include "optim/trace/point.hpp"

namespace kith::trace {

double heaviest_loss(const Problem& problem) {
  const double full = problem.shape == KernelShape::kSpectral ? 1e7 : 1e12;
  const double size = problem.trace / static_cast<double>(problem.y.size());
  return full / (size * size * size);
}

SquaredLoss::SquaredLoss(const Problem& problem)
    : problem_(problem), heavy_(problem.rho > heaviest_loss(problem)) {
  double c = problem.rho;
  if (problem.shape == KernelShape::kShared && problem.S.size() > 1) {
    const Matrix mean = mean_similarity(problem);
    for (const Matrix& S : problem.S) least_ += problem.rho * (S - mean).squaredNorm();
    c *= static_cast<double>(problem.S.size());
  }
  for (SymmetricEigen& V : decompose(problem)) {
    SimplexPoint nearest = project_to_simplex(V.lambda, problem.trace);
    least_ += c * (nearest.k - V.lambda).squaredNorm();
    Vector w = (nearest.theta - V.lambda.array()).cwiseMax(0.0);
    near_.push_back({std::move(V), c, std::move(nearest.k), std::move(w)});
  }
}

double SquaredLoss::excess(const Near& near, const MatrixRef& B, const VectorRef& k) const {
  Matrix scaled = B * k.cwiseSqrt().asDiagonal();
  Matrix difference(B.rows(), B.rows());
  difference.noalias() = scaled * scaled.transpose();
  const double beyond = near.w.dot(difference.diagonal());
  difference.diagonal() -= near.p;
  constexpr double kRounding = 1e-13;
  if (heavy_ && difference.cwiseAbs().maxCoeff() <= kRounding * near.p.maxCoeff()) return 0;
  return near.c * (difference.squaredNorm() + 2 * beyond);
}

double SquaredLoss::excess_of_spectrum(const Near& near, const VectorRef& mu) const {
  return near.c * ((mu - near.p).squaredNorm() + 2 * near.w.dot(mu));
}

double SquaredLoss::excess(std::span<const SymmetricEigen> kernels) const {
  double sum = 0;
  for (std::size_t i = 0; i < near_.size(); ++i) {
    if (problem_.shape == KernelShape::kSpectral) {
      sum += excess_of_spectrum(near_[i], kernels[i].lambda);
    } else {
      const Matrix B = near_[i].V.U.transpose() * kernels[i].U;
      sum += excess(near_[i], B, kernels[i].lambda.cwiseMax(0.0));
    }
  }
  return sum;
}

std::optional<double> SquaredLoss::bound_at_nearest(const Near& near, const VectorRef& p,
                                                    double gamma) const {
  constexpr double kNothing = 1e-12;
  const double pull = near.p.dot(p.cwiseAbs2()) / (2 * gamma);
  const double square = p.squaredNorm() / (4 * gamma);
  const double moved = square * (square / near.c);
  if (!heavy_ || !(moved <= kNothing * pull)) return std::nullopt;
  return -pull - moved;
}

double SquaredLoss::lower_bound(const VectorRef& alpha, const VectorRef& gamma) const {
  const Vector u = problem_.y.cwiseProduct(alpha);
  double bound = alpha.sum();
  for (std::size_t i = 0; i < near_.size(); ++i) {
    const Near& near = near_[i];
    const double weight = gamma(static_cast<Index>(i));
    const Vector p = near.V.U.transpose() * u;
    const Vector pull = p / (2 * std::sqrt(near.c * weight));
    if (problem_.shape == KernelShape::kSpectral) {
      const Vector mu = project_to_simplex(near.V.lambda + pull.cwiseAbs2(), problem_.trace).k;
      bound += excess_of_spectrum(near, mu) - mu.dot(p.cwiseAbs2()) / (2 * weight);
      continue;
    }
    if (const std::optional<double> nearest = bound_at_nearest(near, p, weight)) {
      bound += *nearest;
      continue;
    }
    Matrix M = pull * pull.transpose();
    M.diagonal() += near.V.lambda;
    const SymmetricEigen moved = symmetric_eigen(std::move(M));
    const Vector k = project_to_simplex(moved.lambda, problem_.trace).k;
    const Vector turned = moved.U.transpose() * p;
    bound += excess(near, moved.U, k) - k.dot(turned.cwiseAbs2()) / (2 * weight);
  }
  return bound;
}

}  // namespace kith::trace
