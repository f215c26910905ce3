// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/blas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/numerics/extreme_eigen.hpp"
#include "kith/numerics/psd.hpp"
#include "matrices.hpp"

namespace kith::blas_test {
namespace {

TEST(Blas, DescribesItself) { EXPECT_FALSE(blas_description().empty()); }

TEST(Blas, RunsNoKernelsWithoutAvxWhereTheProcessorHasIt) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2";
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) GTEST_SKIP() << "OPENBLAS_CORETYPE is set";
  for (const char* old : {"Prescott", "Core2", "Penryn", "Nehalem"}) {
    EXPECT_THAT(blas_description(), testing::Not(testing::HasSubstr(old)));
  }
#else
  GTEST_SKIP() << "only processors of the x86-64 family have AVX";
#endif
}

TEST(BlasThreads, RestoreWhatWasBefore) {
  const int before = blas_threads();
  if (before == 0) GTEST_SKIP() << "this BLAS does not tell its number of threads";
  {
    const BlasThreads one(1);
    EXPECT_EQ(blas_threads(), 1);
    {
      const BlasThreads two(2);
      EXPECT_EQ(blas_threads(), 2);
    }
    EXPECT_EQ(blas_threads(), 1);
    try {
      const BlasThreads two(2);
      throw Error(ErrorCode::kInternal, "unwinding restores too");
    } catch (const Error&) {
    }
    EXPECT_EQ(blas_threads(), 1);
  }
  EXPECT_EQ(blas_threads(), before);
}

TEST(BlasThreads, RefuseNone) {
  const int before = blas_threads();
  EXPECT_THROW(BlasThreads(0), Error);
  EXPECT_THROW(BlasThreads(-1), Error);
  EXPECT_EQ(blas_threads(), before);
}

/// What one unit of a parallel run computes: a decomposition, a product and a search.
struct Outcome {
  Matrix U;
  Matrix clipped;
  double smallest;
};

std::vector<Outcome> run_units(int threads) {
  std::vector<Outcome> results(4);
  parallel_for(results.size(), threads, [&](std::size_t i) {
    const Matrix S = test::tanh_matrix(201 + static_cast<Index>(i), 1, i);
    results[i].U = symmetric_eigen(S).U;
    results[i].clipped = positive_part(S);
    results[i].smallest = smallest_eigenvalue(S, {}).lower;
  });
  return results;
}

TEST(BlasThreads, GiveTheSameBytesInsideParallelLoopsOfAnyWidth) {
  for (const int blas : {1, 2}) {
    const BlasThreads held(blas);
    const std::vector<Outcome> alone = run_units(1);
    for (const int threads : {2, 7}) {
      const std::vector<Outcome> shared = run_units(threads);
      for (std::size_t i = 0; i < alone.size(); ++i) {
        EXPECT_EQ(alone[i].U, shared[i].U) << blas << " " << threads << " " << i;
        EXPECT_EQ(alone[i].clipped, shared[i].clipped) << blas << " " << threads << " " << i;
        EXPECT_EQ(alone[i].smallest, shared[i].smallest) << blas << " " << threads << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace kith::blas_test
