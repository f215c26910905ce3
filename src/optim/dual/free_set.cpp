// SPDX-License-Identifier: Apache-2.0
#include "optim/dual/free_set.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/lapack.hpp"

namespace kith::dual {
namespace {

constexpr double kSmallestRidge = 1e-10;  // of the trace: leaves directions six digits
constexpr double kLargestRidge = 1e-8;    // of the trace: below it, indefinite is indefinite
constexpr Index kMostUpdates = 50;        // besides one per member, before factoring anew

// The factor grows and shrinks inside a larger matrix: numerics/cholesky has no such stride.

/// x = L^-1 x or L^-T x with the leading block of L. BLAS, for its vector width; Eigen's own loops
/// are compiled for the oldest processor.
void solve_triangle(const char* transposed, const Matrix& L, Vector& x) {
  const int size = static_cast<int>(x.size());
  const int stride = static_cast<int>(L.rows());
  const int one = 1;
  dtrsv_("L", transposed, "N", &size, L.data(), &stride, x.data(), &one);
}

}  // namespace

void FreeSet::reserve(Index size) {
  if (L_.rows() >= size) return;
  Matrix larger(size + size / 4 + 32, size + size / 4 + 32);
  const Index f = static_cast<Index>(members_.size());
  if (f > 0) larger.topLeftCorner(f, f) = L_.topLeftCorner(f, f);
  L_ = std::move(larger);
}

bool FreeSet::factor(std::vector<Index> members, const Column& column) {
  members_.clear();
  const auto f = static_cast<Index>(members.size());
  reserve(f);
  members_ = std::move(members);
  double trace = 0;
  for (const Index k : members_) trace += column(k)[k];
  if (!(trace > 0)) return false;
  const int size = static_cast<int>(f);
  const int stride = static_cast<int>(L_.rows());
  for (ridge_ = kSmallestRidge * trace; ridge_ <= kLargestRidge * trace; ridge_ *= 100) {
    for (Index a = 0; a < f; ++a) {
      const double* source = column(members_[std::size_t(a)]);
      for (Index b = a; b < f; ++b) L_(b, a) = source[members_[std::size_t(b)]];
      L_(a, a) += ridge_;
    }
    int info = 0;
    dpotrf_("L", &size, L_.data(), &stride, &info);
    if (info == 0) {
      weights_.assign(members_.size(), ridge_);
      updates_ = 0;
      return true;
    }
  }
  return false;
}

bool FreeSet::enter(Index k, const Column& column) {
  const Index f = size();
  const auto renew = [&] {
    std::vector<Index> all = members_;
    all.push_back(k);
    return factor(std::move(all), column);
  };
  if (++updates_ > kMostUpdates + f) return renew();
  reserve(f + 1);
  const double* source = column(k);
  Vector row(f);
  for (Index a = 0; a < f; ++a) row[a] = source[members_[std::size_t(a)]];
  if (f > 0) solve_triangle("N", L_, row);
  const double pivot = source[k] + ridge_ - row.squaredNorm();
  // Dependent on the others to rounding: a larger weight keeps the factor safe, and the step stays
  // a proximal one.
  const double floor = std::max(ridge_, 1e-14 * source[k]);
  if (pivot < -floor) return renew();
  weights_.push_back(ridge_ + std::max(0.0, floor - pivot));
  L_.row(f).head(f) = row;
  L_(f, f) = std::sqrt(std::max(pivot, floor));
  members_.push_back(k);
  return true;
}

void FreeSet::leave(Index at) {
  const Index f = size();
  ++updates_;
  members_.erase(members_.begin() + at);
  weights_.erase(weights_.begin() + at);
  for (Index c = 0; c < f; ++c) {
    double* column = L_.col(c).data();
    std::copy(column + std::max(at + 1, c), column + f, column + std::max(at + 1, c) - 1);
  }
  // Rows have moved up by one, so columns from `at` on hold one entry above the diagonal; rotating
  // neighbouring columns removes it. Entry (c, c+1) lies above the diagonal of column c + 1.
  for (Index c = at; c + 1 < f; ++c) {
    double* left = L_.col(c).data();
    double* right = L_.col(c + 1).data();
    const double radius = std::hypot(left[c], right[c]);
    double cosine = left[c] / radius;
    double sine = right[c] / radius;
    int rows = static_cast<int>(f - 1 - c);
    int one = 1;
    drot_(&rows, left + c, &one, right + c, &one, &cosine, &sine);
  }
}

void FreeSet::direction(const Vector& g, Vector& d, double& rho) const {
  const Index f = size();
  const auto solve = [&](Vector& x) {
    solve_triangle("N", L_, x);
    solve_triangle("T", L_, x);
  };
  d = g;
  Vector ones = Vector::Ones(f);
  solve(d);
  solve(ones);
  const double total = ones.sum();
  rho = d.sum() / total;
  d = rho * ones - d;
  // Where K_FF is nearly singular both solutions are huge and their difference is not exact: a
  // second look at the sum, then the rest of it to the component whose rounding hides it.
  const double excess = d.sum() / total;
  rho -= excess;
  d -= excess * ones;
  Index largest = 0;
  d.cwiseAbs().maxCoeff(&largest);
  d[largest] -= d.sum();
}

}  // namespace kith::dual
