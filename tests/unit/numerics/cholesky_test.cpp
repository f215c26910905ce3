// SPDX-License-Identifier: Apache-2.0
#include "numerics/cholesky.hpp"

#include <gtest/gtest.h>

#include "kith/core/rng.hpp"

namespace kith::cholesky_test {
namespace {

Matrix definite(Index n, std::uint64_t seed) {
  Rng rng(seed);
  Matrix B(n, n);
  for (double& value : B.reshaped()) value = rng.normal();
  return B * B.transpose() + Matrix::Identity(n, n);
}

TEST(Cholesky, FactorsAPositiveDefiniteMatrix) {
  for (const Index n : {0, 1, 2, 40}) {
    const Matrix A = definite(n, 1);
    Matrix L = A;
    ASSERT_TRUE(cholesky(L));
    const Matrix lower = L.triangularView<Eigen::Lower>();
    EXPECT_LE((lower * lower.transpose() - A).norm(), 1e-13 * A.norm());
    EXPECT_LE((A * back_solve(L, Matrix(Matrix::Identity(n, n))) - Matrix::Identity(n, n)).norm(),
              1e-10);
    EXPECT_LE((lower * solve_lower(L, A) - A).norm(), 1e-12 * A.norm());
  }
}

TEST(Cholesky, RefusesWhatIsNotPositiveDefinite) {
  Matrix A = definite(10, 2);
  A(4, 4) = -1;
  EXPECT_FALSE(cholesky(A));
  Matrix B = definite(10, 2);
  B(4, 4) = -1;
  EXPECT_FALSE(cholesky_with_ridge(B));
}

TEST(Cholesky, HelpsASingularMatrixWithARidgeOfNextToNothing) {
  Matrix A = Matrix::Ones(6, 6);  // of rank one
  Matrix L = A;
  ASSERT_TRUE(cholesky_with_ridge(L));
  const Matrix lower = L.triangularView<Eigen::Lower>();
  EXPECT_LE((lower * lower.transpose() - A).norm(), 1e-7 * A.norm());
}

TEST(Cholesky, LeavesSmallEntriesTheirSizeUnderARidgeOfEach) {
  Matrix A = Matrix::Zero(4, 4);
  A.topLeftCorner(2, 2).setConstant(1e12);  // singular
  A(2, 2) = A(3, 3) = 1e-12;
  Matrix L = A;
  ASSERT_TRUE(cholesky_with_ridge(L, Ridge::kOfEach));
  EXPECT_NEAR(L(3, 3), 1e-6, 1e-12);
}

}  // namespace
}  // namespace kith::cholesky_test
