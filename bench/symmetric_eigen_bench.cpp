// SPDX-License-Identifier: Apache-2.0
// Symmetric eigenproblems over a ladder of n, one BLAS thread. Each step runs the bare LAPACK
// dsyevd (with vectors) and ours in turn on the same matrix; the time is ours and `ratio` is ours /
// bare.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <memory>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/numerics/blas.hpp"
#include "kith/numerics/extreme_eigen.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

extern "C" void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*,
                        const int*, int*, const int*, int*);

namespace {

using kith::Index;
using kith::Matrix;
using kith::Vector;

Matrix normals(Index rows, Index cols, kith::Rng& rng) {
  return Matrix::NullaryExpr(rows, cols, [&](Index, Index) { return rng.normal(); });
}

/// tanh(X X'), X n x 10
Matrix tanh_matrix(Index n) {
  kith::Rng rng(1);
  const Matrix X = normals(n, 10, rng);
  return (X * X.transpose()).array().tanh();
}

/// A Gaussian kernel on n points in 10 dimensions plus 0.05 (E + E') / 2: a dense negative edge
Matrix noisy_gaussian(Index n) {
  kith::Rng rng(1);
  const Matrix X = normals(n, 10, rng);
  Matrix S = 2 * X * X.transpose();
  const Vector squares = X.rowwise().squaredNorm();
  S.colwise() -= squares;
  S.rowwise() -= squares.transpose();
  S = (S / 20).array().exp();
  const Matrix E = normals(n, n, rng);
  return S + 0.025 * (E + E.transpose());
}

/// Processor time: with one thread it is what a quiet machine's clock would show.
double seconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// The smallest eigenvalue, beside the time of the bare call.
double bare_dsyevd(Matrix S, char job, double& elapsed) {
  const int n = static_cast<int>(S.rows());
  Vector lambda(n);
  double best = 0;
  int ibest = 0;
  int lwork = -1;
  int liwork = -1;
  int info = 0;
  dsyevd_(&job, "L", &n, S.data(), &n, lambda.data(), &best, &lwork, &ibest, &liwork, &info);
  lwork = static_cast<int>(best);
  liwork = ibest;
  const std::unique_ptr<double[]> work(new double[static_cast<std::size_t>(lwork)]);
  std::vector<int> iwork(static_cast<std::size_t>(liwork));
  elapsed += seconds([&] {
    dsyevd_(&job, "L", &n, S.data(), &n, lambda.data(), work.get(), &lwork, iwork.data(), &liwork,
            &info);
  });
  return lambda[0];
}

/// Bare and ours in turn; `ours` returns lambda_min or NaN if it has none.
void compare(benchmark::State& state, const Matrix& S, char job,
             const std::function<double()>& ours) {
  const kith::BlasThreads one(1);
  double bare = 0;
  double own = 0;
  double error = 0;
  for (auto step : state) {
    const double truth = bare_dsyevd(S, job, bare);
    double value = 0;
    const double elapsed = seconds([&] { value = ours(); });
    own += elapsed;
    state.SetIterationTime(elapsed);
    if (!std::isnan(value)) error = std::max(error, std::abs(value - truth) / std::abs(truth));
  }
  state.counters["ratio"] = own / bare;
  state.counters["bare_s"] = bare / static_cast<double>(state.iterations());
  state.counters["rel_error"] = error;
}

void BM_SymmetricEigen(benchmark::State& state) {
  const Matrix S = tanh_matrix(state.range(0));
  compare(state, S, 'V', [&] { return kith::symmetric_eigen(S).lambda[0]; });
}

void BM_SymmetricEigenvaluesOverDsyevdN(benchmark::State& state) {
  const Matrix S = tanh_matrix(state.range(0));
  compare(state, S, 'N', [&] { return kith::symmetric_eigenvalues(S)[0]; });
}

void BM_PositivePart(benchmark::State& state) {
  const Matrix S = tanh_matrix(state.range(0));
  compare(state, S, 'V', [&] {
    benchmark::DoNotOptimize(kith::positive_part(S));
    return std::nan("");
  });
}

void BM_SmallestEigenvalueTanh(benchmark::State& state) {
  const Matrix S = tanh_matrix(state.range(0));
  compare(state, S, 'V', [&] { return kith::smallest_eigenvalue(S, {}).upper; });
}

void BM_SmallestEigenvalueNoisyGaussian(benchmark::State& state) {
  const Matrix S = noisy_gaussian(state.range(0));
  compare(state, S, 'V', [&] { return kith::smallest_eigenvalue(S, {}).upper; });
}

void BM_ShiftToPsdTanh(benchmark::State& state) {
  const Matrix S = tanh_matrix(state.range(0));
  compare(state, S, 'V', [&] { return -kith::shift_to_psd(S, {}); });
}

void BM_ShiftToPsdNoisyGaussian(benchmark::State& state) {
  const Matrix S = noisy_gaussian(state.range(0));
  compare(state, S, 'V', [&] { return -kith::shift_to_psd(S, {}); });
}

void ladder(benchmark::internal::Benchmark* b) {
  b->RangeMultiplier(2)->Range(500, 4000)->UseManualTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_SymmetricEigen)->Apply(ladder);
BENCHMARK(BM_SymmetricEigenvaluesOverDsyevdN)->Apply(ladder);
BENCHMARK(BM_PositivePart)->Apply(ladder);
BENCHMARK(BM_SmallestEigenvalueTanh)->Apply(ladder);
BENCHMARK(BM_SmallestEigenvalueNoisyGaussian)->Apply(ladder);
BENCHMARK(BM_ShiftToPsdTanh)->Apply(ladder);
BENCHMARK(BM_ShiftToPsdNoisyGaussian)->Apply(ladder);

}  // namespace
