// SPDX-License-Identifier: Apache-2.0
#include "numerics/indefinite_factor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/errors.hpp"
#include "numerics/lapack.hpp"

namespace kith {
namespace {

/// What dsytrf_rk leaves: L below the diagonal of A, D on it and in `below`.
struct RawFactor {
  Vector below;  // below[i] = D(i + 1, i)
  std::vector<int> swaps;
};

RawFactor factor(Matrix& A) {
  const auto n = static_cast<int>(A.rows());
  RawFactor raw{.below = Vector::Zero(n), .swaps = std::vector<int>(static_cast<std::size_t>(n))};
  int info = 0;
  int size = -1;
  double best = 0;
  dsytrf_rk_("L", &n, A.data(), &n, raw.below.data(), raw.swaps.data(), &best, &size, &info);
  size = static_cast<int>(best);
  std::vector<double> work(static_cast<std::size_t>(std::max(1, size)));
  dsytrf_rk_("L", &n, A.data(), &n, raw.below.data(), raw.swaps.data(), work.data(), &size, &info);
  if (info < 0) throw Error(ErrorCode::kInternal, "LAPACK dsytrf_rk refused its arguments");
  return raw;
}

}  // namespace

IndefiniteFactor::IndefiniteFactor(Matrix A) : L_(std::move(A)) {
  const Index n = L_.rows();
  if (n == 0) return;
  const RawFactor raw = factor(L_);
  order_.resize(static_cast<std::size_t>(n));
  std::iota(order_.begin(), order_.end(), Index{0});
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    const int swap = raw.swaps[static_cast<std::size_t>(i)];
    std::swap(order_[static_cast<std::size_t>(i)],
              order_[static_cast<std::size_t>(std::abs(swap) - 1)]);
    if (swap > 0) {
      const double d = L_(i, i);
      pivots_.push_back({i, false, d, d, 1, 0});
    } else {
      // The second row of the pair has its own swap.
      const Index j = i + 1;
      const int other = raw.swaps[static_cast<std::size_t>(j)];
      std::swap(order_[static_cast<std::size_t>(j)],
                order_[static_cast<std::size_t>(std::abs(other) - 1)]);
      const double a = L_(i, i);
      const double b = raw.below[i];
      const double d = L_(j, j);
      const double angle = 0.5 * std::atan2(2 * b, a - d);  // of the larger eigenvalue
      const double mean = 0.5 * (a + d);
      const double reach = std::hypot(0.5 * (a - d), b);
      pivots_.push_back({i, true, mean - reach, mean + reach, std::cos(angle), std::sin(angle)});
      L_(j, i) = 0;
      ++i;
    }
    const Pivot& last = pivots_.back();
    largest = std::max({largest, std::abs(last.low), std::abs(last.high)});
    negative_ += (last.low < 0 ? 1 : 0) + (last.pair && last.high < 0 ? 1 : 0);
  }
  least_ = std::max(std::numeric_limits<double>::epsilon() * largest,
                    std::numeric_limits<double>::min());
}

void IndefiniteFactor::permute(Eigen::Ref<Matrix> X) const {
  for (Index j = 0; j < X.cols(); ++j) {
    const Vector column = X.col(j);
    for (Index i = 0; i < size(); ++i) X(i, j) = column[order_[static_cast<std::size_t>(i)]];
  }
}

void IndefiniteFactor::permute_back(Eigen::Ref<Matrix> X) const {
  for (Index j = 0; j < X.cols(); ++j) {
    const Vector column = X.col(j);
    for (Index i = 0; i < size(); ++i) X(order_[static_cast<std::size_t>(i)], j) = column[i];
  }
}

void IndefiniteFactor::solve(Eigen::Ref<Matrix> X) const {
  solve_by(X, [](double value, double least) {
    return std::copysign(std::max(std::abs(value), least), value);
  });
}

void IndefiniteFactor::solve_absolute(Eigen::Ref<Matrix> X) const {
  solve_by(X, [](double value, double least) { return std::max(std::abs(value), least); });
}

void IndefiniteFactor::solve_by(Eigen::Ref<Matrix>& X, double (*divisor)(double, double)) const {
  permute(X);
  L_.triangularView<Eigen::UnitLower>().solveInPlace(X);
  const auto size_of = [&](double value) { return divisor(value, least_); };
  for (const Pivot& pivot : pivots_) {
    if (!pivot.pair) {
      X.row(pivot.at) /= size_of(pivot.high);
      continue;
    }
    for (Index j = 0; j < X.cols(); ++j) {
      double& x = X(pivot.at, j);
      double& y = X(pivot.at + 1, j);
      const double along = (pivot.c * x + pivot.s * y) / size_of(pivot.high);
      const double across = (pivot.c * y - pivot.s * x) / size_of(pivot.low);
      x = pivot.c * along - pivot.s * across;
      y = pivot.s * along + pivot.c * across;
    }
  }
  L_.triangularView<Eigen::UnitLower>().transpose().solveInPlace(X);
  permute_back(X);
}

Matrix IndefiniteFactor::negative_directions() const {
  Matrix X = Matrix::Zero(size(), negative_);
  Index column = 0;
  for (const Pivot& pivot : pivots_) {
    if (!pivot.pair) {
      if (pivot.low < 0) X(pivot.at, column++) = 1;
      continue;
    }
    if (pivot.low < 0) {
      X(pivot.at, column) = -pivot.s;
      X(pivot.at + 1, column++) = pivot.c;
    }
    if (pivot.high < 0) {
      X(pivot.at, column) = pivot.c;
      X(pivot.at + 1, column++) = pivot.s;
    }
  }
  L_.triangularView<Eigen::UnitLower>().transpose().solveInPlace(X);
  permute_back(X);
  return X;
}

}  // namespace kith
