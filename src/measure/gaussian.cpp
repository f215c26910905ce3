// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/gaussian.hpp"

#include <cassert>
#include <cmath>

#include "measure/pairs.hpp"

namespace kith {
namespace {

using GaussianRows = Eigen::Ref<const RowMatrix>;

double gaussian_value(const GaussianRows& X, Index i, const GaussianRows& Z, Index j,
                      double gamma) {
  const double* x = X.data() + i * X.outerStride();
  const double* z = Z.data() + j * Z.outerStride();
  double squares = 0;
  for (Index k = 0; k < X.cols(); ++k) squares += (x[k] - z[k]) * (x[k] - z[k]);
  return std::exp(-gamma * squares);
}

}  // namespace

RowMatrix gaussian_matrix(const Eigen::Ref<const RowMatrix>& X, double gamma,
                          const RunContext& ctx) {
  return detail::symmetric_pairs(X.rows(), "Gaussian kernel", ctx, [&](Index i) {
    return [&, i](Index j) { return gaussian_value(X, i, X, j, gamma); };
  });
}

RowMatrix gaussian_matrix(const Eigen::Ref<const RowMatrix>& queries,
                          const Eigen::Ref<const RowMatrix>& training, double gamma,
                          const RunContext& ctx) {
  assert(queries.cols() == training.cols() && "the caller has matched the dimensions");
  return detail::every_pair(queries.rows(), training.rows(), "Gaussian kernel", ctx, [&](Index i) {
    return [&, i](Index j) { return gaussian_value(queries, i, training, j, gamma); };
  });
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
