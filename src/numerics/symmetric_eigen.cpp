// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/symmetric_eigen.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/shape.hpp"
#include "numerics/lapack.hpp"

namespace kith {
namespace {

/// LAPACK counts with 32 bits, and dsyevd wants 1 + 6 n + 2 n^2 doubles of workspace.
std::int64_t full_workspace(std::int64_t n) { return 1 + 6 * n + 2 * n * n; }

void check_square_and_finite(const Matrix& S) {
  check_square("the matrix to decompose", S.rows(), S.cols());
  const Index n = S.rows();
  if (n > 0 && full_workspace(n) > std::numeric_limits<int>::max()) {
    throw invalid(
        "the matrix to decompose is {0} x {0}; LAPACK's 32-bit workspace ends "
        "at 32766 samples",
        n);
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) {
      if (!std::isfinite(S(i, j))) {
        throw invalid(
            "entry ({}, {}) of the matrix to decompose is {}; it must be finite. Where "
            "it was computed from finite similarities they are too large: divide all "
            "by a constant",
            i + 1, j + 1, S(i, j));
      }
    }
  }
}

using Driver = decltype(&dsyevd_);

/// Runs a driver on S in place; S holds the eigenvectors afterwards if job is 'V'.
Vector run(Driver driver, char job, Matrix& S) {
  const int n = static_cast<int>(S.rows());
  Vector lambda(n);
  if (n == 0) return lambda;
  const char lower = 'L';
  int info = 0;
  int lwork = -1;
  int liwork = -1;
  double best_work = 0;
  int best_iwork = 0;
  driver(&job, &lower, &n, S.data(), &n, lambda.data(), &best_work, &lwork, &best_iwork, &liwork,
         &info);
  lwork = static_cast<int>(std::min(best_work, double{std::numeric_limits<int>::max()}));
  liwork = best_iwork;
  // Not vectors: LAPACK writes before it reads, and zeroing 2 n^2 doubles is a pass for nothing.
  const std::unique_ptr<double[]> work(new double[static_cast<std::size_t>(lwork)]);
  const std::unique_ptr<int[]> iwork(new int[static_cast<std::size_t>(liwork)]);
  driver(&job, &lower, &n, S.data(), &n, lambda.data(), work.get(), &lwork, iwork.get(), &liwork,
         &info);
  if (info != 0) {
    throw Error(ErrorCode::kInternal,
                fmt::format("LAPACK's eigenvalue driver failed with code {} on a finite {} x {} "
                            "matrix",
                            info, n, n));
  }
  return lambda;
}

/// From here on the reduction through a band matrix, which works on blocks, beats the direct one,
/// half of whose time waits for memory (measured on one thread: 1.1 times the time at n = 2,000,
/// 0.7 at n = 4,000). The choice hangs on n alone, so results stay the same on every machine.
constexpr Index kTwoStageFrom = 3000;

/// Up to here LAPACK's calls cost more than their work: Eigen's own iteration takes 0.6 of the time
/// of dsyevd at n = 16, 0.75 at 32, as much at 64. Neighbour methods decompose thousands of these.
constexpr Index kSmallUpTo = 32;

/// False where the iteration did not converge.
bool decompose_small(const Matrix& S, SymmetricEigen& result) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(S);
  if (solver.info() != Eigen::Success) return false;
  result.lambda = solver.eigenvalues();
  result.U = solver.eigenvectors();
  return true;
}

}  // namespace

void fix_signs(Matrix& U) {
  for (Index j = 0; j < U.cols(); ++j) {
    double largest = 0;
    double at_largest = 0;
    for (Index i = 0; i < U.rows(); ++i) {
      if (std::abs(U(i, j)) > largest) {
        largest = std::abs(U(i, j));
        at_largest = U(i, j);
      }
    }
    if (at_largest < 0) U.col(j) = -U.col(j);
  }
}

SymmetricEigen symmetric_eigen(Matrix S) {
  check_square_and_finite(S);
  SymmetricEigen result;
  if (S.rows() == 0 || S.rows() > kSmallUpTo || !decompose_small(S, result)) {
    result.lambda = run(dsyevd_, 'V', S);
    result.U = std::move(S);
  }
  fix_signs(result.U);
  return result;
}

Vector symmetric_eigenvalues(Matrix S) {
  check_square_and_finite(S);
  Vector lambda = run(S.rows() < kTwoStageFrom ? dsyevd_ : dsyevd_2stage_, 'N', S);
  return lambda;
}

double negative_threshold(const VectorRef& lambda) {
  return lambda.size() == 0 ? 0 : -1e-9 * lambda.cwiseAbs().maxCoeff();
}

double zero_threshold(const VectorRef& lambda) {
  if (lambda.size() == 0) return 0;
  return static_cast<double>(lambda.size()) * std::numeric_limits<double>::epsilon() *
         lambda.cwiseAbs().maxCoeff();
}

}  // namespace kith
