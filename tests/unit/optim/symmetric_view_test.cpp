// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/symmetric_view.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "dual_problems.hpp"
#include "optim/vector_kernels.hpp"

namespace kith {
namespace {

using namespace testing_support;

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<SymmetricView> views(const Matrix& K, const FloatMatrix& narrow, double shift) {
  return {SymmetricView::dense(K, shift), SymmetricView::dense(narrow, shift),
          SymmetricView::columns(
              K.diagonal(),
              [&K](Index j, std::span<double> out) {
                for (Index i = 0; i < K.rows(); ++i) out[std::size_t(i)] = K(i, j);
              },
              shift)};
}

TEST(SymmetricView, ReadsEveryStorageAlike) {
  for (const Index n : {1, 3, 8, 21, 64, 131}) {
    Rng rng(static_cast<std::uint64_t>(n));
    const FloatMatrix narrow = random_symmetric(rng, n).cast<float>();
    const Matrix K = narrow.cast<double>();
    Vector u = normal_matrix(rng, n, 1);
    if (n > 3) u.segment(1, 2).setZero();
    for (const double shift : {0.0, 1.5}) {
      Matrix full = K;
      full.diagonal().array() += shift;
      for (const double factor : {1.0, 4.0}) {
        const Vector expected = factor * full * u;
        for (const SymmetricView& plain : views(K, narrow, shift)) {
          const SymmetricView view = factor == 1.0 ? plain : plain.scaled(factor);
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
  const SymmetricView view = SymmetricView::dense(K, 2.0);
  const std::vector<Index> rows = {1, 4, 8};
  std::vector<double> out(3);
  view.gather(4, rows, out.data());
  EXPECT_EQ(out[0], K(1, 4));
  EXPECT_EQ(out[1], K(4, 4) + 2.0);
  EXPECT_EQ(out[2], K(8, 4));
  EXPECT_EQ(view.direct(0), nullptr);
  EXPECT_EQ(SymmetricView::dense(K).direct(2), &K(0, 2));
}

TEST(SymmetricView, ReadsABlockOfALargerMatrixInPlace) {
  Rng rng(2);
  const Matrix K = random_symmetric(rng, 12);
  const Vector u = normal_matrix(rng, 5, 1);
  const SymmetricView view = SymmetricView::dense(K.block(3, 3, 5, 5));
  EXPECT_TRUE(view.times(u).isApprox(K.block(3, 3, 5, 5) * u));
}

// The vector loops against the definition, for lengths around every vector width.
TEST(VectorKernels, FollowTheirDefinition) {
  const detail::VectorKernels& kernels = detail::vector_kernels();
  for (Index m = 1; m < 80; ++m) {
    Rng rng(static_cast<std::uint64_t>(m));
    const Matrix random = normal_matrix(rng, m, 4);
    Vector up = Vector::Zero(m), low = Vector::Zero(m);
    for (Index k = 0; k < m; ++k) {
      if (rng.uniform() < 0.3) up[k] = kInf;
      if (rng.uniform() < 0.3) low[k] = -kInf;
    }
    Vector g = random.col(2);
    const Vector expected = g + 0.7 * (random.col(0) - random.col(1));
    const detail::GradientEnds ends = kernels.step_and_scan(
        m, 0.7, random.col(0).data(), random.col(1).data(), g.data(), up.data(), low.data());
    EXPECT_LE((g - expected).cwiseAbs().maxCoeff(), 1e-15 * 16);
    Index lowest = -1;
    double highest = -kInf;
    for (Index k = 0; k < m; ++k) {
      if (up[k] == 0 && (lowest < 0 || g[k] < g[lowest])) lowest = k;
      if (low[k] == 0) highest = std::max(highest, g[k]);
    }
    EXPECT_EQ(ends.lowest_index, lowest);
    EXPECT_EQ(ends.lowest, lowest >= 0 ? g[lowest] : kInf);
    EXPECT_EQ(ends.highest, highest);

    const Vector diagonal = random.col(3).cwiseAbs();
    const double gi = -0.5, kii = 1.0, floor = 0.05;
    const Vector ci = random.col(0) * 0.3;
    Index best = -1;
    double best_gain = 0;
    for (Index k = 0; k < m; ++k) {
      const double d = g[k] - gi;
      if (low[k] != 0 || d <= 0) continue;
      const double gain = d * d / std::max(kii + diagonal[k] - 2 * ci[k], floor);
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

}  // namespace
}  // namespace kith
