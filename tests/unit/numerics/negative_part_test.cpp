// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/negative_part.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/error.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "matrices.hpp"
#include "numerics/indefinite_factor.hpp"

namespace kith::negative_part_test {
namespace {

constexpr Index kSize = 600;

/// Positive eigenvalues from 0.01 to 100, and these below 0.
Vector spectrum_with(const std::vector<double>& negative) {
  Vector lambda(kSize);
  const auto k = std::ssize(negative);
  for (Index i = 0; i < kSize; ++i) {
    lambda[i] = i < k ? negative[static_cast<std::size_t>(i)]
                      : std::pow(10.0, -2.0 + 4.0 * static_cast<double>(i) / kSize);
  }
  return lambda;
}

Matrix less(const Matrix& S, const NegativePart& part) {
  Matrix K = S;
  add_spectrum(K, part.U, -part.lambda);
  return K;
}

/// What the part claims, from S alone.
void expect_proved(const Matrix& S, const NegativePart& part) {
  const Index k = part.lambda.size();
  const Matrix R = S * part.U - part.U * part.lambda.asDiagonal();
  EXPECT_NEAR(R.norm(), part.residual, 1e-12 * S.norm());
  EXPECT_LE((part.U.transpose() * part.U - Matrix::Identity(k, k)).norm(), 1e-11);
  EXPECT_GE(symmetric_eigenvalues(less(S, part))[0], -part.floor);
  const Matrix exact = positive_part(S);
  const double distance = (less(S, part) - exact).norm();
  EXPECT_LE(distance, part.error());
  EXPECT_LE(distance, 1e-10 * exact.norm());
}

TEST(NegativePart, IsThatOfTheFullSpectrum) {
  const std::vector<std::vector<double>> cases = {
      {-1},
      {-5, -1, -0.1, -0.01},
      {-2, -2, -2, -2, -2},                    // one eigenvalue five times
      {-1e-2, -2e-2, -3e-2, -4e-2, -5e-2},     // next to the smallest positive ones
      std::vector<double>(kSize / 50, -0.125)  // many equal ones
  };
  std::uint64_t seed = 1;
  for (const std::vector<double>& negative : cases) {
    const Matrix S = test::with_spectrum(spectrum_with(negative), seed++);
    const std::optional<NegativePart> part = negative_part(S, {});
    ASSERT_TRUE(part) << negative.size();
    ASSERT_EQ(part->lambda.size(), std::ssize(negative));
    Vector sorted = Eigen::Map<const Vector>(negative.data(), std::ssize(negative));
    std::sort(sorted.begin(), sorted.end());
    EXPECT_LE((part->lambda - sorted).cwiseAbs().maxCoeff(), 1e-9 * sorted.cwiseAbs().maxCoeff());
    expect_proved(S, *part);
  }
}

TEST(NegativePart, IsEmptyOfADefiniteMatrixOfAnySize) {
  for (const Index n : {1, 5, 40, 600}) {
    Rng rng(static_cast<std::uint64_t>(n));
    const Matrix X = test::random_matrix(n, std::min<Index>(n, 7), rng);  // singular from 8 on
    const Matrix S = test::symmetrised(X * X.transpose());
    const std::optional<NegativePart> part = negative_part(S, {});
    ASSERT_TRUE(part) << n;
    EXPECT_EQ(part->lambda.size(), 0);
    EXPECT_TRUE(proved_semidefinite(S, {}));
    EXPECT_GE(symmetric_eigenvalues(S)[0], -part->floor);
  }
  EXPECT_TRUE(proved_semidefinite(Matrix::Zero(4, 4), {}));
  EXPECT_TRUE(proved_semidefinite(Matrix(0, 0), {}));
}

TEST(NegativePart, IsNotGivenWhereADecompositionIsBetter) {
  EXPECT_FALSE(negative_part(test::random_symmetric(600, 3), {})) << "half is negative";
  EXPECT_FALSE(negative_part(test::random_symmetric(40, 4), {})) << "small";
  EXPECT_FALSE(proved_semidefinite(test::random_symmetric(600, 3), {}));
  EXPECT_FALSE(proved_semidefinite(-Matrix::Identity(3, 3), {}));
}

TEST(NegativePart, IsNotProvedWithoutOneOfItsPairs) {
  const Matrix S = test::with_spectrum(spectrum_with({-3, -1e-2, -1e-5}), 9);
  std::optional<NegativePart> part = negative_part(S, {});
  ASSERT_TRUE(part);
  EXPECT_TRUE(
      proved_semidefinite(less(S, *part) + part->floor * Matrix::Identity(kSize, kSize), {}));
  part->lambda.conservativeResize(2);
  part->U.conservativeResize(Eigen::NoChange, 2);
  EXPECT_FALSE(proved_semidefinite(less(S, *part), {})) << "-1e-5 was left out";
}

TEST(NegativePart, ScalesWithTheMatrix) {
  const Matrix S = test::with_spectrum(spectrum_with({-3, -1e-2}), 10);
  for (const double scale : {1e-70, 1e70}) {
    const std::optional<NegativePart> part = negative_part(scale * S, {});
    ASSERT_TRUE(part);
    EXPECT_NEAR(part->lambda[0], -3 * scale, 1e-9 * scale);
    EXPECT_NEAR(part->lambda[1], -1e-2 * scale, 1e-9 * scale);
  }
}

TEST(NegativePart, StopsWhenAsked) {
  RunContext ctx;
  StopSource source;
  source.request_stop();
  ctx.stop = StopToken(source);
  EXPECT_THROW((void)negative_part(test::random_symmetric(600, 3), ctx), Error);
}

TEST(IndefiniteFactor, CountsNegativeEigenvalues) {
  for (const Index n : {1, 2, 3, 10, 75, 300}) {
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      const Matrix S = test::random_symmetric(n, seed);
      const IndefiniteFactor factor(S);
      EXPECT_EQ(factor.negative_count(), (symmetric_eigenvalues(S).array() < 0).count());
      const Matrix W = factor.negative_directions();
      ASSERT_EQ(W.cols(), factor.negative_count());
      if (W.cols() == 0) continue;
      EXPECT_LT(symmetric_eigenvalues(test::symmetrised(W.transpose() * S * W)).maxCoeff(), 0);
    }
  }
}

TEST(IndefiniteFactor, SolvesWithAnIndefiniteMatrix) {
  Rng rng(9);
  for (const Index n : {1, 2, 7, 60, 150}) {
    const Matrix S = test::random_symmetric(n, static_cast<std::uint64_t>(n));
    const Matrix X = test::random_matrix(n, 3, rng);
    Matrix solved = S * X;
    IndefiniteFactor(S).solve(solved);
    EXPECT_LE((solved - X).norm(), 1e-9 * X.norm()) << n;
  }
}

TEST(IndefiniteFactor, SolvesWithADefiniteMatrixThatAgreesWithSWhereSIsDefinite) {
  Rng rng(7);
  const Matrix X = test::random_matrix(60, 80, rng);
  const Matrix S = test::symmetrised(X * X.transpose());
  const Matrix B = test::random_matrix(60, 3, rng);
  Matrix solved = B;
  IndefiniteFactor(S).solve_absolute(solved);
  EXPECT_LE((S * solved - B).norm(), 1e-9 * B.norm());
  // Of an indefinite one: symmetric and positive.
  const Matrix T = test::random_symmetric(60, 8);
  Matrix inverse = Matrix::Identity(60, 60);
  IndefiniteFactor(T).solve_absolute(inverse);
  EXPECT_LE((inverse - inverse.transpose()).norm(), 1e-9 * inverse.norm());
  EXPECT_GT(symmetric_eigenvalues(test::symmetrised(inverse))[0], 0);
}

}  // namespace
}  // namespace kith::negative_part_test
