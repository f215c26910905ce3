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

double linear_term(const SvmDual& problem, Index i) {
  return problem.linear.size() == 0 ? -1.0 : problem.linear[i];
}

double largest_margin(const SvmDual& problem) {
  if (problem.linear.size() == 0) return 1;
  const double largest = problem.linear.cwiseAbs().maxCoeff();
  return largest > 0 ? largest : 1;
}

/// The loss of (1 + delta)(w, b), given the decision values of (w, b).
double loss_at(const SvmDual& problem, const Vector& decision, double delta) {
  double loss = 0;
  for (Index i = 0; i < decision.size(); ++i) {
    const double r = (1 + delta) * problem.y[i] * decision[i] + linear_term(problem, i);
    if (problem.cost[i] > 0) loss += problem.cost[i] * std::max(0.0, -r);
  }
  return loss;
}

/// How much longer w and b must be for the margins to be met that they miss by rounding.
double stretch(const SvmDual& problem, const Vector& decision) {
  constexpr double kMost = 1e-9;
  double most = 0;
  for (Index i = 0; i < decision.size(); ++i) {
    const double reached = problem.y[i] * decision[i];
    const double missing = -linear_term(problem, i) - reached;
    if (missing > 0 && missing <= kMost * reached) most = std::max(most, missing / reached);
  }
  return most > 0 ? most + 4 * std::numeric_limits<double>::epsilon() : 0.0;
}

}  // namespace

void validate(const SvmDual& problem) {
  const Index n = problem.K.size();
  engine::check_signs(problem.y, problem.cost, n, engine::SignRule::kCostMayBeZero);
  if (problem.linear.size() != 0) require_length("linear", problem.linear, n);
  for (Index i = 0; i < n; ++i) {
    if (!std::isfinite(linear_term(problem, i))) {
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

double kkt_unit(const SvmDual& problem) {
  constexpr double kSmallest = 1e-6;  // rounding of the gradient allows 1e-6 of this, not less
  const double margin = largest_margin(problem);
  const double reach = (problem.cost.array() * problem.K.diagonal().array().abs()).maxCoeff();
  return reach > 0 ? std::clamp(reach, kSmallest * margin, margin) : margin;
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
  const double largest_cost = problem.cost.maxCoeff();
  Vector residuals(n);

  SvmCertificate c;
  c.decision = Ku.array() + b;
  c.quadratic = u.dot(Ku);
  double linear = 0;
  double outside = std::abs(u.sum());
  for (Index i = 0; i < n; ++i) {
    const double p = linear_term(problem, i);
    const double cost = problem.cost[i];
    residuals[i] = problem.y[i] * c.decision[i] + p;
    linear += p * alpha[i];
    outside = std::max({outside, -alpha[i], alpha[i] - cost});
  }
  c.kkt_residual = kkt_violation(alpha, problem.cost, residuals, kkt_unit(problem));
  c.dual = -linear - 0.5 * c.quadratic;
  // Any (w, b) bounds the optimum from above. Where the cost is huge, margins missed by rounding
  // alone would make all of the loss: a hair longer, w meets them.
  c.primal = 0.5 * c.quadratic + loss_at(problem, c.decision, 0);
  if (const double delta = stretch(problem, c.decision); delta > 0) {
    c.primal = std::min(c.primal, 0.5 * (1 + delta) * (1 + delta) * c.quadratic +
                                      loss_at(problem, c.decision, delta));
  }
  c.gap = relative_gap(c.dual, c.primal);
  c.feasibility = largest_cost > 0 ? outside / largest_cost : outside;
  return c;
}

}  // namespace kith::dual
