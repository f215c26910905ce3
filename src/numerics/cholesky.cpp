// SPDX-License-Identifier: Apache-2.0
#include "numerics/cholesky.hpp"

#include "numerics/lapack.hpp"

namespace kith {

bool cholesky(Matrix& A) { return leading_cholesky(A) == A.rows() && A.diagonal().allFinite(); }

Index leading_cholesky(Matrix& A) {
  const auto size = static_cast<int>(A.rows());
  if (size == 0) return 0;
  int info = 0;
  dpotrf_("L", &size, A.data(), &size, &info);
  return info > 0 ? info - 1 : size;
}

bool cholesky_with_ridge(Matrix& A, const Vector& unit, double least, double most) {
  const Matrix before = A;
  for (double ridge = least; ridge <= most; ridge *= 100) {
    A = before;
    A.diagonal() += ridge * unit;
    if (cholesky(A)) return true;
  }
  return false;
}

bool cholesky_with_ridge(Matrix& A, Ridge kind) {
  constexpr double kSmallest = 1e-15;
  const Matrix before = A;
  if (cholesky(A)) return true;
  A = before;
  Vector unit = A.diagonal();
  if (kind == Ridge::kOfLargest) unit.array() += unit.maxCoeff();
  return cholesky_with_ridge(A, unit, kSmallest, kind == Ridge::kOfEach ? 1 : 1e-8);
}

Matrix back_solve(const Matrix& L, Matrix X) {
  L.triangularView<Eigen::Lower>().solveInPlace(X);
  L.triangularView<Eigen::Lower>().transpose().solveInPlace(X);
  return X;
}

Vector back_solve(const Matrix& L, Vector x) {
  L.triangularView<Eigen::Lower>().solveInPlace(x);
  L.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  return x;
}

Matrix solve_lower(const Matrix& L, Matrix X) {
  L.triangularView<Eigen::Lower>().solveInPlace(X);
  return X;
}

}  // namespace kith
