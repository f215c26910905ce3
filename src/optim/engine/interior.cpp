// SPDX-License-Identifier: Apache-2.0
#include "optim/engine/interior.hpp"

#include <algorithm>
#include <limits>

#include "numerics/lapack.hpp"

namespace kith::engine {

double largest_step(const MatrixRef& x, const MatrixRef& dx) {
  double step = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (dx(i, j) < 0) step = std::min(step, -x(i, j) / dx(i, j));
    }
  }
  return step;
}

Vector box_centre(const Vector& cost, const Vector& y) {
  const double positive = cost.dot((y.array() > 0).cast<double>().matrix());
  const double negative = cost.sum() - positive;
  const double least = 0.5 * std::min(positive, negative);
  Vector a = cost;
  for (Index i = 0; i < a.size(); ++i) a(i) *= least / (y(i) > 0 ? positive : negative);
  return a;
}

bool factor_with_ridge(Matrix& H) {
  constexpr double kSmallestRidge = 1e-15;  // of the largest diagonal entry, where Cholesky fails
  const Vector diagonal = H.diagonal();
  const Matrix before = H;
  const int size = static_cast<int>(H.rows());
  for (double ridge = 0; ridge <= 1e-8; ridge = std::max(kSmallestRidge, 100 * ridge)) {
    if (ridge > 0) {
      H = before;
      H.diagonal() = diagonal * (1 + ridge);
      H.diagonal().array() += ridge * diagonal.maxCoeff();
    }
    int info = 0;
    dpotrf_("L", &size, H.data(), &size, &info);
    if (info == 0 && H.diagonal().allFinite()) return true;
  }
  return false;
}

}  // namespace kith::engine
