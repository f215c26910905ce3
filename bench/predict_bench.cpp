// SPDX-License-Identifier: Apache-2.0
// Predicting 10,000 rows against n training samples beside reading the same rows once.
#include <benchmark/benchmark.h>

#include <numeric>

#include "kith/core/rng.hpp"
#include "kith/learn/svm/kernel_svm.hpp"

namespace {

constexpr kith::Index kRows = 10000;

kith::QueryBlock random_queries(kith::Index n) {
  kith::Rng rng(1);
  kith::RowMatrix rows(kRows, n);
  for (kith::Index i = 0; i < rows.size(); ++i) rows.data()[i] = rng.uniform();
  kith::QueryBlock queries;
  queries.matrices.push_back({.to_training = kith::DenseBlock(std::move(rows))});
  return queries;
}

kith::SvmModel two_class_model(kith::Index n) {
  kith::SvmModel model;
  model.samples = n;
  model.columns.resize(static_cast<std::size_t>(n));
  std::iota(model.columns.begin(), model.columns.end(), kith::Index{0});
  model.tasks = {.classes = 2, .first = {0}, .second = {1}, .present = {0, 1}};
  model.coefficients = kith::SparseColumns(kith::Matrix::Random(n, 1));
  model.intercepts = kith::Vector::Zero(1);
  return model;
}

void BM_PredictRows(benchmark::State& state) {
  const kith::Index n = state.range(0);
  const kith::QueryBlock queries = random_queries(n);
  const kith::SvmModel model = two_class_model(n);
  kith::RunContext ctx;
  for (auto _ : state) benchmark::DoNotOptimize(predict(model, queries, ctx));
  state.SetBytesProcessed(state.iterations() * kRows * n * 8);
}

void BM_ReadRows(benchmark::State& state) {
  const kith::Index n = state.range(0);
  const kith::QueryBlock queries = random_queries(n);
  const auto& block = std::get<kith::DenseBlock>(queries.matrices.front().to_training);
  for (auto _ : state) benchmark::DoNotOptimize(block.values().sum());
  state.SetBytesProcessed(state.iterations() * kRows * n * 8);
}

BENCHMARK(BM_ReadRows)->Arg(1000)->Arg(4000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_PredictRows)->Arg(1000)->Arg(4000)->Unit(benchmark::kMillisecond);

}  // namespace
