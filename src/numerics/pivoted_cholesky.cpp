// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/pivoted_cholesky.hpp"

#include <Eigen/Dense>
#include <limits>

#include "core/errors.hpp"
#include "kith/core/shape.hpp"
#include "numerics/lapack.hpp"

namespace kith {

PivotedFactor pivoted_cholesky(Matrix K) {
  check_square("the matrix to factor", K.rows(), K.cols());
  if (K.rows() > std::numeric_limits<int>::max() || !K.allFinite()) {
    throw invalid(
        "the matrix to factor has {} rows; its entries must be finite, and the rows at "
        "most {}",
        K.rows(), std::numeric_limits<int>::max());
  }
  const auto n = static_cast<int>(K.rows());
  PivotedFactor factor;
  if (n == 0) return factor;
  const double tolerance = 8 * std::numeric_limits<double>::epsilon() * K.trace();
  std::vector<int> order(static_cast<std::size_t>(n));
  std::vector<double> work(2 * static_cast<std::size_t>(n));
  int rank = 0;
  int info = 0;
  if (tolerance > 0) {
    dpstrf_("L", &n, K.data(), &n, order.data(), &rank, &tolerance, work.data(), &info);
  }
  factor.X.resize(n, rank);
  for (Index k = 0; k < n && rank > 0; ++k) {
    const Index row = order[static_cast<std::size_t>(k)] - 1;
    const Index filled = std::min<Index>(k + 1, rank);
    factor.X.row(row).head(filled) = K.row(k).head(filled);
    factor.X.row(row).tail(rank - filled).setZero();
    if (k < rank) factor.pivots.push_back(row);
  }
  return factor;
}

Vector over_pivots(const PivotedFactor& factor, const VectorRef& w) {
  Vector c = Vector::Zero(factor.X.rows());
  if (factor.pivots.empty()) return c;
  const Matrix L = factor.X(factor.pivots, Eigen::all);
  const Vector solved = L.triangularView<Eigen::Lower>().transpose().solve(w);
  c(factor.pivots) = solved;
  return c;
}

}  // namespace kith
