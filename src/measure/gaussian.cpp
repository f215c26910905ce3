// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/gaussian.hpp"

#include <cassert>
#include <cmath>

#include "kith/core/parallel.hpp"
#include "kith/data/block.hpp"

namespace kith {
namespace {

constexpr std::size_t kGaussianRowsPerUnit = 8;

using Rows = Eigen::Ref<const RowMatrix>;

double value_of(const Rows& X, Index i, const Rows& Z, Index j, double gamma) {
  const double* x = X.data() + i * X.outerStride();
  const double* z = Z.data() + j * Z.outerStride();
  double squares = 0;
  for (Index k = 0; k < X.cols(); ++k) squares += (x[k] - z[k]) * (x[k] - z[k]);
  return std::exp(-gamma * squares);
}

}  // namespace

RowMatrix gaussian_matrix(const Eigen::Ref<const RowMatrix>& X, double gamma,
                          const RunContext& ctx) {
  const Index n = X.rows();
  check_dense_fits(n, n);
  RowMatrix K(n, n);
  parallel_chunks(static_cast<std::size_t>(n), kGaussianRowsPerUnit, ctx.threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (auto i = static_cast<Index>(begin); i < static_cast<Index>(end); ++i) {
                      ctx.check_stop();
                      for (Index j = i; j < n; ++j) {
                        K(i, j) = value_of(X, i, X, j, gamma);
                        K(j, i) = K(i, j);
                      }
                    }
                  });
  return K;
}

RowMatrix gaussian_matrix(const Eigen::Ref<const RowMatrix>& queries,
                          const Eigen::Ref<const RowMatrix>& training, double gamma,
                          const RunContext& ctx) {
  assert(queries.cols() == training.cols() && "the caller has matched the dimensions");
  check_dense_fits(queries.rows(), training.rows());
  RowMatrix K(queries.rows(), training.rows());
  parallel_chunks(static_cast<std::size_t>(queries.rows()), kGaussianRowsPerUnit, ctx.threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (auto i = static_cast<Index>(begin); i < static_cast<Index>(end); ++i) {
                      ctx.check_stop();
                      for (Index j = 0; j < training.rows(); ++j) {
                        K(i, j) = value_of(queries, i, training, j, gamma);
                      }
                    }
                  });
  return K;
}

void perturb_cy(RowMatrix& K, double xi, Rng rng) {
  assert(K.rows() == K.cols() && "only all pairs of one set are perturbed");
  RowMatrix E(K.rows(), K.cols());
  for (double& entry : E.reshaped<Eigen::RowMajor>()) entry = rng.normal();
  for (Index i = 0; i < K.rows(); ++i) {
    for (Index j = 0; j < K.cols(); ++j) K(i, j) += xi * (0.5 * (E(i, j) + E(j, i)));
  }
}

}  // namespace kith
