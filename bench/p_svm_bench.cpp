// SPDX-License-Identifier: Apache-2.0
// The whole grid of p-svm, 6 epsilons times 5 costs, on one pair of classes
// under a similarity with about as many negative as positive eigenvalues, where epsilon 1e-4 uses
// nearly every column. Counters: Newton steps (one Cholesky factor each) and the worst certificate.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kith/core/rng.hpp"
#include "kith/learn/svm/p_svm.hpp"
#include "kith/numerics/blas.hpp"

namespace {

using kith::Index;

kith::TrainingSet two_classes(Index n) {
  constexpr Index kDimensions = 10;
  kith::Rng rng(1);
  kith::Matrix X(n, kDimensions);
  std::vector<std::string> names;
  for (Index i = 0; i < n; ++i) {
    for (Index d = 0; d < kDimensions; ++d) X(i, d) = rng.normal() + (i % 2 == 0 && d < 3 ? 1 : 0);
    names.emplace_back(i % 2 == 0 ? "a" : "b");
  }
  kith::RowMatrix S = (X * X.transpose() / kDimensions).array().tanh();
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) S(i, j) = S(j, i) = S(i, j) + 0.05 * rng.normal();
  }
  kith::TrainingSet set;
  set.labels = kith::make_labels(names);
  set.matrices.push_back({"S", kith::DenseBlock(std::move(S))});
  return set;
}

std::vector<kith::PSvmSettings> whole_grid() {
  std::vector<kith::PSvmSettings> grid;
  for (int epsilon = -4; epsilon <= 1; ++epsilon) {
    for (int cost = 0; cost <= 4; ++cost) {
      grid.push_back(
          {.epsilon = std::pow(10.0, epsilon), .cost = std::pow(10.0, cost), .probability = false});
    }
  }
  return grid;
}

void run(benchmark::State& state, const std::vector<kith::PSvmSettings>& path) {
  const kith::BlasThreads one(1);
  const kith::TrainingSet set = two_classes(state.range(0));
  kith::RunContext ctx;
  double steps = 0;
  double worst = 0;
  for (auto _ : state) {
    kith::SharedWork work(set);
    const auto fitted = fit_path(work, path, ctx);
    steps = 0;
    for (const auto& one_fit : fitted) {
      steps += static_cast<double>(one_fit.info.iterations());
      worst = std::max({worst, one_fit.info.kkt_residual(), one_fit.info.gap()});
    }
  }
  state.counters["steps"] = steps;
  state.counters["worst"] = worst;
}

void BM_PSvmGrid(benchmark::State& state) { run(state, whole_grid()); }
void BM_PSvmHardest(benchmark::State& state) {
  run(state, {{.epsilon = 1e-4, .cost = 1e4, .probability = false}});
}

BENCHMARK(BM_PSvmGrid)->Arg(435)->Arg(1000)->Arg(2000)->Iterations(1)->Unit(benchmark::kSecond);
BENCHMARK(BM_PSvmHardest)->Arg(435)->Arg(1000)->Arg(2000)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
