// SPDX-License-Identifier: Apache-2.0
// Notation: poles lambda_k, distinct, with weights zeta_k > 0; roots d_k, lambda_k < d_k <
// lambda_{k+1}, of 1 = sum_k zeta_k^2 / (d - lambda_k). In a set of equal values z is turned, by a
// reflection, into zeta e_1 with zeta its norm: the first member is the pole, the others keep their
// value and an eigenvector inside the set.
#include "kith/numerics/rank_one_update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/errors.hpp"
#include "numerics/lapack.hpp"

namespace kith {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// The poles that take part, each with its set of equal values.
struct Poles {
  std::vector<Index> begin, size;
  Vector at;
  Vector weight;  // zeta
};

/// Fills the diagonal blocks of W with the reflections of the sets of equal values.
Poles poles_of(const Vector& lambda, const std::vector<Index>& cluster_begin, const VectorRef& z,
               Matrix& W) {
  // What is smaller cannot show in any sum of squares.
  constexpr double kSmallest = 1e-150;  // whose square is a normal number
  const double nothing = std::max(kSmallest, 1e-3 * kEps * z.norm());
  Poles poles;
  std::vector<double> weights;
  for (std::size_t c = 0; c + 1 < cluster_begin.size(); ++c) {
    const Index begin = cluster_begin[c];
    const Index size = cluster_begin[c + 1] - begin;
    auto block = W.block(begin, begin, size, size);
    block.setIdentity();
    const double zeta = z.segment(begin, size).norm();
    if (!(zeta > nothing)) continue;
    poles.begin.push_back(begin);
    poles.size.push_back(size);
    weights.push_back(zeta);
    // I - 2 v v' / v'v with v = e_1 - z / zeta has first column z / zeta.
    Vector v = -z.segment(begin, size) / zeta;
    v(0) += 1;
    const double square = v.squaredNorm();
    if (square > 0) block -= (2 / square) * v * v.transpose();
  }
  poles.weight = Eigen::Map<const Vector>(weights.data(), std::ssize(weights));
  poles.at = lambda(poles.begin);
  return poles;
}

/// The closed form for two poles.
void two_roots(const Poles& poles, Matrix& gap) {
  const double a = poles.at(1) - poles.at(0);
  const double r0 = poles.weight(0) * poles.weight(0);
  const double r1 = poles.weight(1) * poles.weight(1);
  // x = d - lambda_0 solves x^2 - (a + r0 + r1) x + a r0 = 0, t = d - lambda_1 solves
  // t^2 + (a - r0 - r1) t - a r1 = 0.
  const double sum = a + r0 + r1;
  const double x1 = 0.5 * (sum + std::sqrt((a - r0 + r1) * (a - r0 + r1) + 4 * r0 * r1));
  const double p = a - r0 - r1;
  const double root = std::sqrt(p * p + 4 * a * r1);
  const double t1 = p > 0 ? 2 * a * r1 / (p + root) : 0.5 * (root - p);
  gap(0, 0) = a * r0 / x1;
  gap(1, 0) = -a * r1 / t1;
  gap(0, 1) = x1;
  gap(1, 1) = t1;
}

/// gap(j, i) = d_i - lambda_j, each to full relative accuracy.
Matrix root_gaps(const Poles& poles) {
  const auto k = static_cast<int>(poles.at.size());
  Matrix gap(k, k);
  if (k == 1) {
    gap(0, 0) = poles.weight(0) * poles.weight(0);
  } else if (k == 2) {
    two_roots(poles, gap);
  } else {
    const double norm = poles.weight.norm();
    const Vector unit = poles.weight / norm;
    const double rho = norm * norm;
    if (rho < 1e-3 * kEps * kEps * poles.at.cwiseAbs().maxCoeff()) {
      // Far below what separates two poles: LAPACK gives up, and the first order is exact.
      for (int i = 0; i < k; ++i) gap.col(i) = poles.at(i) - poles.at.array();
      gap.diagonal() = poles.weight.cwiseAbs2();
      return gap;
    }
    for (int i = 1; i <= k; ++i) {
      double value = 0;
      int info = 0;
      dlaed4_(&k, &i, poles.at.data(), unit.data(), gap.col(i - 1).data(), &rho, &value, &info);
      if (info != 0) {
        throw Error(ErrorCode::kInternal,
                    fmt::format("LAPACK's secular equation solver failed on root {} of {}", i, k));
      }
    }
    gap = -gap;
  }
  return gap;
}

/// The weights for which the computed roots are exact: zeta_k^2 = prod_i (d_i - lambda_k) /
/// prod_{i != k} (lambda_i - lambda_k).
Vector loewner_weights(const Poles& poles, const Matrix& gap) {
  const Index k = poles.at.size();
  Vector squares = gap.diagonal();
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      if (i != j) squares(j) *= gap(j, i) / (poles.at(i) - poles.at(j));
    }
  }
  return squares.cwiseAbs().cwiseSqrt();
}

}  // namespace

RankOneUpdater::RankOneUpdater(Vector lambda) : lambda_(std::move(lambda)) {
  const Index n = lambda_.size();
  const double close = n > 0 ? 8 * kEps * lambda_.cwiseAbs().maxCoeff() : 0;
  for (Index i = 0; i < n; ++i) {
    if (cluster_begin_.empty() || lambda_(i) - lambda_(cluster_begin_.back()) > close) {
      cluster_begin_.push_back(i);
    } else {
      lambda_(i) = lambda_(cluster_begin_.back());
    }
  }
  cluster_begin_.push_back(n);
}

RankOneDecomposition RankOneUpdater::update(const VectorRef& z) const {
  if (!std::isfinite(z.squaredNorm())) {
    throw invalid("a rank-one update whose square is beyond the range of numbers");
  }
  const Index n = lambda_.size();
  if (z.size() != n || !z.allFinite()) {
    throw invalid(
        "a rank-one update of {} eigenvalues by a vector of {} entries; it "
        "must have as many, all finite",
        n, z.size());
  }
  RankOneDecomposition result{.value = lambda_,
                              .rise = Vector::Zero(n),
                              .W = Matrix::Zero(n, n),
                              .product = Vector::Zero(n)};
  const Poles poles = poles_of(lambda_, cluster_begin_, z, result.W);
  if (poles.at.size() == 0) return result;
  const Matrix gap = root_gaps(poles);
  const Vector zeta = loewner_weights(poles, gap);
  for (Index i = 0; i < poles.at.size(); ++i) {
    const Index own = poles.begin[static_cast<std::size_t>(i)];
    const Vector ratios = zeta.cwiseQuotient(gap.col(i));
    const double length = ratios.norm();
    result.rise(own) = gap(i, i);
    result.value(own) = poles.at(i) + gap(i, i);
    result.product(own) = 1 / length;  // zeta' ratios = 1: the secular equation
    for (Index j = 0; j < poles.at.size(); ++j) {
      const Index begin = poles.begin[static_cast<std::size_t>(j)];
      const Index size = poles.size[static_cast<std::size_t>(j)];
      const double share = ratios(j) / (length * poles.weight(j));
      for (Index m = begin; m < begin + size; ++m) result.W(m, own) = share * z(m);
    }
  }
  return result;
}

}  // namespace kith
