// SPDX-License-Identifier: Apache-2.0
#include "kith/condition/symmetric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kith/core/rng.hpp"

namespace kith::symmetric_test {
namespace {

RowMatrix random_square(Index n, std::uint64_t seed) {
  Rng rng(seed);
  RowMatrix values(n, n);
  for (double& value : values.reshaped()) value = rng.normal();
  return values;
}

TEST(SymmetricMatrix, IsTheMeanOfBothDirectionsExactly) {
  for (const Index n : {0, 1, 2, 33, 100}) {
    const RowMatrix S = random_square(n, 7);
    const DenseBlock block(S);
    const Matrix T = S.transpose();
    EXPECT_EQ(symmetric_mean(block), Matrix(0.5 * S + 0.5 * T));
    EXPECT_EQ(symmetric_mean(block, 2), symmetric_mean(block));
  }
}

TEST(Asymmetry, OfASymmetricBlockIsZero) {
  const RowMatrix S = random_square(70, 7);
  const Asymmetry measured = asymmetry(DenseBlock(RowMatrix(S + S.transpose())));
  EXPECT_TRUE(measured.is_symmetric());
  EXPECT_EQ(measured.relative, 0);
  EXPECT_TRUE(asymmetry(DenseBlock(RowMatrix::Zero(3, 3))).is_symmetric());
  EXPECT_TRUE(asymmetry(DenseBlock(RowMatrix::Ones(1, 1))).is_symmetric());
}

TEST(Asymmetry, IsItsDefinitionForAnyNumberOfThreads) {
  const RowMatrix S = random_square(70, 7);
  const RowMatrix difference = S - S.transpose();
  const Asymmetry measured = asymmetry(DenseBlock(S));
  EXPECT_EQ(measured.largest_difference, difference.cwiseAbs().maxCoeff());
  EXPECT_LT(measured.i, measured.j);
  EXPECT_EQ(std::abs(difference(measured.i, measured.j)), measured.largest_difference);
  EXPECT_NEAR(measured.relative, difference.norm() / S.norm(), 1e-14);
  const Asymmetry again = asymmetry(DenseBlock(S), 2);
  EXPECT_EQ(again.relative, measured.relative);
  EXPECT_EQ(again.i, measured.i);
  EXPECT_EQ(again.j, measured.j);
}

TEST(Asymmetry, NamesTheFirstOfEqualPairs) {
  RowMatrix S = RowMatrix::Zero(80, 80);
  S(70, 3) = 1;
  S(1, 79) = -1;
  S(50, 2) = 1;
  const Asymmetry measured = asymmetry(DenseBlock(S));
  EXPECT_EQ(measured.i, 1);
  EXPECT_EQ(measured.j, 79);
}

TEST(Asymmetry, SurvivesLargeValuesAndMissingPairs) {
  RowMatrix S(2, 2);
  S << 1e75, 3e75, 1e75, 1e75;
  EXPECT_NEAR(asymmetry(DenseBlock(S)).relative, std::sqrt(8.0 / 12.0), 1e-14);
  S(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(asymmetry(DenseBlock(S)).is_symmetric());
}

TEST(Asymmetry, OfASparseBlockCountsAbsentZerosAndSkipsMissingPairs) {
  SparseBlock block{.cols = 3,
                    .starts = {0, 2, 3, 4},
                    .columns = {1, 2, 0, 2},
                    .values = {4, 5, 1, 7},
                    .absent = Absent::kZero};
  const Asymmetry zeros = asymmetry(block);
  const Asymmetry dense = asymmetry(to_dense(block));
  EXPECT_EQ(zeros.largest_difference, 5);
  EXPECT_EQ(zeros.i, 0);
  EXPECT_EQ(zeros.j, 2);
  EXPECT_NEAR(zeros.relative, dense.relative, 1e-15);
  block.absent = Absent::kMissing;
  EXPECT_EQ(asymmetry(block).largest_difference, 3);
  EXPECT_NEAR(asymmetry(block).relative, asymmetry(to_dense(block)).relative, 1e-15);
}

TEST(ExactlySymmetric, SeesEveryPair) {
  for (const Index n : {1, 2, 63, 64, 65, 130}) {
    RowMatrix S(n, n);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j) S(i, j) = S(j, i) = static_cast<double>(i * 7 + j);
    }
    EXPECT_TRUE(exactly_symmetric(DenseBlock(S)));
    if (n < 2) continue;
    S(n - 1, 0) += 1e-9 * S(n - 1, 0) + 1e-9;
    EXPECT_FALSE(exactly_symmetric(DenseBlock(S)));
  }
}

TEST(ExactlySymmetric, TakesPairsThatAreMissingInBothDirectionsForEqual) {
  RowMatrix S = RowMatrix::Ones(3, 3);
  S(0, 1) = S(1, 0) = S(2, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(exactly_symmetric(DenseBlock(S)));
  S(0, 1) = 1;
  EXPECT_FALSE(exactly_symmetric(DenseBlock(S)));
}

TEST(ExactlySymmetric, ComparesTheListedPairsOfASparseBlock) {
  SparseBlock block{.cols = 3, .starts = {0, 1, 2, 2}, .columns = {1, 0}, .values = {5, 5}};
  EXPECT_TRUE(exactly_symmetric(block));
  block.values[1] = 6;
  EXPECT_FALSE(exactly_symmetric(block));
  block = {.cols = 3, .starts = {0, 1, 1, 1}, .columns = {1}, .values = {5}};
  EXPECT_FALSE(exactly_symmetric(block));
}

TEST(Look, TellsInOnePassWhatItsPartsTell) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  for (const Index n : {0, 1, 31, 32, 70}) {
    RowMatrix S = random_square(n, 3);
    S = (S + RowMatrix(S.transpose())).eval();
    const auto agrees = [&](const char* what) {
      const DenseBlock block(S);
      const BlockFacts facts = look(block);
      const Asymmetry measured = asymmetry(block);
      EXPECT_EQ(facts.asymmetry.relative, measured.relative) << what << " " << n;
      EXPECT_EQ(facts.asymmetry.largest_difference, measured.largest_difference) << what;
      EXPECT_EQ(facts.exactly_symmetric, exactly_symmetric(block)) << what << " " << n;
      EXPECT_EQ(facts.missing, missing_pairs(block)) << what << " " << n;
      EXPECT_EQ(facts.largest, largest_magnitude(block)) << what << " " << n;
      EXPECT_EQ(facts.hash, block_hash(block, 2)) << what << " " << n;
      EXPECT_EQ(facts.hash, look(block, 2).hash) << what << " " << n;
    };
    agrees("symmetric");
    if (n < 2) continue;
    const std::uint64_t before = look(DenseBlock(S)).hash;
    S(n - 1, 0) += 1e-9;
    EXPECT_NE(look(DenseBlock(S)).hash, before);
    agrees("off by a little");
    S(0, n - 1) = kMissing;
    agrees("missing in one direction");
    S(n - 1, 0) = kMissing;
    agrees("missing in both");
    S(0, 0) = -std::numeric_limits<double>::infinity();
    agrees("infinite");
  }
}

TEST(Look, SeesEveryEntryThatDiffers) {
  for (const Index n : {2, 5, 33, 38, 67}) {
    RowMatrix S = random_square(n, 5);
    S = (S + RowMatrix(S.transpose())).eval();
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        if (i == j) continue;
        const double before = S(i, j);
        S(i, j) += 1;
        EXPECT_FALSE(look(DenseBlock(S)).exactly_symmetric) << n << " " << i << " " << j;
        EXPECT_FALSE(exactly_symmetric(DenseBlock(S))) << n << " " << i << " " << j;
        S(i, j) = before;
      }
    }
    EXPECT_TRUE(look(DenseBlock(S)).exactly_symmetric);
  }
}

TEST(Look, TheLargestIsThatOfEveryPlace) {
  for (const Index n : {1, 7, 40}) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j <= i; ++j) {
        RowMatrix S = RowMatrix::Constant(n, n, -0.0);
        S(i, j) = S(j, i) = -3;
        EXPECT_EQ(look(DenseBlock(S)).largest, 3) << n << " " << i << " " << j;
        S(i, j) = S(j, i) = std::numeric_limits<double>::quiet_NaN();
        EXPECT_EQ(look(DenseBlock(S)).missing, i == j ? 1 : 2) << n << " " << i << " " << j;
      }
    }
  }
}

TEST(Look, HashTellsShapesApart) {
  EXPECT_NE(block_hash(DenseBlock(RowMatrix::Zero(2, 8))),
            block_hash(DenseBlock(RowMatrix::Zero(4, 4))));
}

}  // namespace
}  // namespace kith::symmetric_test
