// SPDX-License-Identifier: Apache-2.0
// `simple-mkl` and `rkl`: twelve kernels of vectors.
#include "kith/learn/kernel_learning/base_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kith/learn/kernel_learning/mkl.hpp"
#include "kith/learn/shared_work.hpp"
#include "support/training_sets.hpp"
#include "support/views.hpp"

namespace kith::base_kernels_test {
namespace {

/// Classes around means of their own, in features of the size given.
struct Vectors {
  Matrix X;
  std::vector<int> classes;

  [[nodiscard]] TrainingSet set() const {
    TrainingSet set;
    set.labels = test::numbered_labels(classes);
    set.vectors = DenseBlock(RowMatrix(X));
    return set;
  }
};
Vectors vectors(Index n, int classes, double size, std::uint64_t seed) {
  Rng rng(seed);
  Vectors made{Matrix(n, 4), {}};
  for (Index i = 0; i < n; ++i) {
    made.classes.push_back(static_cast<int>(i) % classes);
    for (Index j = 0; j < 4; ++j) {
      made.X(i, j) = size * (rng.normal() + (i % classes == j ? 1.5 : 0));
    }
  }
  return made;
}

std::vector<Fitted<SimpleMklModel>> over_costs(const Vectors& data, FeatureScaling scaling) {
  std::vector<SimpleMklSettings> path;
  for (const double cost : {1e-3, 1e-2, 0.1, 1.0, 10.0}) {
    path.push_back({.cost = cost, .scaling = scaling, .probability = false});
  }
  const TrainingSet set = data.set();
  SharedWork work(set);
  RunContext ctx;
  return fit_path(work, path, ctx);
}

/// The machine's primal at the kernel that was learned, from the vectors and the model alone.
double primal(const Vectors& data, const KernelSumModel& sum, double cost) {
  const std::vector<Matrix> kernels = base_kernel_rows(data.X, data.X, 1);
  const auto n = static_cast<std::size_t>(data.X.rows());
  Vector f = Vector::Constant(data.X.rows(), sum.intercepts(0));
  double squares = 0;
  for (std::size_t m = 0; m < kernels.size(); ++m) {
    const double weight = sum.weights(static_cast<Index>(m), 0);
    const Vector c = sum.coefficients[m].column(0);
    const Matrix K = kernels[m](Eigen::all, sum.columns);
    f += K * c;
    if (weight > 0) squares += c.dot(K(sum.columns, Eigen::all) * c) / weight;
  }
  double losses = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double y = data.classes[i] == 0 ? 1 : -1;
    losses += std::max(0.0, 1 - y * f(static_cast<Index>(i)));
  }
  return 0.5 * squares + cost * losses;
}

TEST(SimpleMkl, LearnsAKernelOfMeanDiagonalOneWhateverTheSizeOfItsKernels) {
  for (const double size : {0.1, 1.0, 30.0}) {  // fifth powers from 1 to 1e18
    const Vectors data = vectors(40, 2, size, 3);
    const std::vector<Matrix> kernels = base_kernel_rows(data.X, data.X, 1);
    double cost = 1e-3;
    for (const Fitted<SimpleMklModel>& one : over_costs(data, FeatureScaling::kNone)) {
      EXPECT_EQ(one.info.status(), SolveStatus::kSolved) << size << ' ' << cost;
      EXPECT_LE(one.info.gap(), 1e-8);
      double trace = 0;
      for (std::size_t m = 0; m < kernels.size(); ++m) {
        trace += one.model.sum.weights(static_cast<Index>(m), 0) * kernels[m].trace();
      }
      EXPECT_NEAR(trace, 40, 1e-7);
      const double objective = one.info.subproblems[0].info.objective;
      EXPECT_NEAR(primal(data, one.model.sum, cost), objective, 1e-5 * objective);
      cost *= 10;
    }
  }
}

TEST(SimpleMkl, HasACostThatCounts) {
  const std::vector<Fitted<SimpleMklModel>> found =
      over_costs(vectors(60, 2, 1, 4), FeatureScaling::kStandard);
  // With kernels of diagonal 1 no coefficient reaches much beyond 1: smaller costs bound them.
  for (std::size_t i = 0; i + 2 < found.size(); ++i) {
    const double here = found[i].info.subproblems[0].info.objective;
    const double next = found[i + 1].info.subproblems[0].info.objective;
    EXPECT_GT(next, 1.5 * here) << i;
    EXPECT_LE(next, 10 * here * (1 + 1e-7)) << i;  // concave in the cost, and 0 at 0
  }
}

TEST(SimpleMkl, LearnsFromAPairOfClassesWhatItWouldWithoutTheOthers) {
  const Vectors three = vectors(60, 3, 1, 5);
  Vectors two{Matrix(40, 4), {}};
  for (Index i = 0; i < 60; ++i) {
    if (i % 3 == 2) continue;
    two.X.row(std::ssize(two.classes)) = three.X.row(i);
    two.classes.push_back(static_cast<int>(i) % 3);
  }
  const double of_pair =
      over_costs(three, FeatureScaling::kNone)[3].info.subproblems[0].info.objective;
  const double alone = over_costs(two, FeatureScaling::kNone)[3].info.subproblems[0].info.objective;
  EXPECT_NEAR(of_pair, alone, 1e-7 * alone);
}

TEST(Mkl, GivesEachSampleOfAPairItsTrace) {
  const test::Views views = test::make_views(30, 3, 6);
  test::Views scaled = views;
  scaled.matrices[1] *= 1e6;
  scaled.rows[1] *= 1e6;
  RunContext ctx;
  const std::vector<MklSettings> path = {{.trace = 2, .probability = false}};
  std::vector<Matrix> decisions;
  for (const test::Views& one : {views, scaled}) {
    const TrainingSet set = one.set();
    SharedWork work(set);
    const std::vector<Fitted<KernelSumModel>> fitted = fit_sums(work, path, TraceOf::kSample, ctx);
    EXPECT_EQ(fitted[0].info.status(), SolveStatus::kSolved);
    decisions.push_back(decision_values(fitted[0].model, one.queries(), ctx));
    // A pair has 20 samples: the same as a trace of 40 of the pair's kernel.
    const std::vector<MklSettings> whole = {{.trace = 40, .probability = false}};
    const std::vector<Fitted<MklModel>> same = fit_path(work, whole, ctx);
    EXPECT_EQ(same[0].model.weights, fitted[0].model.weights);
  }
  EXPECT_LT((decisions[0] - decisions[1]).cwiseAbs().maxCoeff(), 1e-6);
}

}  // namespace
}  // namespace kith::base_kernels_test
