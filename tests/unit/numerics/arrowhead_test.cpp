// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/arrowhead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/core/rng.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith::arrowhead_test {
namespace {

double clip(double x) { return std::max(x, 0.0); }
double flip(double x) { return std::abs(x); }
double same(double x) { return x; }

/// The definition: decompose the whole matrix.
Vector by_definition(const Vector& lambda, const Vector& z, double psi, double (*h)(double)) {
  const Index n = lambda.size();
  Matrix A = Matrix::Zero(n + 1, n + 1);
  A.diagonal().head(n) = lambda;
  A.col(n).head(n) = z;
  A.row(n).head(n) = z.transpose();
  A(n, n) = psi;
  const SymmetricEigen eigen = symmetric_eigen(A);
  const Matrix H = eigen.U * eigen.lambda.unaryExpr(h).asDiagonal() * eigen.U.transpose();
  return H.col(n).head(n);
}

Vector random_ascending(Index n, Rng& rng) {
  Vector lambda(n);
  for (double& value : lambda) value = 3 * rng.normal();
  std::sort(lambda.begin(), lambda.end());
  return lambda;
}

void expect_agreement(const Vector& lambda, const Vector& z, double psi) {
  const double scale = std::max({lambda.cwiseAbs().maxCoeff(), z.norm(), std::abs(psi)});
  for (double (*h)(double) : {clip, flip, same}) {
    const Vector found = arrowhead_column(lambda, z, psi, h);
    const Vector expected = by_definition(lambda, z, psi, h);
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-11 * scale);
  }
}

TEST(ArrowheadColumn, EqualsTheDefinitionOnRandomMatrices) {
  Rng rng(1);
  for (int trial = 0; trial < 50; ++trial) {
    const Index n = 1 + static_cast<Index>(rng.below(30));
    Vector z(n);
    for (double& value : z) value = rng.normal();
    expect_agreement(random_ascending(n, rng), z, 2 * rng.normal());
  }
}

TEST(ArrowheadColumn, TakesEqualPolesAndZeroWeights) {
  expect_agreement(Vector{{-1, -1, 0, 0, 0, 2, 2}}, Vector{{1, 2, 0, 0.5, 1, 0, 3}}, 1);
  expect_agreement(Vector{{-1, 0, 1}}, Vector::Zero(3), 1);
  expect_agreement(Vector::Zero(4), Vector{{1, 1, 1, 1}}, 0);
}

TEST(ArrowheadColumn, TakesTinyWeightsAndCloseOrHugePoles) {
  expect_agreement(Vector{{-1, 0, 1e-13, 1}}, Vector{{1e-9, 1e-12, 0.5, 1}}, -2);
  expect_agreement(Vector{{-1e12, 3, 1e12}}, Vector{{1, 1e6, 1e12}}, 5);
}

}  // namespace
}  // namespace kith::arrowhead_test
