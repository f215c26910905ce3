// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/pivoted_cholesky.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kith/core/error.hpp"
#include "matrices.hpp"

namespace kith::pivoted_cholesky_test {
namespace {

Matrix gram(Index n, Index rank, std::uint64_t seed) {
  Rng rng(seed);
  const Matrix X = test::random_matrix(n, rank, rng);
  return X * X.transpose();
}

TEST(PivotedCholesky, GivesBackTheKernelAtItsRank) {
  for (const Index rank : {1, 3, 20, 40}) {
    const Matrix K = gram(40, rank, 7);
    const PivotedFactor factor = pivoted_cholesky(K);
    EXPECT_EQ(factor.X.cols(), rank);
    EXPECT_EQ(std::ssize(factor.pivots), rank);
    EXPECT_LE((factor.X * factor.X.transpose() - K).cwiseAbs().maxCoeff(), 1e-13 * K.trace());
  }
}

TEST(PivotedCholesky, HasATriangleInTheRowsOfItsPivots) {
  const PivotedFactor factor = pivoted_cholesky(gram(25, 6, 3));
  const Matrix L = factor.X(factor.pivots, Eigen::all);
  EXPECT_EQ(Matrix(L.triangularView<Eigen::StrictlyUpper>()), Matrix::Zero(6, 6));
  EXPECT_GT(L.diagonal().minCoeff(), 0);
}

TEST(PivotedCholesky, CarriesAVectorOverToThePivots) {
  const PivotedFactor factor = pivoted_cholesky(gram(25, 6, 4));
  const Vector w = Vector::LinSpaced(6, -1, 2);
  const Vector c = over_pivots(factor, w);
  EXPECT_LE((factor.X.transpose() * c - w).norm(), 1e-12);
  EXPECT_EQ((c.array() != 0).count(), 6);
}

TEST(PivotedCholesky, BearsNothingAndZero) {
  EXPECT_EQ(pivoted_cholesky(Matrix(0, 0)).X.size(), 0);
  const PivotedFactor zero = pivoted_cholesky(Matrix::Zero(3, 3));
  EXPECT_EQ(zero.X.rows(), 3);
  EXPECT_EQ(zero.X.cols(), 0);
  EXPECT_EQ(over_pivots(zero, Vector(0)), Vector::Zero(3));
}

TEST(PivotedCholesky, RefusesWhatItCannotFactor) {
  EXPECT_THROW(static_cast<void>(pivoted_cholesky(Matrix::Zero(2, 3))), Error);
  Matrix K = Matrix::Identity(2, 2);
  K(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(pivoted_cholesky(K)), Error);
}

}  // namespace
}  // namespace kith::pivoted_cholesky_test
