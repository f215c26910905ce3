// SPDX-License-Identifier: Apache-2.0
// Dual problems for the tests of this layer. A problem keeps its matrix alive.
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/optim/dual/smo.hpp"

namespace kith::testing_support {

struct OwnedProblem {
  std::shared_ptr<const Matrix> matrix;
  dual::SvmDual dual;
  [[nodiscard]] const Matrix& K() const { return *matrix; }
};

inline OwnedProblem make_problem(Matrix K, Vector y, double cost) {
  auto kept = std::make_shared<const Matrix>(std::move(K));
  const Index n = y.size();
  dual::SvmDual dual{
      dual::SymmetricView::dense(*kept), std::move(y), Vector::Constant(n, cost), {}};
  return {kept, std::move(dual)};
}

inline Matrix normal_matrix(Rng& rng, Index rows, Index columns) {
  Matrix X(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) X(i, j) = rng.normal();
  }
  return X;
}

/// Labels of both classes, in no order; n >= 2.
inline Vector random_labels(Rng& rng, Index n) {
  Vector y(n);
  for (Index i = 0; i < n; ++i) y[i] = rng.uniform() < 0.5 ? -1 : 1;
  y[0] = 1;
  y[n - 1] = -1;
  return y;
}

/// exp(-|x - x'|^2 / d) over points whose first coordinate leans towards their label.
inline Matrix gaussian_kernel(Rng& rng, const Vector& y, Index d = 4) {
  Matrix X = normal_matrix(rng, y.size(), d);
  X.col(0) += y;
  const Vector norms = X.rowwise().squaredNorm();
  Matrix K = 2.0 * X * X.transpose();
  K.colwise() -= norms;
  K.rowwise() -= norms.transpose();
  K = (K / static_cast<double>(d)).array().exp();
  return 0.5 * (K + K.transpose());
}

/// The optimum of the machine on K, by another method than any interior point.
inline double machine_optimum(const Matrix& K, const Vector& y, const Vector& cost) {
  const dual::SvmDual dual{dual::SymmetricView::dense(K), y, cost, {}};
  return dual::smo(dual, {.tolerance = 1e-9, .gap_tolerance = 1e-11}).info.objective;
}

/// Labels, costs and kernels that a problem can be made of, and what no machine on several kernels
/// may take: one class, a cost of 0, a kernel of another size, no kernel.
struct OwnedKernels {
  std::vector<Matrix> kernels;
  Vector y;
  Vector cost;
};
inline std::vector<OwnedKernels> spoiled(const OwnedKernels& good) {
  std::vector<OwnedKernels> bad(4, good);
  bad[0].y.setOnes();
  bad[1].cost[3] = 0;
  bad[2].kernels[1].resize(9, 9);
  bad[3].kernels.clear();
  return bad;
}

inline Matrix gram(const Matrix& X) { return X * X.transpose(); }

inline Matrix random_symmetric(Rng& rng, Index n) {
  const Matrix A = normal_matrix(rng, n, n);
  return 0.5 * (A + A.transpose());
}

}  // namespace kith::testing_support
