// SPDX-License-Identifier: Apache-2.0
// Problems of kernels of a given trace, for the tests of their solvers.
#pragma once

#include <vector>

#include "dual_problems.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/optim/trace/kernel.hpp"

namespace kith::testing_support {

/// Matrices over the same samples, and the problem of learning kernels from them.
struct TraceKernelData {
  std::vector<Matrix> S;
  Vector y;
  [[nodiscard]] trace::Problem problem(trace::KernelShape shape, trace::KernelLoss loss, double rho,
                                       double cost = 1) const {
    trace::Problem found{.S = S, .y = y, .cost = Vector::Constant(y.size(), cost)};
    found.rho = rho;
    found.trace = S[0].trace();
    found.loss = loss;
    found.shape = shape;
    return found;
  }
};

/// m Gaussian kernels, each with symmetric noise of its own.
inline TraceKernelData noisy_kernels(Index n, Index m, std::uint64_t seed, double noise = 0.2) {
  Rng rng(seed);
  TraceKernelData data;
  data.y = random_labels(rng, n);
  for (Index i = 0; i < m; ++i) {
    data.S.emplace_back(gaussian_kernel(rng, data.y) + noise * random_symmetric(rng, n));
  }
  return data;
}

inline Matrix matrix_of(const SymmetricEigen& kernel) {
  return reconstruct(kernel.U, kernel.lambda);
}

inline constexpr trace::KernelShape kShapes[] = {
    trace::KernelShape::kShared, trace::KernelShape::kSeparate, trace::KernelShape::kSpectral};

}  // namespace kith::testing_support
