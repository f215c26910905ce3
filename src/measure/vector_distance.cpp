// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/vector_distance.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "measure/pairs.hpp"
#include "measure/table_row.hpp"

namespace kith {
namespace {

using detail::table_row;

/// In a unit in which no square vanishes or overflows.
template <class Row>
double scaled_euclidean(const Row& x, const Row& z) {
  double most = 0;
  static_cast<void>(detail::row_sum(x, z, [&most](double a, double b) {
    most = std::max(most, std::abs(a - b));
    return 0.0;
  }));
  if (most == 0 || !std::isfinite(most)) return most;
  const int exponent = -std::ilogb(most);
  const double sum = detail::row_sum(x, z, [exponent](double a, double b) {
    const double difference = std::ldexp(a - b, exponent);
    return difference * difference;
  });
  return std::ldexp(std::sqrt(sum), -exponent);
}

template <class Row>
double euclidean(const Row& x, const Row& z) {
  constexpr double kLeast = 1e-280;  // squares that vanish beside it are below its last digit
  const double sum = detail::row_sum(x, z, [](double a, double b) { return (a - b) * (a - b); });
  return sum >= kLeast && std::isfinite(sum) ? std::sqrt(sum) : scaled_euclidean(x, z);
}

template <class Row>
double vector_distance(const Row& x, const Row& z, VectorDistance distance, double gamma) {
  if (distance == VectorDistance::kEuclidean) return euclidean(x, z);
  const double sum = detail::row_sum(x, z, [](double a, double b) { return std::abs(a - b); });
  return distance == VectorDistance::kManhattan ? sum : std::exp(-gamma * sum);
}

/// Row i of X against the rows of Z.
template <class Table>
auto distance_row(const Table& X, Index i, const Table& Z, VectorDistance distance, double gamma) {
  return [&Z, x = table_row(X, i), distance, gamma](Index j) {
    return vector_distance(x, table_row(Z, j), distance, gamma);
  };
}

template <class Table>
RowMatrix distances_of_all(const Table& X, VectorDistance distance, double gamma,
                           const RunContext& ctx) {
  return detail::symmetric_pairs(X.rows(), "distances of vectors", ctx,
                                 [&](Index i) { return distance_row(X, i, X, distance, gamma); });
}

template <class Table>
RowMatrix distances_of_queries(const Table& queries, const Table& training, VectorDistance distance,
                               double gamma, const RunContext& ctx) {
  return detail::every_pair(
      queries.rows(), training.rows(), "distances of vectors", ctx,
      [&](Index i) { return distance_row(queries, i, training, distance, gamma); });
}

}  // namespace

RowMatrix vector_distance_matrix(const Eigen::Ref<const RowMatrix>& X, VectorDistance distance,
                                 double gamma, const RunContext& ctx) {
  return distances_of_all(X, distance, gamma, ctx);
}

RowMatrix vector_distance_matrix(const Eigen::Ref<const RowMatrix>& queries,
                                 const Eigen::Ref<const RowMatrix>& training,
                                 VectorDistance distance, double gamma, const RunContext& ctx) {
  assert(queries.cols() == training.cols() && "the caller has matched the dimensions");
  return distances_of_queries(queries, training, distance, gamma, ctx);
}

RowMatrix vector_distance_matrix(const SparseBlock& X, VectorDistance distance, double gamma,
                                 const RunContext& ctx) {
  return distances_of_all(X, distance, gamma, ctx);
}

RowMatrix vector_distance_matrix(const SparseBlock& queries, const SparseBlock& training,
                                 VectorDistance distance, double gamma, const RunContext& ctx) {
  return distances_of_queries(queries, training, distance, gamma, ctx);
}

}  // namespace kith
