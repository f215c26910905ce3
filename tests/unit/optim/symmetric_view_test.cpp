// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/dual/symmetric_view.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "dual_problems.hpp"
#include "optim/dual/float_columns.hpp"
#include "optim/dual/vector_kernels.hpp"

namespace kith::symmetric_view_test {
namespace {

using testing_support::normal_matrix;
using testing_support::random_symmetric;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<dual::SymmetricView> views(const Matrix& K, const dual::FloatMatrix& narrow,
                                       double shift) {
  std::vector<Index> all;
  for (Index i = 0; i < K.rows(); ++i) all.push_back(i);
  return {dual::SymmetricView::dense(K, shift), dual::SymmetricView::dense(narrow, shift),
          dual::SymmetricView::block(K, all, shift),
          dual::SymmetricView::columns(
              K.diagonal(),
              [&K](Index j, std::span<double> out) {
                for (Index i = 0; i < K.rows(); ++i) out[std::size_t(i)] = K(i, j);
              },
              shift)};
}

TEST(SymmetricView, ReadsEveryStorageAlike) {
  for (const Index n : {1, 3, 8, 21, 64, 131}) {
    Rng rng(static_cast<std::uint64_t>(n));
    const dual::FloatMatrix narrow = random_symmetric(rng, n).cast<float>();
    const Matrix K = narrow.cast<double>();
    Vector u = normal_matrix(rng, n, 1);
    if (n > 3) u.segment(1, 2).setZero();
    for (const double shift : {0.0, 1.5}) {
      Matrix full = K;
      full.diagonal().array() += shift;
      for (const double factor : {1.0, 4.0}) {
        const Vector expected = factor * full * u;
        for (const dual::SymmetricView& plain : views(K, narrow, shift)) {
          const dual::SymmetricView view = factor == 1.0 ? plain : plain.scaled(factor);
          EXPECT_LE((view.times(u) - expected).norm(), 1e-12 * (1 + expected.norm()));
          EXPECT_TRUE(view.diagonal().isApprox(factor * full.diagonal()));
          EXPECT_DOUBLE_EQ(view.largest_entry(), factor * full.cwiseAbs().maxCoeff());
        }
      }
    }
  }
}

TEST(SymmetricView, GathersTheRowsAskedFor) {
  Rng rng(1);
  const Matrix K = random_symmetric(rng, 9);
  const dual::SymmetricView view = dual::SymmetricView::dense(K, 2.0);
  const std::vector<Index> rows = {1, 4, 8};
  std::vector<double> out(3);
  view.gather(4, rows, out.data());
  EXPECT_EQ(out[0], K(1, 4));
  EXPECT_EQ(out[1], K(4, 4) + 2.0);
  EXPECT_EQ(out[2], K(8, 4));
  EXPECT_EQ(view.direct(0), nullptr);
  EXPECT_EQ(dual::SymmetricView::dense(K).direct(2), &K(0, 2));
}

TEST(SymmetricView, ReadsABlockOfALargerMatrixInPlace) {
  Rng rng(2);
  const Matrix K = random_symmetric(rng, 12);
  const Vector u = normal_matrix(rng, 5, 1);
  const dual::SymmetricView view = dual::SymmetricView::dense(K.block(3, 3, 5, 5));
  EXPECT_TRUE(view.times(u).isApprox(K.block(3, 3, 5, 5) * u));
}

TEST(SymmetricView, CopiesAColumnAsFloat) {
  Rng rng(3);
  const Matrix K = random_symmetric(rng, 9);
  const dual::SymmetricView view = dual::SymmetricView::dense(K, 2.0).scaled(0.5);
  Eigen::VectorXf out(9);
  view.copy_column(4, out.data());
  Vector expected = K.col(4);
  expected[4] += 2.0;
  EXPECT_EQ(out, (0.5 * expected).cast<float>());
}

TEST(FloatColumns, GatherAndAddWhatTheMatrixHolds) {
  Rng rng(4);
  const Index n = 70;
  const Matrix K = random_symmetric(rng, n);
  const dual::SymmetricView view = dual::SymmetricView::dense(K, 1.5);
  const Matrix shifted = K + 1.5 * Matrix::Identity(n, n);
  for (const Index room : {n, Index{3}, Index{0}}) {  // beyond the room the matrix itself is read
    dual::FloatColumns floats(view, room);
    const std::vector<Index> rows{2, 3, 41, 69};
    std::vector<float> out(rows.size());
    for (int time = 0; time < 3; ++time) {
      floats.gather(41, rows, out.data());
      for (std::size_t k = 0; k < rows.size(); ++k) {
        EXPECT_EQ(out[k], static_cast<float>(shifted(rows[k], 41)));
      }
      for (const Index j : {8, 9, 10}) floats.gather(j, rows, out.data());
    }
    const std::vector<Index> columns{0, 7, 8, 41, 66};
    const std::vector<double> weights{1.0, -2.0, 0.25, 3.0, 1.0};
    Vector g = Vector::Ones(n);
    floats.add(columns, weights, g);
    Vector expected = Vector::Ones(n);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      expected += weights[k] * shifted.col(columns[k]);
    }
    EXPECT_LE((g - expected).cwiseAbs().maxCoeff(), 1e-5);
    floats.add({}, {}, g);
    EXPECT_LE((g - expected).cwiseAbs().maxCoeff(), 1e-5);
  }
}

// The vector loops against the definition, for lengths around every vector width.
template <class Scalar>
void expect_definition(const dual::PairKernels<Scalar>& kernels) {
  using Values = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  constexpr Scalar kInfinite = std::numeric_limits<Scalar>::infinity();
  for (Index m = 1; m < 150; ++m) {
    Rng rng(static_cast<std::uint64_t>(m));
    const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> random =
        normal_matrix(rng, m, 4).cast<Scalar>();
    Values up = Values::Zero(m), low = Values::Zero(m);
    for (Index k = 0; k < m; ++k) {
      if (rng.uniform() < 0.3) up[k] = kInfinite;
      if (rng.uniform() < 0.3) low[k] = -kInfinite;
    }
    Values g = random.col(2);
    const Scalar t{0.75};
    const Values expected = g + t * (random.col(0) - random.col(1));
    const dual::GradientEnds ends = kernels.step_and_scan(
        m, t, random.col(0).data(), random.col(1).data(), g.data(), up.data(), low.data());
    EXPECT_LE((g - expected).cwiseAbs().maxCoeff(), 16 * std::numeric_limits<Scalar>::epsilon());
    Index lowest = -1;
    Scalar highest = -kInfinite;
    for (Index k = 0; k < m; ++k) {
      if (up[k] == 0 && (lowest < 0 || g[k] < g[lowest])) lowest = k;
      if (low[k] == 0) highest = std::max(highest, g[k]);
    }
    EXPECT_EQ(ends.lowest_index, lowest);
    EXPECT_EQ(ends.lowest, static_cast<double>(lowest >= 0 ? g[lowest] : kInfinite));
    EXPECT_EQ(ends.highest, static_cast<double>(highest));

    const Values diagonal = random.col(3).cwiseAbs();
    const Scalar gi{-0.5}, kii{1.0}, floor{0.05F};
    const Values ci = random.col(0) / Scalar{4};
    Index best = -1;
    Scalar best_gain = 0;
    for (Index k = 0; k < m; ++k) {
      const Scalar d = g[k] - gi;
      if (low[k] != 0 || d <= 0) continue;
      const Scalar gain = d * d / std::max(kii + diagonal[k] - 2 * ci[k], floor);
      if (gain > best_gain) {
        best_gain = gain;
        best = k;
      }
    }
    EXPECT_EQ(
        kernels.select_partner(m, gi, kii, floor, ci.data(), diagonal.data(), g.data(), low.data()),
        best);
  }
}

TEST(VectorKernels, FollowTheirDefinition) {
  expect_definition(dual::vector_kernels().wide);
  expect_definition(dual::vector_kernels().narrow);
}

TEST(VectorKernels, TakeTheFirstOfEquals) {
  const dual::PairKernels<float>& kernels = dual::vector_kernels().narrow;
  for (const Index first : {0, 5, 17, 40, 63, 64, 99}) {
    std::vector<float> g(100, 1.0F), zero(100, 0.0F), one(100, 1.0F);
    for (const Index k : {first, Index{99}}) g[std::size_t(k)] = -2.0F;
    EXPECT_EQ(
        kernels
            .step_and_scan(100, 0.0F, zero.data(), zero.data(), g.data(), zero.data(), zero.data())
            .lowest_index,
        first);
    for (const Index k : {first, Index{99}}) g[std::size_t(k)] = 3.0F;
    EXPECT_EQ(kernels.select_partner(100, 0.0F, 1.0F, 0.1F, zero.data(), one.data(), g.data(),
                                     zero.data()),
              first);
  }
}

}  // namespace
}  // namespace kith::symmetric_view_test
