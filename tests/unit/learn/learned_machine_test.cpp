// SPDX-License-Identifier: Apache-2.0
// The treatments of new samples that learned kernels share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "kith/learn/kernel_learning/learned_kernel.hpp"
#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/numerics/psd.hpp"
#include "support/files.hpp"
#include "support/training_sets.hpp"

namespace kith::learned_machine_test {
namespace {

Vector random_vector(Index n, Rng& rng) {
  return Vector::NullaryExpr(n, [&](Index) { return rng.normal(); });
}

/// d, s_hat and psi of a random learned kernel and a new sample.
struct Border {
  Vector d;
  Vector s;
  double psi = 0;
  [[nodiscard]] Vector k() const { return nearest_border(d, s, psi); }
  [[nodiscard]] double needed(const Vector& k) const {
    return k.cwiseAbs2().cwiseQuotient(d).sum();
  }
  /// 2 |k - s|^2 + (r - psi)^2 with the best r that k allows.
  [[nodiscard]] double objective(const Vector& k) const {
    const double r = std::max(psi, needed(k));
    return 2 * (k - s).squaredNorm() + (r - psi) * (r - psi);
  }
};

TEST(NearestBorder, NoFeasibleNeighbourIsNearer) {
  Rng rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    Border border;
    border.d = random_vector(6, rng).cwiseAbs().array() + 1e-3;
    border.s = random_vector(6, rng);
    border.psi = 3 * rng.normal();
    const Vector k = border.k();
    for (int other = 0; other < 20; ++other) {
      const Vector moved = k + 1e-3 * random_vector(6, rng);
      EXPECT_GE(border.objective(moved), border.objective(k) * (1 - 1e-12));
    }
  }
}

TEST(NearestBorder, LeavesASampleThatFits) {
  const Border border{.d = Vector{{1, 2}}, .s = Vector{{0.5, 0.5}}, .psi = 1};
  EXPECT_EQ(border.k(), border.s);
}

TEST(NearestBorder, BearsTinyEigenvalues) {
  const Border border{.d = Vector{{1e-13, 1e-8, 1}}, .s = Vector{{1, 1, 1}}, .psi = 0.5};
  const Vector k = border.k();
  ASSERT_TRUE(k.allFinite());
  const double t = 1 * border.d(2) / k(2) - border.d(2);
  EXPECT_NEAR(border.needed(k), border.psi + t, 1e-9);
}

TEST(LearnedMachine, TreatsRowsAsEachTreatmentSays) {
  Rng rng(3);
  const Matrix A = Matrix::NullaryExpr(8, 8, [&](Index, Index) { return rng.normal(); });
  const Matrix S = 0.5 * (A + A.transpose());
  const SymmetricEigen eigen = symmetric_eigen(S);
  const Index positive = (eigen.lambda.array() > 0).count();
  const SymmetricEigen kernel{eigen.lambda.tail(positive), eigen.U.rightCols(positive)};
  const Matrix K = positive_part(S);
  const Vector c = random_vector(8, rng);
  const Vector s = random_vector(8, rng);
  const Matrix P = kernel.U * kernel.U.transpose();
  const Vector self = Vector::Constant(1, 1e9);  // so large that nothing has to give way
  const auto decision = [&](Treatment treatment) {
    return decisions(learned_machine(treatment, kernel, eigen, c, 0.25), s.transpose(), self)(0);
  };
  EXPECT_NEAR(decision(Treatment::kNone), c.dot(s) + 0.25, 1e-12);
  EXPECT_NEAR(decision(Treatment::kProject), c.dot(P * s) + 0.25, 1e-12);
  EXPECT_NEAR(decision(Treatment::kMap), c.dot(K * S.inverse() * s) + 0.25, 1e-9);
  EXPECT_NEAR(decision(Treatment::kSample), c.dot(P * s) + 0.25, 1e-9);
  Matrix bordered = Matrix::Zero(9, 9);
  bordered.topLeftCorner(8, 8) = S;
  bordered.col(8).head(8) = bordered.row(8).head(8) = s;
  bordered(8, 8) = 0.5;
  const LearnedMachine augmented = learned_machine(Treatment::kAugmented, eigen, eigen, c, 0.25);
  const Vector border = positive_part(bordered).col(8).head(8);
  EXPECT_NEAR(decisions(augmented, s.transpose(), Vector::Constant(1, 0.5))(0),
              c.dot(border) + 0.25, 1e-9);
}

TEST(LearnedMachine, ConsistencyIsThatOfTreatedRows) {
  Rng rng(4);
  const Matrix A = Matrix::NullaryExpr(9, 9, [&](Index, Index) { return rng.normal(); });
  const Matrix S = 0.5 * (A + A.transpose());
  const SymmetricEigen eigen = symmetric_eigen(S);
  const Index positive = (eigen.lambda.array() > 0).count();
  const SymmetricEigen kernel{eigen.lambda.tail(positive), eigen.U.rightCols(positive)};
  const Matrix K = positive_part(S);
  for (const auto treatment : {Treatment::kSample, Treatment::kProject, Treatment::kMap,
                               Treatment::kNone, Treatment::kAugmented}) {
    const bool whole = treatment == Treatment::kAugmented;
    Matrix rows(9, 9);  // decisions with c = e_j are the entries of the treated rows
    for (Index j = 0; j < 9; ++j) {
      const LearnedMachine machine =
          learned_machine(treatment, whole ? eigen : kernel, eigen, Vector::Unit(9, j), 0);
      rows.col(j) = decisions(machine, S, S.diagonal());
    }
    const double expected =
        ((rows - K).rowwise().norm().array() / K.rowwise().norm().array()).maxCoeff();
    EXPECT_NEAR(consistency(treatment, whole ? eigen : kernel, eigen, S), expected,
                1e-9 * (1 + expected));
  }
}

}  // namespace
}  // namespace kith::learned_machine_test
