// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/dual.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith::robust {
namespace {

const SymmetricEigen& decomposition(const Problem& problem, std::optional<SymmetricEigen>& own) {
  if (problem.eigen != nullptr) return *problem.eigen;
  own = symmetric_eigen(problem.S);
  return *own;
}

}  // namespace

InnerCurvature inner_curvature(const Vector& d, const Vector& p, double rho) {
  InnerCurvature inner;
  for (Index i = 0; i < d.size(); ++i) (d(i) > 0 ? inner.positive : inner.rest).push_back(i);
  const Vector dp = d(inner.positive);
  const Vector pp = p(inner.positive);
  const Vector qp = pp.cwiseAbs2();
  Vector above = Vector::Constant(dp.size(), qp.sum());
  inner.Gq.resize(d.size());
  inner.corner.resize(dp.size(), std::ssize(inner.rest));
  for (Index k = 0; k < inner.corner.cols(); ++k) {
    const Index j = inner.rest[static_cast<std::size_t>(k)];
    inner.corner.col(k) = dp.array() / (dp.array() - d(j));
    inner.Gq(j) = inner.corner.col(k).dot(qp);
    above += p(j) * p(j) * inner.corner.col(k);
    inner.corner.col(k).array() *= pp.array() * (p(j) / (4 * rho));
  }
  inner.Gq(inner.positive) = above;
  inner.diagonal = d.cwiseMax(0.0) + inner.Gq / (4 * rho);
  return inner;
}

Matrix outer_curvature(const MatrixRef& Q, const Matrix& W, const InnerCurvature& inner,
                       const Vector& p, double rho, double share) {
  Matrix above(Q.rows(), std::ssize(inner.positive));
  Matrix below(Q.rows(), std::ssize(inner.rest));
  above.noalias() = Q * W(Eigen::all, inner.positive);
  below.noalias() = Q * W(Eigen::all, inner.rest);
  const Vector da = inner.diagonal(inner.positive);
  const Vector db = inner.diagonal(inner.rest);
  const Vector pull = above * (p(inner.positive) / std::sqrt(4 * rho));
  // The smaller side takes the corner and half of its own diagonal into one product X V', whose
  // transpose is the other half; the larger side is then a sum of squares.
  const bool fewer_below = below.cols() <= above.cols();
  Matrix X(Q.rows(), fewer_below ? below.cols() : above.cols());
  Matrix result(Q.rows(), Q.rows());
  if (fewer_below) {
    X.noalias() = above * inner.corner;
    X += below * (0.5 * db).asDiagonal();
    result.noalias() = X * below.transpose();
    above *= da.cwiseSqrt().asDiagonal();
  } else {
    X.noalias() = below * inner.corner.transpose();
    X += above * (0.5 * da).asDiagonal();
    result.noalias() = X * above.transpose();
    below *= db.cwiseSqrt().asDiagonal();
  }
  Matrix squares = Matrix::Zero(Q.rows(), Q.rows());
  squares.selfadjointView<Eigen::Lower>().rankUpdate(fewer_below ? above : below);
  squares.selfadjointView<Eigen::Lower>().rankUpdate(pull, share);
  for (Index j = 0; j < result.cols(); ++j) {
    for (Index i = j; i < result.rows(); ++i) {
      result(j, i) = result(i, j) = result(i, j) + result(j, i) + squares(i, j);
    }
  }
  return result;
}

SymmetricEigen pairs_above(const MatrixRef& Q, const Matrix& W, const Vector& d, double least) {
  std::vector<Index> kept;
  for (Index i = 0; i < d.size(); ++i) {
    if (d(i) > least) kept.push_back(i);
  }
  std::stable_sort(kept.begin(), kept.end(), [&](Index a, Index b) { return d(a) < d(b); });
  SymmetricEigen pairs{d(kept), Matrix(Q.rows(), std::ssize(kept))};
  pairs.U.noalias() = Q * W(Eigen::all, kept);
  fix_signs(pairs.U);
  return pairs;
}

Dual::Dual(const Problem& problem)
    : problem_(problem),
      Q_(decomposition(problem, own_).U),
      updater_(own_ ? own_->lambda : problem.eigen->lambda) {
  negative_part_ = updater_.lambda().cwiseMin(0.0).norm();
}

DualPoint Dual::at(const VectorRef& alpha, double rho) const {
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

Matrix Dual::curvature_kernel(const DualPoint& point, const std::vector<Index>& rows) const {
  const Vector p = point.M.product * (2 * std::sqrt(point.rho));
  const Matrix Q = Q_(rows, Eigen::all);
  return outer_curvature(Q, point.M.W, inner_curvature(point.M.value, p, point.rho), p, point.rho);
}

RhoCurvature Dual::rho_curvature(const DualPoint& point) const {
  const Vector p = point.M.product * (2 * std::sqrt(point.rho));
  const Vector Gq = inner_curvature(point.M.value, p, point.rho).Gq;
  return {Q_ * (point.M.W * p.cwiseProduct(Gq)), p.cwiseAbs2().dot(Gq)};
}

DualCurvature Dual::curvature(const DualPoint& point) const {
  const double rho = point.rho;
  const Vector p = point.M.product * (2 * std::sqrt(rho));
  const Vector q = p.cwiseAbs2();
  const InnerCurvature inner = inner_curvature(point.M.value, p, rho);
  DualCurvature result;
  result.H = outer_curvature(Q_, point.M.W, inner, p, rho);
  result.H = problem_.y.asDiagonal() * result.H * problem_.y.asDiagonal();
  const Vector turned = Q_ * (point.M.W * p.cwiseProduct(inner.Gq));
  result.cross = -0.25 * problem_.y.cwiseProduct(turned);
  const double qGq = q.dot(inner.Gq);
  const Vector minus = (-point.M.value).cwiseMax(0.0);
  const double outside = std::max(0.0, q.sum() * q.sum() - qGq);
  result.in_inverse =
      rho / 8 * outside + rho * rho * q.dot(minus) + 2 * rho * rho * rho * minus.squaredNorm();
  result.in_rho = -qGq / (8 * rho * rho * rho);
  return result;
}

SymmetricEigen Dual::kernel(const DualPoint& point) const {
  return pairs_above(Q_, point.M.W, point.M.value, zero_threshold(point.M.value));
}

}  // namespace kith::robust
