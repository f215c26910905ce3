// SPDX-License-Identifier: Apache-2.0
#include "optim/robust_dual.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith {
namespace {

const SymmetricEigen& decomposition(const RobustProblem& problem,
                                    std::optional<SymmetricEigen>& own) {
  if (problem.eigen != nullptr) return *problem.eigen;
  own = symmetric_eigen(problem.S);
  return *own;
}

/// B is the matrix in brackets, in the basis V; Gq = G p^2.
struct InnerCurvature {
  Matrix B;
  Vector Gq;
};

InnerCurvature inner_curvature(const Vector& d, const Vector& p, double rho) {
  const Index n = d.size();
  const Vector q = p.cwiseAbs2();
  const Vector plus = d.cwiseMax(0.0);
  const Vector scaled = p / (4 * rho);
  InnerCurvature inner{Matrix(n, n), Vector(n)};
  Vector gamma(n);
  for (Index j = 0; j < n; ++j) {
    if (d(j) > 0) {
      for (Index i = 0; i < n; ++i) gamma(i) = d(i) > 0 ? 1 : d(j) / (d(j) - d(i));
    } else {
      for (Index i = 0; i < n; ++i) gamma(i) = d(i) > 0 ? d(i) / (d(i) - d(j)) : 0;
    }
    inner.Gq(j) = gamma.dot(q);
    inner.B.col(j) = scaled(j) * p.cwiseProduct(gamma);
    inner.B(j, j) += plus(j) + inner.Gq(j) / (4 * rho);
  }
  return inner;
}

}  // namespace

RobustDual::RobustDual(const RobustProblem& problem)
    : problem_(problem),
      Q_(decomposition(problem, own_).U),
      updater_(own_ ? own_->lambda : problem.eigen->lambda) {
  negative_part_ = updater_.lambda().cwiseMin(0.0).norm();
}

DualPoint RobustDual::at(const VectorRef& alpha, double rho) const {
  DualPoint point;
  point.rho = rho;
  const double scale = 2 * std::sqrt(rho);  // u = scale Q z
  const Vector u = problem_.y.cwiseProduct(alpha);
  point.M = updater_.update(Q_.transpose() * u / scale);
  const RankOneDecomposition& M = point.M;
  double rise = 0;
  for (Index i = 0; i < M.value.size(); ++i) {
    const double old = updater_.lambda()(i);
    if (old > 0) {
      rise += M.rise(i) * (M.value(i) + old);
    } else if (M.value(i) > 0) {
      rise += M.value(i) * M.value(i);
    }
  }
  point.value = alpha.sum() - rho * rise;
  const Vector p = M.product * scale;
  const Vector weighted = M.value.cwiseMax(0.0).cwiseProduct(p);
  point.Ku.noalias() = Q_ * (M.W * weighted);
  point.gradient = 1 - problem_.y.cwiseProduct(point.Ku).array();
  point.uKu = p.dot(weighted);
  const Vector minus = (-M.value).cwiseMax(0.0);
  const double square = u.squaredNorm() / (4 * rho);
  point.distance =
      std::sqrt(square * square + p.cwiseAbs2().dot(minus) / (2 * rho) + minus.squaredNorm());
  return point;
}

DualCurvature RobustDual::curvature(const DualPoint& point) const {
  const double rho = point.rho;
  const Vector p = point.M.product * (2 * std::sqrt(rho));
  const Vector q = p.cwiseAbs2();
  const InnerCurvature inner = inner_curvature(point.M.value, p, rho);
  Matrix V(Q_.rows(), Q_.cols());
  V.noalias() = Q_ * point.M.W;
  V = problem_.y.asDiagonal() * V;
  DualCurvature result;
  Matrix VB(V.rows(), V.cols());
  VB.noalias() = V * inner.B;
  result.H.noalias() = VB * V.transpose();
  result.cross = -0.25 * (V * p.cwiseProduct(inner.Gq));
  const double qGq = q.dot(inner.Gq);
  const Vector minus = (-point.M.value).cwiseMax(0.0);
  const double outside = std::max(0.0, q.sum() * q.sum() - qGq);
  result.in_inverse =
      rho / 8 * outside + rho * rho * q.dot(minus) + 2 * rho * rho * rho * minus.squaredNorm();
  result.in_rho = -qGq / (8 * rho * rho * rho);
  return result;
}

SymmetricEigen RobustDual::kernel(const DualPoint& point) const {
  const Vector& d = point.M.value;
  const double zero = zero_threshold(d);
  std::vector<Index> positive;
  for (Index i = 0; i < d.size(); ++i) {
    if (d(i) > zero) positive.push_back(i);
  }
  std::stable_sort(positive.begin(), positive.end(), [&](Index a, Index b) { return d(a) < d(b); });
  SymmetricEigen kernel;
  kernel.lambda = d(positive);
  const Matrix W = point.M.W(Eigen::all, positive);
  kernel.U.noalias() = Q_ * W;
  fix_signs(kernel.U);
  return kernel;
}

}  // namespace kith
