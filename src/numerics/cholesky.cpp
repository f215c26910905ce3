// SPDX-License-Identifier: Apache-2.0
#include "numerics/cholesky.hpp"

#include "numerics/lapack.hpp"

namespace kith {

bool cholesky(Matrix& A) {
  const auto size = static_cast<int>(A.rows());
  if (size == 0) return true;
  int info = 0;
  dpotrf_("L", &size, A.data(), &size, &info);
  return info == 0 && A.diagonal().allFinite();
}

Index leading_definite(Matrix A) {
  const auto size = static_cast<int>(A.rows());
  if (size == 0) return 0;
  int info = 0;
  dpotrf_("L", &size, A.data(), &size, &info);
  return info > 0 ? info - 1 : size;
}

bool cholesky_with_ridge(Matrix& A, Ridge kind) {
  constexpr double kSmallest = 1e-15;
  const double largest = kind == Ridge::kOfEach ? 1 : 1e-8;
  const Vector diagonal = A.diagonal();
  const Matrix before = A;
  if (cholesky(A)) return true;
  for (double ridge = kSmallest; ridge <= largest; ridge *= 100) {
    A = before;
    A.diagonal() = diagonal * (1 + ridge);
    if (kind == Ridge::kOfLargest) A.diagonal().array() += ridge * diagonal.maxCoeff();
    if (cholesky(A)) return true;
  }
  return false;
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
