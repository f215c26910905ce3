// SPDX-License-Identifier: Apache-2.0
#include "numerics/distances.hpp"

#include <gtest/gtest.h>

#include "kith/core/rng.hpp"

namespace kith::distances_test {
namespace {

RowMatrix random_rows(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  RowMatrix X(n, d);
  for (double& value : X.reshaped()) value = rng.normal();
  return X;
}

/// Largest relative error beside the definition; 0 must be 0.
double worst_error(const Matrix& D, const RowMatrix& X, const RowMatrix& Z) {
  double worst = 0;
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < Z.rows(); ++j) {
      const double exact = (X.row(i) - Z.row(j)).squaredNorm();
      const double error = std::abs(D(i, j) - exact);
      worst = std::max(worst, exact > 0 ? error / exact : error);
    }
  }
  return worst;
}

TEST(SquaredDistances, KeepTwelveDigitsHoweverNearTheRowsAndFarTheOrigin) {
  for (const double origin : {0.0, 1.0, 1e6}) {
    for (const double apart : {1.0, 1e-3, 1e-9}) {
      RowMatrix X = random_rows(30, 7, 1);
      X.bottomRows(15) = X.topRows(15) + apart * random_rows(15, 7, 2);
      X.row(20) = X.row(3);
      X.array() += origin;
      const RowMatrix Z = random_rows(11, 7, 3).array() + origin;
      const Matrix D = squared_distances(X, 2);
      EXPECT_LT(worst_error(D, X, X), 1e-11) << origin << " " << apart;
      EXPECT_EQ(D, D.transpose());
      EXPECT_EQ(D(20, 3), 0);
      EXPECT_LT(worst_error(squared_distances(X, Z, 1), X, Z), 1e-11);
      EXPECT_LT(worst_error(squared_distances(X, X, 2), X, X), 1e-11);
    }
  }
}

TEST(SquaredDistances, AreTheSameForAnyNumberOfThreads) {
  const RowMatrix X = random_rows(40, 5, 4);
  EXPECT_EQ(squared_distances(X, 3), squared_distances(X, 1));
  EXPECT_EQ(squared_distances(X, X, 3), squared_distances(X, X, 1));
}

TEST(SquaredDistances, OfRowsWhoseSquaresOverflowAreInfiniteOrZero) {
  RowMatrix X = RowMatrix::Constant(3, 2, 1e200);
  X.row(2) *= -1;
  const Matrix D = squared_distances(X, 1);
  EXPECT_EQ(D(0, 1), 0);
  EXPECT_EQ(D(0, 2), std::numeric_limits<double>::infinity());
}

TEST(SquaredDistances, OfNothingAreNone) {
  EXPECT_EQ(squared_distances(RowMatrix(0, 3), 1).size(), 0);
  EXPECT_EQ(squared_distances(RowMatrix(0, 3), random_rows(4, 3, 5), 1).cols(), 4);
  EXPECT_EQ(squared_distances(RowMatrix(4, 0), 1), Matrix::Zero(4, 4));
  EXPECT_EQ(squared_distances(RowMatrix(4, 0), RowMatrix(2, 0), 1), Matrix::Zero(4, 2));
}

}  // namespace
}  // namespace kith::distances_test
