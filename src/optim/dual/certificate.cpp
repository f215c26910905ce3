// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/dual/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kith/core/text.hpp"
#include "optim/engine/box.hpp"

namespace kith::dual {

using engine::refuse;

namespace {

std::string entry(const char* what, Index i, double value) {
  return std::string(what) + "[" + std::to_string(i) + "] = " + format_double(value);
}

void require_length(const char* what, const Vector& v, Index n) {
  if (v.size() == n) return;
  refuse(std::string(what) + " has " + std::to_string(v.size()) + " entries; the matrix has " +
         std::to_string(n) + " columns");
}

/// -p, the margins that are asked for.
Vector margins(const SvmDual& problem) {
  return problem.linear.size() == 0 ? Vector(Vector::Ones(problem.y.size()))
                                    : Vector(-problem.linear);
}

/// The loss of a machine with the margins `reached`.
double loss(const Vector& cost, const Vector& wanted, const Vector& reached) {
  double sum = 0;
  for (Index i = 0; i < cost.size(); ++i) {
    if (cost[i] > 0) sum += cost[i] * std::max(0.0, wanted[i] - reached[i]);
  }
  return sum;
}

}  // namespace

void validate(const SvmDual& problem) {
  const Index n = problem.K.size();
  engine::check_signs(problem.y, problem.cost, n, engine::SignRule::kCostMayBeZero);
  if (problem.linear.size() != 0) require_length("linear", problem.linear, n);
  for (Index i = 0; i < n; ++i) {
    if (problem.linear.size() != 0 && !std::isfinite(problem.linear[i])) {
      refuse(entry("linear", i, problem.linear[i]) + "; a linear term is finite");
    }
    if (!std::isfinite(problem.K.diagonal()[i])) {
      refuse(entry("the diagonal of the matrix, K", i, problem.K.diagonal()[i]) +
             "; entries are finite");
    }
  }
}

double relative_gap(double lower, double upper) {
  constexpr double kRounding = 1e-13;
  const double size = std::max(std::abs(lower), std::abs(upper));
  if (!std::isfinite(lower) || !std::isfinite(upper)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double gap = size > 0 ? (upper - lower) / size : 0.0;
  return gap < 0 && gap >= -kRounding ? 0.0 : gap;
}

double kkt_violation(const VectorRef& alpha, const VectorRef& cost, const VectorRef& residuals,
                     double unit) {
  // Comparisons with NaN would pass for conditions that hold.
  if (!alpha.allFinite() || residuals.hasNaN()) return std::numeric_limits<double>::quiet_NaN();
  const double largest_alpha = alpha.cwiseAbs().maxCoeff();
  double worst = 0;
  for (Index i = 0; i < alpha.size(); ++i) {
    const double room = residuals[i] < 0 ? cost[i] - alpha[i] : alpha[i];
    if (!(room > 0)) continue;
    const double distance = largest_alpha > 0 ? room / largest_alpha : 1.0;
    worst = std::max(worst, std::min(std::abs(residuals[i]) / unit, distance));
  }
  return worst;
}

double kkt_unit(double reach, double margin) {
  constexpr double kSmallest = 1e-6;  // rounding of the gradient allows 1e-6 of this, not less
  return reach > 0 ? std::clamp(reach, kSmallest * margin, margin) : margin;
}

double kkt_unit(const SvmDual& problem) {
  const double largest = margins(problem).cwiseAbs().maxCoeff();
  const double reach = (problem.cost.array() * problem.K.diagonal().array().abs()).maxCoeff();
  return kkt_unit(reach, largest > 0 ? largest : 1);
}

double least_loss_intercept(const VectorRef& f, const VectorRef& y, const VectorRef& cost) {
  // The loss is piecewise linear in b. Its slope is -sum of the costs of class +1 at the far left
  // and grows by cost_i at b = y_i - f_i, for either class.
  constexpr double kFlat = 1e-12;  // of all costs: a slope that is rounding
  std::vector<Index> order(static_cast<std::size_t>(f.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const Vector kinks = y - f;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return kinks(i) < kinks(j); });
  double slope = -cost.dot(y.cwiseMax(0.0));
  const double flat = kFlat * cost.sum();
  if (f.size() == 0) return 0;
  if (slope >= -flat) return kinks(order.front());  // nobody asks for a larger b
  for (std::size_t k = 0; k + 1 < order.size(); ++k) {
    slope += cost(order[k]);
    if (slope > flat) return kinks(order[k]);
    if (slope >= -flat) return 0.5 * (kinks(order[k]) + kinks(order[k + 1]));
  }
  return kinks(order.back());
}

SvmCertificate certify(const SvmDual& problem, const VectorRef& alpha, double b) {
  validate(problem);
  const Index n = problem.K.size();
  require_length("alpha", alpha, n);
  const Vector u = problem.y.cwiseProduct(alpha);
  const Vector Ku = problem.K.times(u);
  const Vector wanted = margins(problem);

  SvmCertificate c;
  c.decision = Ku.array() + b;
  c.quadratic = u.dot(Ku);
  const Vector reached = problem.y.cwiseProduct(c.decision);
  double linear = 0;
  for (Index i = 0; i < n; ++i) linear += wanted[i] * alpha[i];
  c.kkt_residual = kkt_violation(alpha, problem.cost, reached - wanted, kkt_unit(problem));
  c.dual = linear - 0.5 * c.quadratic;
  // Any (w, b) bounds the optimum from above. Where the cost is huge, margins missed by rounding
  // alone would make all of the loss: a hair longer, w meets them.
  c.primal = 0.5 * c.quadratic + loss(problem.cost, wanted, reached);
  if (const double longer = 1 + engine::stretch(reached, wanted); longer > 1) {
    c.primal = std::min(c.primal, 0.5 * longer * longer * c.quadratic +
                                      loss(problem.cost, wanted, longer * reached));
  }
  c.gap = relative_gap(c.dual, c.primal);
  const double outside =
      std::max({std::abs(u.sum()), -alpha.minCoeff(), (alpha - problem.cost).maxCoeff()});
  const double largest_cost = problem.cost.maxCoeff();
  c.feasibility = largest_cost > 0 ? outside / largest_cost : outside;
  return c;
}

}  // namespace kith::dual
