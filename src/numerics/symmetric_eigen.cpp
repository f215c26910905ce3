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
#include <vector>

#include "core/errors.hpp"
#include "kith/core/memory.hpp"
#include "kith/core/shape.hpp"
#include "kith/core/stopwatch.hpp"
#include "numerics/eigen_steps.hpp"
#include "numerics/lapack.hpp"

namespace kith {
namespace {

/// LAPACK counts with 32 bits, and dsyevd wants 1 + 6 n + 2 n^2 doubles of workspace.
std::int64_t full_workspace(std::int64_t n) { return 1 + 6 * n + 2 * n * n; }

constexpr const char* kInstead =
    "without a decomposition there are svm with spectrum=shift or none, and the methods that go by "
    "neighbours, such as knn";

void check_countable(Index n) {
  if (n == 0 || full_workspace(n) <= std::numeric_limits<int>::max()) return;
  throw invalid(
      "the matrix to decompose is {0} x {0}; LAPACK's 32-bit workspace ends at 32766 samples; {1}",
      n, kInstead);
}

void check_square_and_finite(const Matrix& S) {
  check_square("the matrix to decompose", S.rows(), S.cols());
  const Index n = S.rows();
  check_countable(n);
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

double bytes_of_squares(double many, Index n) {
  return many * sizeof(double) * static_cast<double>(n) * static_cast<double>(n);
}

[[noreturn]] void fail(const char* step, int code, Index n) {
  throw Error(
      ErrorCode::kInternal,
      fmt::format("LAPACK's {} failed with code {} on a finite {} x {} matrix", step, code, n, n));
}

using Driver = decltype(&dsyevd_);

/// The eigenvalues of S by a driver; S is spoiled.
Vector values_by(Driver driver, Matrix& S) {
  const char job = 'N';
  const int n = static_cast<int>(S.rows());
  Vector lambda(n);
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
  if (info != 0) fail("eigenvalue driver", info, n);
  return lambda;
}

/// Memory that LAPACK writes before it reads: zeroing it would be a pass for nothing.
struct Workspace {
  explicit Workspace(double size)
      : length(static_cast<int>(std::min(size, double{std::numeric_limits<int>::max()}))),
        values(new double[static_cast<std::size_t>(length)]) {}
  int length;
  std::unique_ptr<double[]> values;
};

/// A symmetric matrix on its way through the steps of dsyevd.
class Steps {
 public:
  Steps(Matrix S, const RunContext& ctx)
      : A_(std::move(S)), n_(static_cast<int>(A_.rows())), ctx_(ctx) {}

  [[nodiscard]] SymmetricEigen run(EigenWorkspace workspace) {
    const bool large = workspace == EigenWorkspace::kLarge;
    const double n = n_;
    // One piece of memory, as dsyevd has it: many decompositions after each other then find it
    // again. The eigenvectors of the tridiagonal matrix stand at its front, or in a matrix.
    const Workspace memory(large ? 2 * n * n + 4 * n + 1 : kColumns * n);
    Matrix own(large ? 0 : n_, large ? 0 : n_);
    double* Z = large ? memory.values.get() : own.data();
    const int taken = large ? n_ * n_ : 0;
    const Room room{memory.values.get() + taken, memory.length - taken};
    const bool shown = n_ >= kShownFrom;
    step(shown, 0);
    reduce(room);
    step(shown, 50);
    large ? divide_and_conquer(Z, room) : by_representations(Z, room);
    step(shown, 70);
    turn_back(Z, room);
    step(shown, 100);
    if (!large) return {std::move(lambda_), std::move(own)};
    A_ = Eigen::Map<const Matrix>(Z, n_, n_);
    return {std::move(lambda_), std::move(A_)};
  }

  /// lambda and U'X; X becomes Q'X, and U'X is Z'Q'X.
  [[nodiscard]] RotatedColumns rotate(Matrix X) {
    const double n = n_;
    const Workspace memory(n * n + 4 * n + 1 + kColumns * std::max(n, double(X.cols())));
    const Room room{memory.values.get(), memory.length};
    Matrix Z(n_, n_);
    step(false, 0);
    reduce(room);
    step(false, 50);
    divide_and_conquer(Z.data(), room);
    step(false, 70);
    const int columns = static_cast<int>(X.cols());
    int info = 0;
    if (columns > 0) {
      dormtr_("L", "L", "T", &n_, &columns, A_.data(), &n_, tau_.data(), X.data(), &n_, room.values,
              &room.length, &info);
    }
    if (info != 0) fail("back transformation", info, n_);
    return {std::move(lambda_), Matrix(Z.transpose() * X)};
  }

 private:
  static constexpr const char* kStage = "decomposition";
  static constexpr int kShownFrom = 3000;
  static constexpr int kColumns = 64;  // of n: blocks of 32 or 64, and what dstemr asks for

  struct Room {
    double* values;
    int length;
  };

  void step(bool shown, int percent) {
    ctx_.check_stop();
    if (shown) ctx_.progress(kStage, percent, 100);
  }

  void reduce(const Room& room) {
    lambda_.resize(n_);
    off_diagonal_ = Vector::Zero(n_);
    tau_.resize(n_);
    int info = 0;
    dsytrd_("L", &n_, A_.data(), &n_, lambda_.data(), off_diagonal_.data(), tau_.data(),
            room.values, &room.length, &info);
    if (info != 0) fail("reduction", info, n_);
  }

  void divide_and_conquer(double* Z, const Room& room) {
    double best = 0;
    int best_whole = 0;
    int info = 0;
    const auto call = [&](double* work, int size, int* whole, int whole_size) {
      dstedc_("I", &n_, lambda_.data(), off_diagonal_.data(), Z, &n_, work, &size, whole,
              &whole_size, &info);
    };
    call(&best, -1, &best_whole, -1);
    std::vector<int> whole(static_cast<std::size_t>(best_whole));
    call(room.values, room.length, whole.data(), best_whole);
    if (info != 0) fail("divide and conquer", info, n_);
  }

  /// Relatively robust representations: about as fast, and without another n^2 doubles.
  void by_representations(double* Z, const Room& room) {
    const double unused = 0;
    const int none = 0;
    int found = 0;
    int accurate = 1;
    int info = 0;
    Vector values(n_);
    std::vector<int> support(2 * static_cast<std::size_t>(n_));
    const int whole_length = 10 * n_;
    std::vector<int> whole(static_cast<std::size_t>(whole_length));
    dstemr_("V", "A", &n_, lambda_.data(), off_diagonal_.data(), &unused, &unused, &none, &none,
            &found, values.data(), Z, &n_, &n_, support.data(), &accurate, room.values,
            &room.length, whole.data(), &whole_length, &info);
    if (info != 0 || found != n_) fail("eigenvalue driver", info, n_);
    lambda_ = std::move(values);
  }

  void turn_back(double* Z, const Room& room) {
    int info = 0;
    dormtr_("L", "L", "N", &n_, &n_, A_.data(), &n_, tau_.data(), Z, &n_, room.values, &room.length,
            &info);
    if (info != 0) fail("back transformation", info, n_);
  }

  Matrix A_;
  int n_;
  const RunContext& ctx_;
  Vector lambda_;
  Vector off_diagonal_;
  Vector tau_;
};

/// Says how long a decomposition may take, by that of a leading block.
void announce(const Matrix& S, const RunContext& ctx) {
  constexpr Index kAnnouncedFrom = 6000;
  constexpr Index kBlock = 1500;
  constexpr double kWorthSaying = 20;  // seconds
  const Index n = S.rows();
  if (n < kAnnouncedFrom || ctx.sink == nullptr) return;
  const Stopwatch clock;
  (void)decompose_in_steps(S.topLeftCorner(kBlock, kBlock), EigenWorkspace::kLarge, {});
  const double times = static_cast<double>(n) / static_cast<double>(kBlock);
  const double seconds = clock.seconds() * times * times * times;
  if (seconds < kWorthSaying) return;
  ctx.message(
      seconds < 90
          ? fmt::format("the {0} x {0} matrix is decomposed, in up to about {1:.0f} s", n, seconds)
          : fmt::format("the {0} x {0} matrix is decomposed, in up to about {1:.0f} minutes", n,
                        seconds / 60));
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

SymmetricEigen decompose_in_steps(Matrix S, EigenWorkspace workspace, const RunContext& ctx) {
  return Steps(std::move(S), ctx).run(workspace);
}

RotatedColumns rotate_by_eigenvectors(Matrix S, Matrix X, const RunContext& ctx) {
  check_square_and_finite(S);
  if (S.rows() > kSmallUpTo) return Steps(std::move(S), ctx).rotate(std::move(X));
  const SymmetricEigen eigen = symmetric_eigen(std::move(S), ctx);
  return {eigen.lambda, eigen.U.transpose() * X};
}

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

void check_decomposition_fits(Index n) {
  check_countable(n);
  const double bytes = bytes_of_squares(2, n);
  const double available = available_memory();
  if (bytes <= available) return;
  throw invalid(
      "the decomposition of the {0} x {0} matrix needs {1:.1f} GiB of memory beside it, and "
      "{2:.1f} "
      "GiB are available; {3}",
      n, bytes / kGibibyte, available / kGibibyte, kInstead);
}

SymmetricEigen symmetric_eigen(Matrix S, const RunContext& ctx) {
  check_square_and_finite(S);
  SymmetricEigen result;
  if (S.rows() == 0 || S.rows() > kSmallUpTo || !decompose_small(S, result)) {
    announce(S, ctx);
    if (S.rows() == 0) return {Vector(0), Matrix(0, 0)};
    const auto workspace = bytes_of_squares(2, S.rows()) <= available_memory()
                               ? EigenWorkspace::kLarge
                               : EigenWorkspace::kSmall;
    result = decompose_in_steps(std::move(S), workspace, ctx);
  }
  fix_signs(result.U);
  return result;
}

Vector symmetric_eigenvalues(Matrix S) {
  check_square_and_finite(S);
  if (S.rows() == 0) return Vector(0);
  return values_by(S.rows() < kTwoStageFrom ? dsyevd_ : dsyevd_2stage_, S);
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
