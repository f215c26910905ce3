// SPDX-License-Identifier: Apache-2.0
// Symmetric matrices with known troubles, shared by the tests of this layer.
#pragma once

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/core/types.hpp"

namespace kith::test {

inline Matrix random_matrix(Index rows, Index cols, Rng& rng) {
  return Matrix::NullaryExpr(rows, cols, [&](Index, Index) { return rng.normal(); });
}

inline Matrix symmetrised(const Matrix& A) { return 0.5 * (A + A.transpose()); }

inline Matrix random_symmetric(Index n, std::uint64_t seed) {
  Rng rng(seed);
  return symmetrised(random_matrix(n, n, rng));
}

/// tanh of a Gram matrix of rank 10: few large eigenvalues, many small ones of both signs.
inline Matrix tanh_matrix(Index n, double scale, std::uint64_t seed) {
  Rng rng(seed);
  const Matrix X = scale * random_matrix(n, 10, rng);
  return (X * X.transpose()).array().tanh();
}

/// A Gaussian kernel plus symmetric noise, whose negative end is a dense semicircle edge.
inline Matrix noisy_gaussian(Index n, double noise, std::uint64_t seed) {
  Rng rng(seed);
  const Matrix X = random_matrix(n, 10, rng);
  Matrix S = 2 * X * X.transpose();
  const Vector squares = X.rowwise().squaredNorm();
  S.colwise() -= squares;
  S.rowwise() -= squares.transpose();
  S = (S / 20).array().exp();
  const Matrix E = random_matrix(n, n, rng);
  return S + noise * symmetrised(E);
}

/// Q diag(lambda) Q' with a random orthogonal Q.
inline Matrix with_spectrum(const Vector& lambda, std::uint64_t seed) {
  Rng rng(seed);
  const Matrix A = random_matrix(lambda.size(), lambda.size(), rng);
  const Matrix Q = Eigen::HouseholderQR<Matrix>(A).householderQ();
  return symmetrised(Q * lambda.asDiagonal() * Q.transpose());
}

struct NamedMatrix {
  std::string name;
  Matrix S;
};

/// One of each kind, n x n; n >= 2.
inline std::vector<NamedMatrix> troubled_matrices(Index n, std::uint64_t seed) {
  const Matrix base = random_symmetric(n, seed);
  const Vector v = base.col(0);
  Matrix duplicate = base;
  duplicate.row(1) = duplicate.row(0);
  duplicate.col(1) = duplicate.col(0);
  duplicate(1, 1) = duplicate(0, 0);
  Vector repeated = Vector::Constant(n, 1);
  repeated.head(n / 2).setConstant(-3);
  Vector clustered = Vector::LinSpaced(n, -1, 1);
  clustered.head(n / 3).setConstant(-1);
  for (Index i = 0; i < n / 3; ++i) clustered[i] += 1e-12 * static_cast<double>(i);
  return {{"random", base},
          {"zero", Matrix::Zero(n, n)},
          {"identity", Matrix::Identity(n, n)},
          {"diagonal", Matrix(base.diagonal().asDiagonal())},
          {"constant", Matrix::Constant(n, n, 0.7)},
          {"negative rank one", -v * v.transpose()},
          {"duplicate rows", duplicate},
          {"two values", with_spectrum(repeated, seed + 1)},
          {"clustered", with_spectrum(clustered, seed + 2)},
          {"huge", base * 1e150},
          {"tiny", base * 1e-150},
          {"tanh", tanh_matrix(n, 1, seed)},
          {"noisy gaussian", noisy_gaussian(n, 0.05, seed)}};
}

/// Largest |eigenvalue| bound used to scale tolerances: the largest row sum.
inline double row_sum_norm(const Matrix& S) {
  return S.size() == 0 ? 0 : S.cwiseAbs().rowwise().sum().maxCoeff();
}

/// n eps ||S||: what a backward stable method may leave behind, up to a small factor.
inline double rounding(const Matrix& S) {
  return static_cast<double>(std::max<Index>(S.rows(), 10)) *
         std::numeric_limits<double>::epsilon() * row_sum_norm(S);
}

}  // namespace kith::test
