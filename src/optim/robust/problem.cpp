// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/robust/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "optim/engine/box.hpp"
#include "optim/robust/active.hpp"
#include "optim/robust/point.hpp"

namespace kith::robust {

using engine::refuse;

void validate(const Problem& problem) {
  const Index n = problem.y.size();
  engine::check_signs(problem.y, problem.cost, n);
  engine::check_square("the similarity matrix", problem.S, n);
  engine::check_positive("rho", problem.rho);
  if (problem.eigen != nullptr && problem.eigen->lambda.size() != n) {
    refuse(fmt::format("a decomposition of {} eigenvalues for {} samples",
                       problem.eigen->lambda.size(), n));
  }
}

namespace {

/// K from a fresh decomposition, and the machine on it solved anew.
struct Remade : Evidence {
  SplitMatrix split;
  double distance = 0;  // |K - S|_F
};

Remade evidence(const Problem& problem, const VectorRef& alpha, const RunContext& ctx,
                const Matrix& witness = {}) {
  validate(problem);
  const Index n = problem.y.size();
  if (alpha.size() != n) {
    refuse(fmt::format("alpha has {} entries for {} samples", alpha.size(), n));
  }
  if (witness.size() > 0 && (witness.rows() != n || witness.cols() != n)) {
    refuse(fmt::format("a witness of {} x {} for {} samples", witness.rows(), witness.cols(), n));
  }
  SplitMatrix split(problem);
  Remade e{evidence_at(problem, split, alpha, witness, ctx), std::move(split)};
  e.distance = std::sqrt(e.split.excess(e.point.K) + e.split.negative_squares);
  return e;
}

Certificate certificate(const Remade& e, double offset, double value, double difference) {
  Certificate c;
  c.offset = offset;
  c.value = value;
  c.upper = value + difference;
  c.gap = proved_gap(value, difference, e.rounding);
  c.feasibility = e.feasibility;
  c.kkt_residual = e.kkt_residual;
  return c;
}

/// 1'a - 1/2 u'Ku.
double own_value(const Remade& e, const Problem& problem, const VectorRef& alpha) {
  return alpha.sum() - 0.5 * problem.y.cwiseProduct(alpha).dot(e.point.Ku);
}

/// Z = t^2 u u' / 2 + r N bounds the inner minimum at t alpha by -<Z, S> for every N >= 0 and
/// |Z| <= weight. With N = 2 rho M_- it is the bound of `norm_bound_loss`, but for the digits of
/// K - S, which K and S share where S is nearly a kernel; M_- has its own.
double norm_lower_bound(const Remade& e, const Problem& problem, double weight,
                        const VectorRef& alpha) {
  const Vector u = problem.y.cwiseProduct(alpha);
  const double sum = alpha.sum();
  const double half = 0.5 * u.dot(problem.S * u);
  const Matrix& V = e.point.removed.U;
  const Vector value = 2 * problem.rho * e.point.removed.lambda;
  const double squares = value.squaredNorm();
  const double along = 0.5 * value.dot((V.transpose() * u).cwiseAbs2());  // <u u' / 2, N>
  const double gain = -(V.cwiseProduct(problem.S * V)).colwise().sum().dot(value);
  const auto at = [&](double t) {
    const double own = 0.5 * t * t * u.squaredNorm();
    const double cross = t * t * along;
    const double room = std::max(0.0, weight * weight - own * own);
    const double root = std::sqrt(cross * cross + squares * room);
    const double r = cross + root > 0 && gain > 0 ? room / (cross + root) : 0.0;
    return t * sum - t * t * half + r * gain;
  };
  // Concave in t. The loop stands alone: it narrows an interval, and any t gives a bound.
  double left = 0;
  double right = std::min(1.0, std::sqrt(2 * weight) / u.norm());
  double best = at(right);
  for (int i = 0; i < 100; ++i) {
    const double one = left + 0.382 * (right - left);
    const double two = left + 0.618 * (right - left);
    const double at_one = at(one);
    const double at_two = at(two);
    best = std::max({best, at_one, at_two});
    (at_one < at_two ? left : right) = at_one < at_two ? one : two;
  }
  const double rounding = static_cast<double>(u.size()) * std::numeric_limits<double>::epsilon();
  return best - rounding * (weight * e.distance + sum);
}

}  // namespace

Certificate certify(const Problem& problem, const VectorRef& alpha, const RunContext& ctx,
                    const Matrix& witness) {
  const Remade e = evidence(problem, alpha, ctx, witness);
  return certificate(e, problem.rho * e.split.negative_squares, e.point.value, e.difference);
}

Certificate certify_ball(const Problem& stated, double radius, const VectorRef& alpha,
                         const RunContext& ctx) {
  validate(stated);
  const Dual dual(stated);
  Problem problem = stated;
  problem.cost = costs_in_ball(stated.cost, radius, dual.negative_part());
  // Any rho bounds the optimum; the one that puts K on the sphere bounds it best.
  if (radius > dual.negative_part() && alpha.size() == stated.y.size() && alpha.squaredNorm() > 0) {
    problem.rho = BallFunction(dual, radius).at(alpha).rho;
  }
  const Remade e = evidence(problem, alpha, ctx);
  // Outside the ball K is drawn towards S_+, and the machine is that on the kernel drawn.
  double upper = e.primal;
  if (e.distance > radius) {
    const double nearest = std::sqrt(e.split.negative_squares);
    const double share = std::min(1.0, (e.distance - radius) / (e.distance - nearest));
    Point drawn;
    drawn.K = e.point.K + share * (e.split.positive - e.point.K);
    upper = machine_bound(problem, drawn, alpha, ctx).upper;
  }
  const double used = problem.rho * (e.distance - radius) * (e.distance + radius);
  // The distance is rounded with S, and of a ball that is hardly larger than the least one that may
  // be all.
  constexpr double kDigits = 8 * std::numeric_limits<double>::epsilon();
  const double lost = kDigits * problem.rho * radius * problem.S.norm();
  const double lower = own_value(e, problem, alpha) + used - lost;
  return certificate(e, 0, lower, upper - lower);
}

Certificate certify_norm(const Problem& problem, double weight, const VectorRef& alpha,
                         const RunContext& ctx) {
  const Remade e = evidence(problem, alpha, ctx);
  const double sum = alpha.sum();
  const double own = own_value(e, problem, alpha);
  // What is lost below own + weight |K - S|.
  double shorter = norm_bound_loss(sum, 2 * (sum - own), problem.rho, e.distance, weight);
  const double direct = norm_lower_bound(e, problem, weight, alpha);
  shorter = std::min(shorter, own + weight * e.distance - direct);
  const double negative = std::sqrt(e.split.negative_squares);
  const double above = e.split.excess(e.point.K) / (e.distance + negative);  // distance - negative
  return certificate(e, weight * negative, own + weight * above - shorter,
                     e.primal - own + shorter);
}

}  // namespace kith::robust
