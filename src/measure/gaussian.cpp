// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/gaussian.hpp"

#include <cassert>
#include <cmath>

#include "measure/pairs.hpp"
#include "measure/table_row.hpp"

namespace kith {
namespace {

using detail::DenseRow;
using detail::SparseRow;
using detail::table_row;

double squared_distance(const DenseRow& x, const DenseRow& z) {
  double squares = 0;
  for (Index k = 0; k < x.size; ++k) {
    squares += (x.values[k] - z.values[k]) * (x.values[k] - z.values[k]);
  }
  return squares;
}

double squared_distance(const SparseRow& x, const SparseRow& z) {
  return detail::row_sum(x, z, [](double a, double b) { return (a - b) * (a - b); });
}

template <class Table>
RowMatrix gaussian_of_all(const Table& X, double gamma, const RunContext& ctx) {
  return detail::symmetric_pairs(X.rows(), "Gaussian kernel", ctx, [&](Index i) {
    return [&, x = table_row(X, i)](Index j) {
      return std::exp(-gamma * squared_distance(x, table_row(X, j)));
    };
  });
}

template <class Table>
RowMatrix gaussian_of_queries(const Table& queries, const Table& training, double gamma,
                              const RunContext& ctx) {
  return detail::every_pair(queries.rows(), training.rows(), "Gaussian kernel", ctx, [&](Index i) {
    return [&, x = table_row(queries, i)](Index j) {
      return std::exp(-gamma * squared_distance(x, table_row(training, j)));
    };
  });
}

}  // namespace

RowMatrix gaussian_matrix(const Eigen::Ref<const RowMatrix>& X, double gamma,
                          const RunContext& ctx) {
  return gaussian_of_all(X, gamma, ctx);
}

RowMatrix gaussian_matrix(const Eigen::Ref<const RowMatrix>& queries,
                          const Eigen::Ref<const RowMatrix>& training, double gamma,
                          const RunContext& ctx) {
  assert(queries.cols() == training.cols() && "the caller has matched the dimensions");
  return gaussian_of_queries(queries, training, gamma, ctx);
}

RowMatrix gaussian_matrix(const SparseBlock& X, double gamma, const RunContext& ctx) {
  return gaussian_of_all(X, gamma, ctx);
}

RowMatrix gaussian_matrix(const SparseBlock& queries, const SparseBlock& training, double gamma,
                          const RunContext& ctx) {
  return gaussian_of_queries(queries, training, gamma, ctx);
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
