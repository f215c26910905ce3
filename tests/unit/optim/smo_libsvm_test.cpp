// SPDX-License-Identifier: Apache-2.0
// Agreement with LIBSVM (precomputed kernel). Its kernel columns are float, so matrices are rounded
// to float first: both then solve the same problem.
#include <gtest/gtest.h>
#include <libsvm/svm.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "dual_problems.hpp"

namespace kith::smo_libsvm_test {
namespace {

using testing_support::gaussian_kernel;
using testing_support::make_problem;
using testing_support::OwnedProblem;
using testing_support::random_labels;

struct Reference {
  double objective = 0;
  Vector decision;
};

Reference libsvm(const Matrix& K, const Vector& y, double cost, double eps) {
  const Index n = y.size();
  std::vector<std::vector<svm_node>> nodes(static_cast<std::size_t>(n));
  std::vector<svm_node*> rows;
  for (Index i = 0; i < n; ++i) {
    auto& row = nodes[std::size_t(i)];
    row.push_back({0, static_cast<double>(i + 1)});
    for (Index j = 0; j < n; ++j) row.push_back({static_cast<int>(j + 1), K(i, j)});
    row.push_back({-1, 0});
    rows.push_back(row.data());
  }
  Vector labels = y;
  svm_problem problem{static_cast<int>(n), labels.data(), rows.data()};
  svm_parameter parameter{};
  parameter.svm_type = C_SVC;
  parameter.kernel_type = PRECOMPUTED;
  parameter.cache_size = 100;
  parameter.eps = eps;
  parameter.C = cost;
  parameter.shrinking = 0;
  svm_set_print_string_function([](const char*) {});
  svm_model* model = svm_train(&problem, &parameter);
  // The class of the first label is LIBSVM's positive one.
  const double sign = model->label[0] > 0 ? 1 : -1;
  Vector u = Vector::Zero(n);
  for (int s = 0; s < model->l; ++s) u[model->sv_indices[s] - 1] = sign * model->sv_coef[0][s];
  const double b = -sign * model->rho[0];
  svm_free_and_destroy_model(&model);
  const Vector Ku = K * u;
  return {u.cwiseAbs().sum() - 0.5 * u.dot(Ku), Ku.array() + b};
}

void expect_agreement(const Matrix& exact, const Vector& y, double cost, double eps,
                      const std::string& what) {
  const Matrix K = exact.cast<float>().cast<double>();
  const OwnedProblem problem = make_problem(K, y, cost);
  const dual::SmoSolution ours = dual::smo(problem.dual);
  // Rounding to float leaves negative eigenvalues near 1e-8; both meet them alike.
  ASSERT_TRUE(met_tolerance(ours.info.status)) << what << ": " << enum_name(ours.info.status);
  const Reference theirs = libsvm(K, y, cost, eps);
  EXPECT_NEAR(ours.info.objective, theirs.objective, 1e-6 * std::abs(theirs.objective)) << what;
  const Vector decision = K * y.cwiseProduct(ours.alpha) + Vector::Constant(y.size(), ours.b);
  EXPECT_LE((decision - theirs.decision).cwiseAbs().maxCoeff(), 1e-4) << what;
}

TEST(SmoAgainstLibsvm, AgreesOnRandomKernels) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Rng rng(seed);
    const Vector y = random_labels(rng, 60);
    Matrix K = gaussian_kernel(rng, y);
    K.diagonal().array() += 1e-3;  // stays positive definite when rounded to float
    for (const double cost : {1e-3, 1.0, 100.0}) {
      expect_agreement(K, y, cost, 1e-8,
                       "seed " + std::to_string(seed) + " cost " + std::to_string(cost));
    }
  }
}

struct Shared {
  Matrix S;
  std::vector<std::string> labels;
};

Shared load(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(KITH_TEST_SHARED) / "data" / name;
  Shared shared;
  std::ifstream labels(folder / "labels.txt");
  for (std::string line; std::getline(labels, line);) shared.labels.push_back(line);
  const auto n = static_cast<Index>(shared.labels.size());
  shared.S.resize(n, n);
  std::ifstream values(folder / "similarity.csv");
  std::string line;
  for (Index i = 0; i < n && std::getline(values, line); ++i) {
    std::istringstream row(line);
    std::string cell;
    for (Index j = 0; j < n && std::getline(row, cell, ','); ++j) shared.S(i, j) = std::stod(cell);
  }
  return shared;
}

/// The samples of `one` and `other`, at most `most` of each, with the spectrum of the block
/// clipped.
std::pair<Matrix, Vector> clipped_block(const Shared& shared, const std::string& one,
                                        const std::string& other, Index most) {
  std::vector<Index> chosen;
  std::vector<double> y;
  Index count[2] = {0, 0};
  for (std::size_t i = 0; i < shared.labels.size(); ++i) {
    const bool first = shared.labels[i] == one;
    if (!first && shared.labels[i] != other) continue;
    if (count[first ? 0 : 1]++ >= most) continue;
    chosen.push_back(static_cast<Index>(i));
    y.push_back(first ? 1 : -1);
  }
  const auto n = static_cast<Index>(chosen.size());
  Matrix S(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      S(i, j) = 0.5 * (shared.S(chosen[std::size_t(i)], chosen[std::size_t(j)]) +
                       shared.S(chosen[std::size_t(j)], chosen[std::size_t(i)]));
    }
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(S);
  const Matrix K = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() *
                   eigen.eigenvectors().transpose();
  return {0.5 * (K + K.transpose()), Eigen::Map<const Vector>(y.data(), n)};
}

bool have_shared_data() { return std::filesystem::exists(std::string(KITH_TEST_SHARED) + "/data"); }

TEST(SmoAgainstLibsvm, AgreesOnProteinAtBothEndsOfTheGrid) {
  if (!have_shared_data()) GTEST_SKIP() << "the shared data folder is not there";
  const Shared protein = load("protein");
  for (const auto& [one, other] : {std::pair{"1", "2"}, std::pair{"1", "3"}, std::pair{"2", "4"}}) {
    auto [K, y] = clipped_block(protein, one, other, 40);
    K.diagonal().array() += 1e-4;
    for (const double cost : {1e-3, 1e5}) {
      expect_agreement(K, y, cost, 1e-7,
                       std::string("protein ") + one + other + " cost " + std::to_string(cost));
    }
  }
}

TEST(SmoAgainstLibsvm, AgreesOnVotingAtBothEndsOfTheGrid) {
  if (!have_shared_data()) GTEST_SKIP() << "the shared data folder is not there";
  auto [K, y] = clipped_block(load("voting"), "1", "2", 60);
  K.diagonal().array() += 1e-4;
  for (const double cost : {1e-3, 1e5}) {
    expect_agreement(K, y, cost, 1e-7, "voting cost " + std::to_string(cost));
  }
}

}  // namespace
}  // namespace kith::smo_libsvm_test
