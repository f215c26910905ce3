// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/psd.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/error.hpp"
#include "matrices.hpp"

namespace kith::psd_test {
namespace {

using test::random_matrix;
using test::rounding;
using test::troubled_matrices;

double largest(const Matrix& A) { return A.size() == 0 ? 0 : A.cwiseAbs().maxCoeff(); }

TEST(Reconstruct, ReturnsTheMatrixItsDecompositionCameFrom) {
  for (const Index n : {2, 9, 300}) {
    for (const auto& [name, S] : troubled_matrices(n, 3)) {
      SCOPED_TRACE(name + " n=" + std::to_string(n));
      const SymmetricEigen e = symmetric_eigen(S);
      const Matrix K = reconstruct(e.U, e.lambda);
      EXPECT_LE(largest(K - S), 4 * rounding(S));
      EXPECT_EQ(K, K.transpose());
    }
  }
}

TEST(ModifySpectrum, EqualsTheProductItStandsFor) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (const auto& [name, S] : troubled_matrices(70, seed)) {
      SCOPED_TRACE(name);
      const SymmetricEigen e = symmetric_eigen(S);
      Rng rng(seed);
      const Vector any = random_matrix(70, 1, rng).col(0);
      for (const Vector& g : {clip_multipliers(e.lambda), flip_multipliers(e.lambda), any,
                              Vector(Vector::Ones(70)), Vector(Vector::Zero(70))}) {
        Matrix K = S;
        modify_spectrum(K, e, g);
        const Matrix expected = e.U * g.cwiseProduct(e.lambda).asDiagonal() * e.U.transpose();
        EXPECT_LE(largest(K - expected), 20 * rounding(S));
        EXPECT_EQ(K, K.transpose());
      }
    }
  }
}

TEST(ModifySpectrum, TakesTheCheapSideOnBothSidesOfTheBalance) {
  // Three negatives of forty, then three positives of forty: corrected once, built anew once.
  for (const Index negatives : {3, 37}) {
    Vector lambda = Vector::LinSpaced(40, 1, 2);
    lambda.head(negatives) *= -1;
    const Matrix S = test::with_spectrum(lambda, 8);
    const SymmetricEigen e = symmetric_eigen(S);
    Matrix K = S;
    modify_spectrum(K, e, clip_multipliers(e.lambda));
    const Vector clipped = symmetric_eigenvalues(K);
    EXPECT_EQ((clipped.array() > 0.5).count(), 40 - negatives);
    EXPECT_LE(clipped.head(negatives).cwiseAbs().maxCoeff(), 4 * rounding(S));
  }
}

TEST(PositivePart, IsTheNearestPositiveSemidefiniteMatrix) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const auto& [name, S] : troubled_matrices(50, seed)) {
      SCOPED_TRACE(name);
      const Matrix K = positive_part(S);
      EXPECT_GE(symmetric_eigenvalues(K)[0], -4 * rounding(S));
      // Moreau: S = K - N with both semidefinite and <K, N> = 0 characterises the projection.
      const Matrix N = K - S;
      EXPECT_GE(symmetric_eigenvalues(N)[0], -4 * rounding(S));
      EXPECT_LE(largest(K * N), 50 * rounding(S) * test::row_sum_norm(S));
    }
  }
}

TEST(PositivePart, LeavesAPositiveDefiniteMatrixUntouched) {
  Rng rng(5);
  const Matrix X = random_matrix(30, 60, rng);
  const Matrix S = test::symmetrised(X * X.transpose());
  EXPECT_EQ(positive_part(S), S);
}

/// rows * U diag(g) U'
Matrix apply_spectral(const MatrixRef& U, const VectorRef& g, const MatrixRef& rows) {
  Matrix columns = rows.transpose();
  apply_spectral_to_columns(U, g, columns);
  return columns.transpose();
}

TEST(ApplySpectral, EqualsTheProductItStandsForOnRowsAndColumns) {
  const Index n = 60;
  const SymmetricEigen e = symmetric_eigen(test::random_symmetric(n, 2));
  Rng rng(9);
  const Matrix rows = random_matrix(333, n, rng);
  Vector mostly_one = Vector::Ones(n);
  mostly_one.head(4) << 0, -1, 3, 0.5;
  for (const Vector& g : {clip_multipliers(e.lambda), flip_multipliers(e.lambda), mostly_one,
                          Vector(Vector::Zero(n)), Vector(Vector::Ones(n))}) {
    const Matrix P = e.U * g.asDiagonal() * e.U.transpose();
    const Matrix expected = rows * P;
    EXPECT_LE(largest(apply_spectral(e.U, g, rows) - expected), 1e-12);
    RowMatrix block = rows;
    apply_spectral_to_columns(e.U, g, block.transpose());
    EXPECT_LE(largest(Matrix(block) - expected), 1e-12);
  }
}

TEST(ApplySpectral, TurnsTrainingRowsIntoRowsOfTheKernel) {
  for (const auto& [name, S] : troubled_matrices(40, 6)) {
    SCOPED_TRACE(name);
    const SymmetricEigen e = symmetric_eigen(S);
    for (const Vector& g : {clip_multipliers(e.lambda), flip_multipliers(e.lambda)}) {
      Matrix K = S;
      modify_spectrum(K, e, g);
      EXPECT_LE(largest(apply_spectral(e.U, g, S) - K), 50 * rounding(S));
    }
  }
}

TEST(ApplySpectral, ComposesWithItself) {
  const SymmetricEigen e = symmetric_eigen(test::tanh_matrix(80, 1, 3));
  Rng rng(4);
  const Matrix rows = random_matrix(5, 80, rng);
  const Vector clip = clip_multipliers(e.lambda);
  const Matrix once = apply_spectral(e.U, clip, rows);
  EXPECT_LE(largest(apply_spectral(e.U, clip, once) - once), 1e-12);
  const Vector flip = flip_multipliers(e.lambda);
  EXPECT_LE(largest(apply_spectral(e.U, flip, apply_spectral(e.U, flip, rows)) - rows), 1e-12);
}

TEST(Multipliers, DropEigenvaluesThatAreZeroUpToRounding) {
  Vector lambda(5);
  lambda << -2, -1e-16, 0, 1e-16, 1;
  Vector clip(5);
  clip << 0, 0, 0, 0, 1;
  Vector flip(5);
  flip << -1, 0, 0, 0, 1;
  EXPECT_EQ(clip_multipliers(lambda), clip);
  EXPECT_EQ(flip_multipliers(lambda), flip);
}

TEST(PsdOperations, AcceptEmptyMatricesAndRefuseMismatchedMultipliers) {
  EXPECT_EQ(positive_part(Matrix(0, 0)).size(), 0);
  EXPECT_EQ(apply_spectral(Matrix(0, 0), Vector(0), Matrix(3, 0)).rows(), 3);
  EXPECT_THROW(static_cast<void>(reconstruct(Matrix::Identity(3, 3), Vector::Ones(2))), Error);
}

}  // namespace
}  // namespace kith::psd_test
