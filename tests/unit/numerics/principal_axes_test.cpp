// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/principal_axes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kith/core/rng.hpp"

namespace kith::principal_axes_test {
namespace {

Matrix random_rows(Index n, Index features, std::uint64_t seed) {
  Rng rng(seed);
  Matrix X(n, features);
  for (Index i = 0; i < X.size(); ++i) X.data()[i] = 3 + rng.normal();
  return X;
}

void expect_axes_of(const Matrix& X, Index rank) {
  const PrincipalAxes axes = principal_axes(X);
  ASSERT_EQ(axes.Z.cols(), rank);
  EXPECT_LT((axes.Q.transpose() * axes.Q - Matrix::Identity(rank, rank)).norm(), 1e-12);
  const Matrix back = (axes.Z * axes.Q.transpose()).rowwise() + axes.mean.transpose();
  EXPECT_LT((back - X).norm(), 1e-10 * X.norm());
  const Matrix spread = axes.Z.transpose() * axes.Z;
  EXPECT_LT((spread - Matrix(axes.spread.asDiagonal())).norm(), 1e-10 * axes.spread.norm());
  for (Index j = 1; j < rank; ++j) EXPECT_LE(axes.spread(j), axes.spread(j - 1) * (1 + 1e-12));
}

TEST(PrincipalAxes, GiveBackTheRows) {
  expect_axes_of(random_rows(40, 6, 1), 6);
  expect_axes_of(random_rows(12, 300, 2), 11);  // centring takes one of the 12
  expect_axes_of(random_rows(8, 8, 3), 7);
}

TEST(PrincipalAxes, LeaveOutWhatTheRowsDoNotSpan) {
  Matrix X = random_rows(30, 5, 4);
  X.col(3) = X.col(0) - 2 * X.col(1);
  expect_axes_of(X, 4);
  EXPECT_EQ(principal_axes(Matrix::Constant(7, 3, 2.5)).Z.cols(), 0);
}

TEST(SpanCoordinates, HoldSmallFeaturesBesideLargeOnes) {
  for (const Index features : {6, 70}) {
    Matrix X = random_rows(40, features, 5);
    for (Index j = 0; j < features; j += 2) X.col(j) *= 1e-9;
    const SpanCoordinates span = span_coordinates(X);
    const Index rank = std::min<Index>(features, 39);
    ASSERT_EQ(span.Z.cols(), rank);
    EXPECT_LT((span.Q.transpose() * span.Q - Matrix::Identity(rank, rank)).norm(), 1e-12);
    EXPECT_LT(span.Z.colwise().sum().norm(), 1e-12 * span.Z.norm());
    const Matrix back = (span.Z * span.Q.transpose()).rowwise() + span.mean.transpose();
    for (Index j = 0; j < features; ++j) {
      EXPECT_LT((back.col(j) - X.col(j)).norm(), 1e-9 * X.col(j).norm());
    }
  }
  EXPECT_EQ(span_coordinates(Matrix::Constant(7, 3, 2.5)).Z.cols(), 0);
}

TEST(PrincipalAxes, CountDimensionsByTheSquaresOfEigenvalues) {
  const Vector spread{{4, 2, 2, 1}};  // squares 16, 4, 4, 1 of 25
  EXPECT_EQ(dimensions_by_energy(spread, 0.5), 1);
  EXPECT_EQ(dimensions_by_energy(spread, 0.64), 1);
  EXPECT_EQ(dimensions_by_energy(spread, 0.65), 2);
  EXPECT_EQ(dimensions_by_energy(spread, 0.9), 3);
  EXPECT_EQ(dimensions_by_energy(spread, 1), 4);
}

}  // namespace
}  // namespace kith::principal_axes_test
