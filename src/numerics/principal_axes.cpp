// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/principal_axes.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <utility>
#include <vector>

#include "kith/core/positions.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith {
namespace {

constexpr double kSmallestVariance = 1e-14;  // of the largest: the square of 1e-7
constexpr double kSmallestPivot = 1e-13;     // of the largest: less is rounding

/// Orthonormal directions by falling spread, as columns, of centred rows with no more columns than
/// the caller can bear a square matrix of.
Matrix directions_of(const Matrix& X) {
  Matrix covariance = Matrix::Zero(X.cols(), X.cols());
  covariance.selfadjointView<Eigen::Lower>().rankUpdate(X.transpose());
  const SymmetricEigen eigen = symmetric_eigen(std::move(covariance));
  const double most = eigen.lambda.size() > 0 ? eigen.lambda(eigen.lambda.size() - 1) : 0;
  Index kept = 0;
  for (const double variance : eigen.lambda)
    kept += most > 0 && variance > kSmallestVariance * most;
  return eigen.U.rightCols(kept).rowwise().reverse();
}

/// The mean of the rows, which they lose.
Vector centre(Matrix& X) {
  Vector mean = X.rows() > 0 ? Vector(X.colwise().mean().transpose()) : Vector::Zero(X.cols());
  X.rowwise() -= mean.transpose();
  return mean;
}

std::vector<Index> columns_by_falling_norm(const Matrix& X) {
  const Vector norms = X.colwise().norm();
  std::vector<Index> order = all_positions(X.cols());
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return norms(i) > norms(j); });
  return order;
}

}  // namespace

PrincipalAxes principal_axes(Matrix X) {
  PrincipalAxes axes;
  axes.mean = centre(X);
  if (X.cols() > X.rows()) {
    const Eigen::HouseholderQR<Matrix> qr(X.transpose());
    const Matrix basis = qr.householderQ() * Matrix::Identity(X.cols(), X.rows());
    const Matrix in_span = X * basis;
    axes.Q.noalias() = basis * directions_of(in_span);
  } else {
    axes.Q = directions_of(X);
  }
  fix_signs(axes.Q);
  axes.Z.noalias() = X * axes.Q;
  axes.spread = axes.Z.colwise().squaredNorm().transpose();
  return axes;
}

SpanCoordinates span_coordinates(Matrix X) {
  SpanCoordinates span;
  span.mean = centre(X);
  const std::vector<Index> order = columns_by_falling_norm(X);
  Eigen::ColPivHouseholderQR<Matrix> qr(X(Eigen::all, order).transpose());
  qr.setThreshold(kSmallestPivot);
  const Index rank = qr.rank();
  span.Q.resize(X.cols(), rank);
  span.Q(order, Eigen::all) = Matrix(qr.householderQ() * Matrix::Identity(X.cols(), rank));
  const Matrix R = qr.matrixQR().topRows(rank).triangularView<Eigen::Upper>();
  span.Z = qr.colsPermutation() * R.transpose();
  return span;
}

Index dimensions_by_energy(const VectorRef& spread, double share) {
  const double whole = spread.squaredNorm();
  double held = 0;
  for (Index d = 0; d < spread.size(); ++d) {
    held += spread(d) * spread(d);
    if (held >= share * whole) return d + 1;
  }
  return spread.size();
}

}  // namespace kith
