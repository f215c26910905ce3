// SPDX-License-Identifier: Apache-2.0
// Symmetric eigenproblems over a ladder of n, one BLAS thread.
#include <benchmark/benchmark.h>

#include "kith/core/rng.hpp"
#include "kith/numerics/blas.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace {

kith::Matrix random_symmetric(kith::Index n) {
  kith::Rng rng(1);
  kith::Matrix S(n, n);
  for (kith::Index j = 0; j < n; ++j) {
    for (kith::Index i = j; i < n; ++i) S(i, j) = S(j, i) = rng.normal();
  }
  return S;
}

void BM_SymmetricEigen(benchmark::State& state) {
  const kith::BlasThreads one(1);
  const kith::Matrix S = random_symmetric(state.range(0));
  for (auto step : state) benchmark::DoNotOptimize(kith::symmetric_eigen(S));
}
BENCHMARK(BM_SymmetricEigen)->RangeMultiplier(2)->Range(250, 2000)->Unit(benchmark::kMillisecond);

void BM_SymmetricEigenvalues(benchmark::State& state) {
  const kith::BlasThreads one(1);
  const kith::Matrix S = random_symmetric(state.range(0));
  for (auto step : state) benchmark::DoNotOptimize(kith::symmetric_eigenvalues(S));
}
BENCHMARK(BM_SymmetricEigenvalues)
    ->RangeMultiplier(2)
    ->Range(250, 2000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
