// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/spectrum.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"

namespace kith::spectrum_test {
namespace {

constexpr Index kSize = 24;

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Rng rng(seed);
  Matrix values(rows, cols);
  for (double& value : values.reshaped()) value = rng.normal();
  return values;
}

Matrix random_symmetric(Index n, std::uint64_t seed) {
  const Matrix A = random_matrix(n, n, seed);
  return 0.5 * (A + A.transpose());
}

/// Eigenvalues of both signs and a null space.
Matrix indefinite_of_low_rank(Index n, std::uint64_t seed) {
  const Matrix positive = random_matrix(n, 4, seed);
  const Matrix negative = random_matrix(n, 3, seed + 1);
  return positive * positive.transpose() - 0.5 * negative * negative.transpose();
}

DenseBlock block_of(const Matrix& S) { return DenseBlock(RowMatrix(S)); }

Conditioned conditioned(Spectrum spectrum, const Matrix& S, double beta = 1) {
  return condition_kernel(spectrum, block_of(S), {}, beta);
}

double difference(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }
double scale_of(const Matrix& a) { return std::max(1.0, a.cwiseAbs().maxCoeff()); }

Matrix function_of(const Matrix& S, double (*f)(double)) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(S);
  return solver.eigenvectors() * solver.eigenvalues().unaryExpr(f).asDiagonal() *
         solver.eigenvectors().transpose();
}

TEST(Spectrum, KernelsAreTheirDefinitions) {
  for (const Matrix& S : {random_symmetric(kSize, 1), indefinite_of_low_rank(kSize, 2)}) {
    const double tolerance = 1e-12 * scale_of(S) * scale_of(S);
    EXPECT_EQ(conditioned(Spectrum::kNone, S).kernel, S);
    EXPECT_LE(difference(conditioned(Spectrum::kClip, S).kernel,
                         function_of(S, [](double l) { return std::max(l, 0.0); })),
              tolerance);
    EXPECT_LE(difference(conditioned(Spectrum::kFlip, S).kernel,
                         function_of(S, [](double l) { return std::abs(l); })),
              tolerance);
    EXPECT_LE(difference(conditioned(Spectrum::kSquare, S).kernel, S * S), tolerance);
    const double least = Eigen::SelfAdjointEigenSolver<Matrix>(S).eigenvalues()[0];
    const Matrix shifted = conditioned(Spectrum::kShift, S).kernel;
    EXPECT_LE(difference(shifted, S - least * Matrix::Identity(kSize, kSize)), 1e-7 * scale_of(S));
    EXPECT_GE(Eigen::SelfAdjointEigenSolver<Matrix>(shifted).eigenvalues()[0],
              -1e-13 * scale_of(S));
    const Matrix small = S / (2 * scale_of(S));
    EXPECT_LE(difference(conditioned(Spectrum::kDiffusion, small).kernel,
                         function_of(small, [](double l) { return std::exp(l); })),
              1e-12 * std::exp(small.norm()));
  }
}

/// U diag(lambda) U' with random U.
Matrix with_eigenvalues(const Vector& lambda, std::uint64_t seed) {
  const Eigen::HouseholderQR<Matrix> qr(random_matrix(lambda.size(), lambda.size(), seed));
  const Matrix U = qr.householderQ();
  const Matrix S = U * lambda.asDiagonal() * U.transpose();
  return 0.5 * (S + S.transpose());
}

TEST(Spectrum, TheMapOfAShiftDoesNotDependOnNoiseInTheDigits) {
  // Rank 8 of 60 with one negative eigenvalue, then written with six digits.
  Vector lambda = Vector::Zero(60);
  lambda.head(8) << 100, 40, 20, 10, 6, 4, 2, -3;
  const Matrix S = with_eigenvalues(lambda, 5);
  const Matrix written = (S.array() * 1e5).round() / 1e5;
  const Matrix rows = random_matrix(7, 60, 6) * S;
  const auto map = [&](const Matrix& matrix) {
    const auto eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(matrix));
    return transform_rows(shift_map(eigen, 3), RowMatrix(rows));
  };
  EXPECT_LE(difference(map(written), map(S)), 1e-4 * scale_of(rows));
  EXPECT_LE(share_near_cut(S, {}), 1e-3);
  EXPECT_LE(share_near_cut(written, {}), 0.05);
}

TEST(Spectrum, SaysHowMuchDependsOnTheCutOfTheMapOfAShift) {
  // Eigenvalues down to far below the cut, without a gap.
  Vector lambda(60);
  for (Index i = 0; i < 60; ++i) lambda(i) = std::pow(10.0, -0.15 * static_cast<double>(i));
  lambda(1) = -0.5;
  EXPECT_GT(share_near_cut(with_eigenvalues(lambda, 7), {}), 0.5);
  lambda(1) = 0.5;  // needs no shift
  EXPECT_EQ(share_near_cut(with_eigenvalues(lambda, 7), {}), 0);
}

TEST(Spectrum, ATrainingRowPresentedAsNewIsItsRowOfTheKernel) {
  for (const Matrix& S : {random_symmetric(kSize, 1), indefinite_of_low_rank(kSize, 2)}) {
    for (const Spectrum spectrum :
         {Spectrum::kNone, Spectrum::kClip, Spectrum::kFlip, Spectrum::kSquare}) {
      const Conditioned result = conditioned(spectrum, S);
      EXPECT_LE(difference(transform_rows(result.transform, S), result.kernel),
                1e-10 * scale_of(result.kernel));
      EXPECT_LE(consistency(result, block_of(S)), 1e-10);
      EXPECT_EQ(result.kernel, Matrix(result.kernel.transpose()));
    }
    // A shift adds to the diagonal, which no new row contains.
    const Conditioned shifted = conditioned(Spectrum::kShift, S);
    Matrix rest = shifted.kernel - Matrix(transform_rows(shifted.transform, S));
    rest.diagonal().setZero();
    EXPECT_EQ(rest, Matrix::Zero(kSize, kSize));
  }
}

TEST(Spectrum, DiffusionIsConsistentWhereNothingIsCut) {
  // Magnitudes from 1 to 3.3 with alternating signs.
  const Eigen::HouseholderQR<Matrix> qr(random_matrix(kSize, kSize, 5));
  const Matrix Q = qr.householderQ();
  Vector lambda(kSize);
  for (Index i = 0; i < kSize; ++i)
    lambda[i] = (i % 2 == 0 ? 1.0 : -1.0) * (1 + 0.1 * static_cast<double>(i));
  const Matrix S = Q * lambda.asDiagonal() * Q.transpose();
  EXPECT_LE(consistency(conditioned(Spectrum::kDiffusion, S, 0.7), block_of(S)), 1e-10);
}

TEST(Spectrum, DiffusionCutsWhatItCannotInvert) {
  Vector lambda(4);
  lambda << -1e-4, 0, 0.5, 1;
  const Vector multipliers = test_multipliers(Spectrum::kDiffusion, lambda, 2);
  EXPECT_EQ(multipliers[0], 0);
  EXPECT_EQ(multipliers[1], 0);
  EXPECT_DOUBLE_EQ(multipliers[2], std::exp(1.0) / 0.5);
  EXPECT_DOUBLE_EQ(multipliers[3], std::exp(2.0));
}

TEST(Spectrum, DiffusionRefusesToOverflow) {
  EXPECT_THROW((void)conditioned(Spectrum::kDiffusion, 1000 * Matrix::Identity(3, 3)), Error);
}

TEST(Spectrum, LeavesAPsdMatrixUnchanged) {
  const Matrix A = random_matrix(kSize, kSize, 3);
  const Matrix S = A * A.transpose();
  const Matrix symmetric = 0.5 * (S + S.transpose());
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip, Spectrum::kShift}) {
    const Conditioned result = conditioned(spectrum, symmetric);
    EXPECT_LE(difference(result.kernel, symmetric), 1e-12 * scale_of(S));
    const RowMatrix rows = random_matrix(5, kSize, 4);
    EXPECT_LE(difference(transform_rows(result.transform, rows), rows), 1e-12);
  }
}

/// With three eigenvalues of the sign of `few`, and 517 of the other.
Matrix with_few(double few) {
  constexpr Index kMany = 520;
  Vector lambda(kMany);
  for (Index i = 0; i < kMany; ++i) {
    const auto size = static_cast<double>(i);
    lambda[i] = i < 3 ? few * (1.0 + size) : -few * 0.1 * size;
  }
  const Eigen::HouseholderQR<Matrix> qr(random_matrix(kMany, kMany, 6));
  const Matrix Q = qr.householderQ();
  const Matrix S = Q * lambda.asDiagonal() * Q.transpose();
  return 0.5 * (S + Matrix(S.transpose()));
}

TEST(Spectrum, OfFewEigenvaluesOfOneSignIsThatOfTheDecomposition) {
  for (const double few : {-1.0, 1.0}) {
    const Matrix S = with_few(few);
    const auto eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(S));
    const RowMatrix rows = random_matrix(5, S.rows(), 7);
    const Matrix coefficients = random_matrix(S.rows(), 2, 8);
    for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip}) {
      const Conditioned made = conditioned(spectrum, S);
      ASSERT_TRUE(std::holds_alternative<Correction>(made.transform)) << few;
      EXPECT_EQ(made.origin.way, few < 0 ? KernelWay::kNegativePairs : KernelWay::kPositivePairs);
      EXPECT_EQ(made.origin.pairs, 3);
      const Conditioned all = spectral_kernel(spectrum, S, eigen);
      EXPECT_EQ(all.origin.way, KernelWay::kDecomposition);
      const double distance = (made.kernel - all.kernel).norm();
      EXPECT_LE(distance, made.origin.error * made.kernel.norm()) << few;
      EXPECT_LE(distance, 1e-10 * made.kernel.norm()) << few;
      EXPECT_EQ(made.kernel, Matrix(made.kernel.transpose()));
      EXPECT_LE(
          difference(transform_rows(made.transform, rows), transform_rows(all.transform, rows)),
          1e-8 * scale_of(rows));
      EXPECT_LE(difference(fold(made.transform, coefficients), fold(all.transform, coefficients)),
                1e-8 * scale_of(coefficients));
      EXPECT_LE(consistency(made, block_of(S)), few < 0 ? 1e-9 : 1e-8);  // of small rows
      EXPECT_THAT(in_words(made.origin, spectrum, 520),
                  testing::HasSubstr(few < 0 ? "3 of 520 eigenpairs, the negative ones"
                                             : "3 of 520 eigenpairs, the positive ones"));
    }
  }
}

TEST(Spectrum, ZeroEigenvaluesTakeNoPartInNewRows) {
  const Matrix S = indefinite_of_low_rank(kSize, 2);
  const auto eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(S));
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip}) {
    const Conditioned result = spectral_kernel(spectrum, S, eigen);
    const Vector& multipliers = std::get<SpectralMap>(result.transform).multipliers;
    EXPECT_EQ((multipliers.array() != 0).count(), spectrum == Spectrum::kClip ? 4 : 7);
  }
}

TEST(Spectrum, NewRowsOfASemidefiniteMatrixAreUsedAsTheyAre) {
  for (const Spectrum spectrum : {Spectrum::kClip, Spectrum::kFlip}) {
    const Conditioned zero = conditioned(spectrum, Matrix::Zero(3, 3));
    EXPECT_EQ(zero.kernel, Matrix::Zero(3, 3));
    EXPECT_TRUE(std::holds_alternative<Unchanged>(zero.transform));
    EXPECT_EQ(zero.origin.way, KernelWay::kSemidefinite);
  }
}

TEST(Spectrum, SquareTakesAnAsymmetricMatrixAsItIs) {
  const Matrix S = random_matrix(kSize, kSize, 6);
  const Conditioned result = conditioned(Spectrum::kSquare, S);
  EXPECT_LE(difference(result.kernel, S * S.transpose()), 1e-12 * scale_of(result.kernel));
  EXPECT_LE(difference(transform_rows(result.transform, S), result.kernel),
            1e-12 * scale_of(result.kernel));
}

TEST(Spectrum, FoldedCoefficientsGiveTheSameValuesOnRawRows) {
  const Matrix S = random_matrix(kSize, kSize, 6);
  const RowMatrix rows = random_matrix(7, kSize, 7);
  const Matrix c = random_matrix(kSize, 3, 8);
  for (std::size_t s = 0; s < kEnumNames<Spectrum>.size(); ++s) {
    const Conditioned result = conditioned(static_cast<Spectrum>(s), S, 0.1);
    const Matrix expected = transform_rows(result.transform, rows) * c;
    EXPECT_LE(difference(rows * fold(result.transform, c), expected), 1e-11 * scale_of(expected))
        << kEnumNames<Spectrum>[s];
  }
}

TEST(Spectrum, WorksForOneSample) {
  for (std::size_t s = 0; s < kEnumNames<Spectrum>.size(); ++s) {
    for (const double value : {-2.0, 0.0, 2.0}) {
      const Conditioned result =
          conditioned(static_cast<Spectrum>(s), Matrix::Constant(1, 1, value));
      EXPECT_TRUE(result.kernel.allFinite());
      if (s != 0) {
        EXPECT_GE(result.kernel(0, 0), 0);
      }
    }
  }
}

}  // namespace
}  // namespace kith::spectrum_test
