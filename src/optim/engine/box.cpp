// SPDX-License-Identifier: Apache-2.0
#include "optim/engine/box.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "kith/core/error.hpp"

namespace kith::engine {
namespace {

using Eigen::ArrayXd;

double primal(const Vector& cost, double squares, const Vector& margins, double scale) {
  return 0.5 * scale * scale * squares +
         (cost.array() * (1 - scale * margins.array()).max(0.0)).sum();
}

}  // namespace

double best_primal(const Vector& cost, double squares, const Vector& margins) {
  const ArrayXd short_of = 1 - margins.array();
  double best = primal(cost, squares, margins, 1);
  for (const double rounding : {4e-9, 1e-6}) {
    const double worst = (short_of < rounding).select(short_of, 0.0).maxCoeff();
    if (worst > 0) best = std::min(best, primal(cost, squares, margins, 1 / (1 - worst) + 1e-15));
  }
  return best;
}

double stretch(const Vector& reached, const Vector& wanted) {
  constexpr double kMost = 1e-9;
  double most = 0;
  for (Index i = 0; i < reached.size(); ++i) {
    const double missing = wanted[i] - reached[i];
    if (missing > 0 && missing <= kMost * reached[i]) most = std::max(most, missing / reached[i]);
  }
  return most > 0 ? most + 4 * std::numeric_limits<double>::epsilon() : 0.0;
}

void refuse(const std::string& message) { throw Error(ErrorCode::kInvalidArgument, message); }

void check_square(const std::string& what, const MatrixRef& matrix, Index n) {
  if (matrix.rows() != n || matrix.cols() != n) {
    refuse(fmt::format("{} is {} x {}; there are {} signs", what, matrix.rows(), matrix.cols(), n));
  }
  if (!matrix.allFinite()) refuse(what + " is not finite");
}

void check_positive(std::string_view what, double value) {
  if (value > 0 && std::isfinite(value)) return;
  refuse(fmt::format("{} = {}; it is finite and above 0", what, value));
}

void check_signs(const Vector& y, const Vector& cost, Index samples, SignRule rule) {
  if (samples == 0 && rule != SignRule::kAny) refuse("a machine needs at least one sample");
  for (const Vector* v : {&y, &cost}) {
    if (v->size() == samples) continue;
    refuse(fmt::format("{} has {} entries; there are {} samples", v == &y ? "y" : "cost", v->size(),
                       samples));
  }
  for (Index i = 0; i < samples; ++i) {
    if (y[i] != 1 && y[i] != -1) refuse(fmt::format("y[{}] = {}; a sign is +1 or -1", i, y[i]));
    const bool positive = rule == SignRule::kCostMayBeZero ? cost[i] >= 0 : cost[i] > 0;
    if (!positive || !std::isfinite(cost[i])) {
      refuse(fmt::format("cost[{}] = {}; a cost is finite and {}", i, cost[i],
                         rule == SignRule::kCostMayBeZero ? "not negative" : "above 0"));
    }
  }
  if (rule == SignRule::kBothClasses && y.minCoeff() == y.maxCoeff()) {
    refuse("there must be signs of both kinds");
  }
}

void check_machine(std::span<const Matrix> matrices, const Vector& y, const Vector& cost,
                   std::string_view what) {
  const Index n = y.size();
  check_signs(y, cost, n);
  if (matrices.empty()) refuse(fmt::format("there is no {}", what));
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    check_square(fmt::format("{} {}", what, i), matrices[i], n);
  }
}

double infeasibility(const Vector& y, const Vector& cost, const VectorRef& alpha) {
  const double outside =
      std::max({std::abs(y.dot(alpha)), -alpha.minCoeff(), (alpha - cost).maxCoeff()});
  return outside / cost.maxCoeff();
}

Vector at_bounds(const Vector& y, const Vector& cost, Vector alpha) {
  constexpr double kNear = 1e-10;
  const double largest = alpha.maxCoeff();
  ArrayXd room(alpha.size());  // to the nearer bound, 0 at a bound
  for (Index j = 0; j < alpha.size(); ++j) {
    if (alpha[j] <= kNear * largest) alpha[j] = 0;
    if (cost[j] - alpha[j] <= kNear * largest) alpha[j] = cost[j];
    room[j] = std::min(alpha[j], cost[j] - alpha[j]);
  }
  if (room.sum() > 0) alpha.array() -= y.array() * room * (y.dot(alpha) / room.sum());
  return alpha;
}

Vector balanced(const Vector& y, Vector a) {
  const double positive = a.dot(y.cwiseMax(0.0));
  const double negative = a.sum() - positive;
  const double least = std::min(positive, negative);
  for (Index i = 0; i < a.size(); ++i) {
    const double own = y(i) > 0 ? positive : negative;
    if (own > least) a(i) *= least / own;
  }
  return a;
}

Vector into_box(const Vector& y, const Vector& cost, const VectorRef& alpha) {
  return balanced(y, alpha.cwiseMax(0.0).cwiseMin(cost));
}

double largest_step(const MatrixRef& x, const MatrixRef& dx) {
  double step = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      if (dx(i, j) < 0) step = std::min(step, -x(i, j) / dx(i, j));
    }
  }
  return step;
}

double largest_step(double x, double dx) {
  return dx < 0 ? -x / dx : std::numeric_limits<double>::infinity();
}

Vector box_centre(const Vector& cost, const Vector& y) {
  const double positive = cost.dot((y.array() > 0).cast<double>().matrix());
  const double negative = cost.sum() - positive;
  const double least = 0.5 * std::min(positive, negative);
  Vector a = cost;
  for (Index i = 0; i < a.size(); ++i) a(i) *= least / (y(i) > 0 ? positive : negative);
  return a;
}

Vector box_start(const Vector& cost, const Vector& y, const Vector& near) {
  const Vector centre = box_centre(cost, y);
  if (near.size() != centre.size()) return centre;
  return 0.9 * near.cwiseMax(0.0).cwiseMin(cost) + 0.1 * centre;
}

double start_product(const Vector& a, const Vector& gradient) {
  return std::max(a.dot(gradient.cwiseAbs()) / static_cast<double>(a.size()), 1e-8 * a.mean());
}

BoxPoint::BoxPoint(const Vector& cost, Vector start, double product)
    : a(std::move(start)),
      room(cost - a),
      z_low(product * a.cwiseInverse()),
      z_high(product * room.cwiseInverse()) {}

void BoxPoint::balance(const Vector& gradient) {
  z_low += (-gradient).cwiseMax(0.0);
  z_high += gradient.cwiseMax(0.0);
}

double BoxPoint::products(const BoxStep& d, double length) const {
  return (a + length * d.a).dot(z_low + length * d.z_low) +
         (room - length * d.a).dot(z_high + length * d.z_high);
}

double BoxPoint::largest_step(const BoxStep& d) const {
  return std::min({engine::largest_step(a, d.a), engine::largest_step(room, -d.a),
                   engine::largest_step(z_low, d.z_low), engine::largest_step(z_high, d.z_high)});
}

void BoxPoint::advance(const BoxStep& d, double length) {
  a += length * d.a;
  room -= length * d.a;
  z_low += length * d.z_low;
  z_high += length * d.z_high;
}

Vector BoxEquations::diagonal() const {
  return x_.z_low.cwiseQuotient(x_.a) + x_.z_high.cwiseQuotient(x_.room);
}

BoxEquations::Right BoxEquations::right_side(double target, const BoxStep* before) const {
  ArrayXd low = ArrayXd::Constant(x_.a.size(), target);
  ArrayXd high = low;
  if (before != nullptr) {
    low -= before->a.array() * before->z_low.array();
    high += before->a.array() * before->z_high.array();
  }
  return {low / x_.a.array(), high / x_.room.array()};
}

void BoxEquations::complete(const Right& right, BoxStep& step) const {
  step.z_low = right.low - x_.z_low - x_.z_low.cwiseQuotient(x_.a).cwiseProduct(step.a);
  step.z_high = right.high - x_.z_high + x_.z_high.cwiseQuotient(x_.room).cwiseProduct(step.a);
}

bool BorderedSystem::factor(Matrix A, Matrix E, const Matrix& C, Ridge ridge) {
  L_ = std::move(A);
  if (!cholesky_with_ridge(L_, ridge)) return false;
  E_ = std::move(E);
  AE_ = back_solve(L_, E_);
  // Few columns, of which one may be nothing but rounding.
  Matrix corner = E_.transpose() * AE_;
  if (C.size() > 0) corner += C;
  corner_ = Eigen::FullPivLU<Matrix>(corner).inverse();
  return corner_.allFinite();
}

BorderedSystem::Answer BorderedSystem::solve(const Vector& right, const Vector& s) const {
  const Vector Ar = apply_inverse(right);
  Vector seen = E_.transpose() * Ar;
  if (s.size() > 0) seen -= s;
  Vector m = corner_ * seen;
  return {Ar - AE_ * m, std::move(m)};
}

Vector BorderedSystem::apply_inverse(const Vector& right) const { return back_solve(L_, right); }

void restore_balance(const Vector& y, Vector& d) {
  d -= y * (y.dot(d) / static_cast<double>(y.size()));
}

}  // namespace kith::engine
