// SPDX-License-Identifier: Apache-2.0
// Products are taken of rows minus a common centre, which changes no distance and makes the norms,
// and with them the cancellation, small.
#include "numerics/distances.hpp"

namespace kith {

Matrix squared_distances(const Eigen::Ref<const RowMatrix>& X, const Eigen::Ref<const RowMatrix>& Z,
                         int threads) {
  if (X.size() == 0 || Z.size() == 0) return Matrix::Zero(X.rows(), Z.rows());
  const Eigen::RowVectorXd centre = Z.colwise().mean();
  const RowMatrix x = X.rowwise() - centre;
  const RowMatrix z = Z.rowwise() - centre;
  Matrix D(x.rows(), z.rows());
  D.noalias() = x * z.transpose();
  make_squared_distances(D, x.rowwise().squaredNorm(), z.rowwise().squaredNorm(), threads,
                         [&](Index i, Index j) { return (X.row(i) - Z.row(j)).squaredNorm(); });
  return D;
}

Matrix squared_distances(const Eigen::Ref<const RowMatrix>& X, int threads) {
  const Index n = X.rows();
  Matrix D = Matrix::Zero(n, n);
  if (X.size() == 0) return D;
  const RowMatrix x = X.rowwise() - Eigen::RowVectorXd(X.colwise().mean());
  D.selfadjointView<Eigen::Lower>().rankUpdate(x);
  const Vector squares = x.rowwise().squaredNorm();
  make_squared_distances(D, squares, squares, threads, [&](Index i, Index j) {
    return i > j ? (X.row(i) - X.row(j)).squaredNorm() : 0.0;
  });
  D.triangularView<Eigen::StrictlyUpper>() = D.transpose();
  return D;
}

}  // namespace kith
