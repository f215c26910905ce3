// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kith/optim/papers/mirror_descent.hpp"
#include "trace_kernel_problems.hpp"

namespace kith::mirror_descent_test {
namespace {

using testing_support::kShapes;
using testing_support::matrix_of;
using testing_support::noisy_kernels;
using testing_support::TraceKernelData;

TEST(MirrorDescent, MeetsTheExactOptimumWithinItsCertificate) {
  const TraceKernelData data = noisy_kernels(10, 2, 12);
  for (const trace::KernelShape shape : kShapes) {
    for (const trace::KernelLoss loss :
         {trace::KernelLoss::kAbsolute, trace::KernelLoss::kNorm, trace::KernelLoss::kSquared}) {
      if (loss == trace::KernelLoss::kAbsolute && shape == trace::KernelShape::kSpectral) continue;
      const trace::Problem problem = data.problem(shape, loss, 0.05);
      const trace::Solution found = papers::mirror_descent(problem, {.tolerance = 0.1});
      EXPECT_EQ(found.info.status, SolveStatus::kSolved) << found.info.gap;
      const double exact = trace::learn_kernel(problem).info.objective;
      EXPECT_LE(found.lower, exact * (1 + 1e-9));
      EXPECT_GE(found.info.objective, exact * (1 - 2e-3));
      EXPECT_LE(found.info.objective, exact * 1.12);
      // The mean of its dual points proves at least as much as the mean of its linear bounds.
      const trace::Certificate proof = certify(problem, found);
      EXPECT_LE(proof.gap, 0.1 * (1 + 1e-9));
      EXPECT_LE(proof.feasibility, 1e-9);
    }
  }
}

TEST(MirrorDescent, TakesALossOfOnesOwn) {
  const TraceKernelData data = noisy_kernels(10, 2, 13);
  const trace::Problem problem =
      data.problem(trace::KernelShape::kShared, trace::KernelLoss::kSquared, 0.05);
  // Huber's: squares near 0, absolute values further out; between the two everywhere.
  const trace::ConvexLoss huber{
      [](const Matrix& X) {
        return X.cwiseAbs().unaryExpr([](double x) { return x < 1 ? x * x : 2 * x - 1; }).sum();
      },
      [](const Matrix& X) -> Matrix { return 2 * X.cwiseMax(-1.0).cwiseMin(1.0); }};
  const trace::Solution found = papers::mirror_descent(problem, huber, {.tolerance = 0.1});
  EXPECT_EQ(found.info.status, SolveStatus::kSolved);
  const trace::Solution squared = trace::learn_kernel(problem);
  EXPECT_LE(found.lower, squared.info.objective);
  double value = found.machine;
  for (const Matrix& S : data.S) {
    value += 0.05 * huber.value(matrix_of(found.kernels[0]) - S);
  }
  EXPECT_NEAR(found.info.objective, value, 1e-9 * value);
}

/// One matrix of 60 samples; y.txt has a label per line.
TraceKernelData read_shared(const std::filesystem::path& folder) {
  std::vector<double> values;
  std::ifstream similarities(folder / "S.csv");
  for (std::string line; std::getline(similarities, line);) {
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) values.push_back(std::stod(cell));
  }
  std::vector<double> labels;
  std::ifstream file(folder / "y.txt");
  for (double label = 0; file >> label;) labels.push_back(label);
  const auto n = static_cast<Index>(labels.size());
  Matrix S = Eigen::Map<const RowMatrix>(values.data(), n, n);
  return {{0.5 * (S + S.transpose())}, Eigen::Map<const Vector>(labels.data(), n)};
}

class SharedEskl : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder =
        std::filesystem::path(KITH_TEST_SHARED) / "problems" / "eskl60";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the shared problem is not there";
    data_ = read_shared(folder);
  }
  [[nodiscard]] trace::Problem problem(trace::KernelLoss loss, double rho) const {
    return data_.problem(trace::KernelShape::kShared, loss, rho);
  }
  TraceKernelData data_;
};

TEST_F(SharedEskl, IsSolvedToTheKnownOptima) {
  EXPECT_NEAR(trace::learn_kernel(problem(trace::KernelLoss::kSquared, 0.1)).info.objective,
              15.498655, 1e-5);
  EXPECT_NEAR(trace::learn_kernel(problem(trace::KernelLoss::kNorm, 1)).info.objective, 15.168919,
              1e-5);
  const trace::Problem absolute = problem(trace::KernelLoss::kAbsolute, 0.01);
  const trace::Solution found = trace::learn_kernel(absolute);
  EXPECT_LE(found.info.objective, 8.776);
  EXPECT_LE(certify(absolute, found).gap, 1e-3);
}

TEST_F(SharedEskl, TheCorrectUpdateDescendsAndThePrintedOneStalls) {
  struct Case {
    trace::KernelLoss loss;
    double rho, optimum, reached;
  };
  for (const Case& one : {Case{trace::KernelLoss::kAbsolute, 0.01, 8.76, 8.84},
                          Case{trace::KernelLoss::kNorm, 1, 15.168919, 15.23},
                          Case{trace::KernelLoss::kSquared, 0.1, 15.498655, 15.56}}) {
    const trace::Problem at = problem(one.loss, one.rho);
    EXPECT_LE(papers::mirror_descent(at, {.max_iterations = 400}).info.objective, one.reached);
    const auto printed = [&](long steps) {
      return papers::mirror_descent(
          at, {.update = papers::MirrorUpdate::kPrinted, .max_iterations = steps});
    };
    const trace::Solution early = printed(20);
    const trace::Solution late = printed(400);
    EXPECT_GE(late.info.objective, 1.2 * one.optimum);
    EXPECT_GE(late.info.objective, 0.99 * early.info.objective);  // nothing gained in 380 steps
  }
}

}  // namespace
}  // namespace kith::mirror_descent_test
