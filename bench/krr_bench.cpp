// SPDX-License-Identifier: Apache-2.0
// The whole grid of krr for 1,000 queries against n = 4,000, beside its largest single setting
// (128 neighbours, one ridge) and as many bare 128 x 128 dsyevd calls, all on two threads with one
// BLAS thread each. Prints the best seconds of a few rounds and their ratios.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kith/core/parallel.hpp"
#include "kith/core/rng.hpp"
#include "kith/learn/method_variants.hpp"
#include "kith/learn/neighbours/krr.hpp"
#include "kith/numerics/blas.hpp"

extern "C" void dsyevd_(const char* job, const char* half, const int* n, double* a, const int* lda,
                        double* w, double* work, const int* lwork, int* iwork, const int* liwork,
                        int* info);

namespace {

using kith::Index;

constexpr Index kSamples = 4000;
constexpr Index kQueries = 1000;
constexpr Index kNeighbours = 128;
constexpr int kThreads = 2;
constexpr int kRounds = 5;

/// Four noisy blobs compared by exp(-|x - y|^2 / 10), plus noise of its own that makes it
/// indefinite.
struct Problem {
  kith::TrainingSet train;
  kith::QueryBlock queries;
};

Problem make_problem() {
  constexpr Index kDimensions = 10;
  kith::Rng rng(1);
  kith::RowMatrix X(kSamples + kQueries, kDimensions);
  std::vector<std::string> names;
  for (Index i = 0; i < X.rows(); ++i) {
    const auto blob = static_cast<double>(i % 4);
    for (Index d = 0; d < kDimensions; ++d) X(i, d) = rng.normal() + (d < 4 ? blob : 0);
    if (i < kSamples) names.push_back(std::string(1, static_cast<char>('a' + i % 4)));
  }
  const kith::Vector squares = X.rowwise().squaredNorm();
  kith::RowMatrix S = 2 * X * X.topRows(kSamples).transpose();
  S.colwise() -= squares;
  S.rowwise() -= squares.head(kSamples).transpose();
  S = (S.array() / kDimensions).exp();
  for (Index i = 0; i < S.rows(); ++i) {
    for (Index j = 0; j < std::min(i, kSamples); ++j) {
      S(i, j) += 0.02 * rng.normal();
      if (i < kSamples) S(j, i) = S(i, j);
    }
  }
  Problem problem;
  problem.train.labels = kith::make_labels(names);
  problem.train.matrices.push_back({"s", kith::DenseBlock(kith::RowMatrix(S.topRows(kSamples)))});
  problem.queries.matrices.push_back(
      {.to_training = kith::DenseBlock(kith::RowMatrix(S.bottomRows(kQueries)))});
  return problem;
}

std::vector<kith::KrrSettings> whole_grid(kith::Spectrum spectrum) {
  const std::vector<kith::GridAxis> axes =
      kith::MethodTraits<kith::KrrSettings>::grid(kith::KrrSettings{});
  std::vector<kith::KrrSettings> grid;
  for (const std::string& k : axes[0].values) {
    for (const std::string& ridge : axes[1].values) {
      grid.push_back({.neighbours = std::stol(k), .ridge = std::stod(ridge), .spectrum = spectrum});
    }
  }
  return grid;
}

std::vector<kith::KrrModel> models_of(kith::SharedWork& work,
                                      const std::vector<kith::KrrSettings>& settings,
                                      kith::RunContext& ctx) {
  std::vector<kith::KrrModel> models;
  for (auto& one : fit_path(work, std::span<const kith::KrrSettings>(settings), ctx)) {
    models.push_back(std::move(one.model));
  }
  return models;
}

/// 1,000 calls on the blocks of as many queries; copying a block is part of it, since dsyevd
/// overwrites.
void bare_calls(const std::vector<kith::Matrix>& blocks) {
  const int n = static_cast<int>(kNeighbours);
  const int lwork = 1 + 6 * n + 2 * n * n;
  const int liwork = 3 + 5 * n;
  kith::parallel_chunks(static_cast<std::size_t>(kQueries), 8, kThreads,
                        [&](std::size_t begin, std::size_t end) {
                          std::vector<double> work(static_cast<std::size_t>(lwork));
                          std::vector<int> iwork(static_cast<std::size_t>(liwork));
                          kith::Vector w(n);
                          kith::Matrix A;
                          int info = 0;
                          for (std::size_t i = begin; i < end; ++i) {
                            A = blocks[i];
                            dsyevd_("V", "L", &n, A.data(), &n, w.data(), work.data(), &lwork,
                                    iwork.data(), &liwork, &info);
                          }
                        });
}

double seconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
  kith::BlasThreads one_each(1);
  kith::RunContext ctx;
  ctx.threads = kThreads;
  const Problem problem = make_problem();
  kith::SharedWork work(problem.train);
  const kith::NeighbourRows rows(problem.queries.matrices.front());
  const kith::TieOrder ties = kith::tie_order(kSamples, kith::TieRule::kFile, ctx);
  const kith::TrainingPairs pairs{work.train().matrices.front().block};
  std::vector<kith::Matrix> blocks;
  for (Index q = 0; q < kQueries; ++q) {
    blocks.push_back(pairs.among(rows.nearest(q, kNeighbours, ties).samples));
  }
  const std::vector<kith::KrrModel> grid = models_of(work, whole_grid(kith::Spectrum::kNone), ctx);
  const std::vector<kith::KrrModel> largest = models_of(work, {{.neighbours = kNeighbours}}, ctx);
  const auto predict = [&](const std::vector<kith::KrrModel>& models) {
    (void)predict_path(std::span<const kith::KrrModel>(models), problem.queries, ctx);
  };
  const std::array<std::function<void()>, 3> runs = {
      [&] { predict(grid); }, [&] { predict(largest); }, [&] { bare_calls(blocks); }};
  std::array<double, 3> best;
  best.fill(std::numeric_limits<double>::infinity());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) best[i] = std::min(best[i], seconds(runs[i]));
  }
  std::printf("krr, %td queries, n = %td, %d threads, best of %d\n", kQueries, kSamples, kThreads,
              kRounds);
  std::printf("whole grid (%zu settings)       %7.3f s\n", grid.size(), best[0]);
  std::printf("largest setting (k = %td)      %7.3f s\n", kNeighbours, best[1]);
  std::printf("bare dsyevd, %td x %td         %7.3f s\n", kNeighbours, kNeighbours, best[2]);
  std::printf("whole grid / largest setting   %7.2f\n", best[0] / best[1]);
  std::printf("largest setting / bare dsyevd  %7.2f\n", best[1] / best[2]);
}
