// SPDX-License-Identifier: Apache-2.0
// Fits a method to a matrix that is in memory, as a C++ program would, and says how long that took:
//   fit_alone MATRIX LABELS METHOD [SETTING=VALUE...]  ->  seconds, the least of three fits
// The time has all that fit() of Python asks of the library: matching, conditioning and the fit.
// One thread; bench/python_fit.py runs it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "kith/data/formats.hpp"
#include "kith/data/labels.hpp"
#include "kith/numerics/blas.hpp"
#include "kith/pipeline/trained_model.hpp"

namespace {

constexpr int kFits = 3;

/// In memory: a file of npy is mapped, and its first reading would count as work.
kith::SimilaritySet read_whole(const char* path, const kith::RunContext& ctx) {
  kith::SimilaritySet set = kith::read_similarity(path, {}, ctx);
  set.block = kith::DenseBlock(kith::RowMatrix(std::get<kith::DenseBlock>(set.block).values()));
  return set;
}

/// The copy of the matrix is made before.
double seconds_of_fit(kith::SimilaritySet set, const std::vector<std::string>& classes,
                      const kith::MethodChoice& choice, kith::RunContext& ctx) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<kith::SimilaritySet> sets;
  sets.push_back(std::move(set));
  const kith::MatchedSets matched = kith::match(std::move(sets));
  const kith::Labels labels = kith::make_labels(classes);
  const kith::Training training =
      kith::train(kith::prepare_training(matched, labels, {}, ctx), choice, ctx);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 4) {
    std::fputs("usage: fit_alone MATRIX LABELS METHOD [SETTING=VALUE...]\n", stderr);
    return 1;
  }
  const kith::BlasThreads one_thread(1);
  kith::RunContext ctx;
  ctx.threads = 1;
  ctx.blas_threads = 1;
  const kith::SimilaritySet set = read_whole(arguments[1], ctx);
  const std::vector<std::string> classes = kith::read_labels(arguments[2]).labels;
  const kith::MethodChoice choice =
      kith::parse_method(arguments[3], std::vector<std::string>(arguments + 4, arguments + count));
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kFits; ++i) {
    least = std::min(least, seconds_of_fit(set, classes, choice, ctx));
  }
  std::printf("%.6f\n", least);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
