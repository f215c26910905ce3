// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/vector_distance.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "measure/lane_sum.hpp"
#include "measure/pairs.hpp"

namespace kith {
namespace {

/// In a unit in which no square vanishes or overflows.
double scaled_euclidean(const double* x, const double* z, Index d) {
  double most = 0;
  for (Index k = 0; k < d; ++k) most = std::max(most, std::abs(x[k] - z[k]));
  if (most == 0 || !std::isfinite(most)) return most;
  const int exponent = -std::ilogb(most);
  const double sum = detail::lane_sum(x, z, d, [exponent](double a, double b) {
    const double difference = std::ldexp(a - b, exponent);
    return difference * difference;
  });
  return std::ldexp(std::sqrt(sum), -exponent);
}

double euclidean(const double* x, const double* z, Index d) {
  constexpr double kLeast = 1e-280;  // squares that vanish beside it are below its last digit
  const double sum =
      detail::lane_sum(x, z, d, [](double a, double b) { return (a - b) * (a - b); });
  return sum >= kLeast && std::isfinite(sum) ? std::sqrt(sum) : scaled_euclidean(x, z, d);
}

double vector_distance(const double* x, const double* z, Index d, VectorDistance distance,
                       double gamma) {
  if (distance == VectorDistance::kEuclidean) return euclidean(x, z, d);
  const double sum = detail::lane_sum(x, z, d, [](double a, double b) { return std::abs(a - b); });
  return distance == VectorDistance::kManhattan ? sum : std::exp(-gamma * sum);
}

/// Row i of X against the rows of Z.
auto distance_row(const Eigen::Ref<const RowMatrix>& X, Index i,
                  const Eigen::Ref<const RowMatrix>& Z, VectorDistance distance, double gamma) {
  return [&Z, x = X.data() + i * X.outerStride(), d = X.cols(), distance, gamma](Index j) {
    return vector_distance(x, Z.data() + j * Z.outerStride(), d, distance, gamma);
  };
}

}  // namespace

RowMatrix vector_distance_matrix(const Eigen::Ref<const RowMatrix>& X, VectorDistance distance,
                                 double gamma, const RunContext& ctx) {
  return detail::symmetric_pairs(X.rows(), "distances of vectors", ctx,
                                 [&](Index i) { return distance_row(X, i, X, distance, gamma); });
}

RowMatrix vector_distance_matrix(const Eigen::Ref<const RowMatrix>& queries,
                                 const Eigen::Ref<const RowMatrix>& training,
                                 VectorDistance distance, double gamma, const RunContext& ctx) {
  assert(queries.cols() == training.cols() && "the caller has matched the dimensions");
  return detail::every_pair(
      queries.rows(), training.rows(), "distances of vectors", ctx,
      [&](Index i) { return distance_row(queries, i, training, distance, gamma); });
}

}  // namespace kith
