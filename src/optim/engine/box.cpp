// SPDX-License-Identifier: Apache-2.0
#include "optim/engine/box.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/engine/interior.hpp"

namespace kith::engine {
namespace {

using Eigen::ArrayXd;

double primal(const Vector& cost, double squares, const Vector& margins, double scale) {
  return 0.5 * scale * scale * squares +
         (cost.array() * (1 - scale * margins.array()).max(0.0)).sum();
}

}  // namespace

double best_primal(const Vector& cost, double squares, const Vector& margins) {
  constexpr double kRounding = 1e-6;
  const ArrayXd short_of = 1 - margins.array();
  const double worst = (short_of < kRounding).select(short_of, 0.0).maxCoeff();
  return std::min(primal(cost, squares, margins, 1),
                  primal(cost, squares, margins, 1 / (1 - worst)));
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

BoxPoint centred_box(const Vector& cost, Vector alpha, double mu) {
  BoxPoint x;
  x.z_low = mu * alpha.cwiseInverse();
  x.z_high = mu * (cost - alpha).cwiseInverse();
  x.alpha = std::move(alpha);
  return x;
}

Vector BoxNewton::diagonal() const {
  return x_.z_low.array() / x_.alpha.array() + x_.z_high.array() / room_.array();
}

BoxNewton::Right BoxNewton::right_side(double target, const BoxPoint* before) const {
  ArrayXd low = ArrayXd::Constant(x_.alpha.size(), target);
  ArrayXd high = low;
  if (before != nullptr) {
    low -= before->alpha.array() * before->z_low.array();
    high += before->alpha.array() * before->z_high.array();
  }
  return {low / x_.alpha.array() - x_.z_low.array(), high / room_.array() - x_.z_high.array()};
}

void BoxNewton::complete(const Right& right, BoxPoint& step) const {
  const ArrayXd change = step.alpha;
  step.z_low = right.low.array() - x_.z_low.array() / x_.alpha.array() * change;
  step.z_high = right.high.array() + x_.z_high.array() / room_.array() * change;
}

double largest_step(const BoxPoint& x, const WeightPairs& pairs, const BoxPoint& dx,
                    const WeightPairs& dpairs, const Vector& cost) {
  return std::min({largest_step(x.alpha, dx.alpha), largest_step(cost - x.alpha, -dx.alpha),
                   largest_step(x.z_low, dx.z_low), largest_step(x.z_high, dx.z_high),
                   largest_step(pairs.weights, dpairs.weights),
                   largest_step(pairs.slacks, dpairs.slacks)});
}

double complementarity_after(const BoxPoint& x, const WeightPairs& pairs, const BoxPoint& dx,
                             const WeightPairs& dpairs, const Vector& cost, double length) {
  const Vector alpha = x.alpha + length * dx.alpha;
  const double box =
      alpha.dot(x.z_low + length * dx.z_low) + (cost - alpha).dot(x.z_high + length * dx.z_high);
  const double rest =
      (pairs.slacks + length * dpairs.slacks).dot(pairs.weights + length * dpairs.weights);
  return (rest + box) / static_cast<double>(pairs.weights.size() + 2 * alpha.size());
}

void advance(BoxPoint& x, const BoxPoint& d, double length) {
  x.alpha += length * d.alpha;
  x.z_low += length * d.z_low;
  x.z_high += length * d.z_high;
}

void factor(Matrix& A, Eigen::LLT<Matrix>& into) {
  into.compute(A);
  for (double ridge = 1e-15; into.info() != Eigen::Success && ridge < 1; ridge *= 100) {
    A.diagonal() *= 1 + ridge;
    into.compute(A);
  }
}

}  // namespace kith::engine
