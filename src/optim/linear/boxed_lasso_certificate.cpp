// SPDX-License-Identifier: Apache-2.0
// Weak duality in terms that cannot cancel: for any a in the box and any u, with r = y - S a and
// z = S'u,
//
//   primal(a) - dual(u) = 1/2 |r - u|^2 + sum_j (epsilon |a_j| - a_j z_j
//                                                + bound max(0, |z_j| - epsilon)),
//
// and every summand is at least 0.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kith/optim/linear/boxed_lasso.hpp"
#include "optim/engine/box.hpp"
#include "optim/linear/lasso_interior.hpp"

namespace kith::linear {
namespace {

void check(const MatrixRef& S, const VectorRef& y, const LassoTerms& terms, const VectorRef& a) {
  if (S.rows() != y.size() || S.cols() != a.size()) {
    engine::refuse(fmt::format("a {} x {} matrix with {} targets and {} coefficients", S.rows(),
                               S.cols(), y.size(), a.size()));
  }
  check(terms);
}

/// primal(a) - dual(t r), g = S'r.
double gap_at(double t, double squared_residual, const Vector& g, const ColumnTerms& terms,
              const VectorRef& a) {
  double gap = 0.5 * (1 - t) * (1 - t) * squared_residual;
  for (Index j = 0; j < a.size(); ++j) {
    const double z = t * g(j);
    const double over = std::abs(z) - terms.epsilon(j);
    gap += terms.epsilon(j) * std::abs(a(j)) - a(j) * z;
    if (over > 0) gap += terms.bound(j) * over;
  }
  return gap;
}

double violation(double g, double a, double epsilon, double bound) {
  const double above = a < bound ? g - (a < 0 ? -epsilon : epsilon) : 0;
  const double below = a > -bound ? (a > 0 ? epsilon : -epsilon) - g : 0;
  return std::max({0.0, above, below});
}

}  // namespace

void check(const LassoTerms& terms) {
  engine::check_positive("epsilon", terms.epsilon);
  engine::check_positive("bound", terms.bound);
}

LassoCertificate certify(const MatrixRef& S, const VectorRef& y, const ColumnTerms& terms,
                         const VectorRef& a) {
  const Vector r = y - S * a;
  const Vector g = S.transpose() * r;
  const Vector reach = S.transpose() * y;
  LassoCertificate c;
  double largest = 0;
  double shrink = 1;
  for (Index j = 0; j < a.size(); ++j) {
    const double epsilon = terms.epsilon(j);
    const double bound = terms.bound(j);
    c.kkt_residual =
        std::max(c.kkt_residual, terms.unit(j) * violation(g(j), a(j), epsilon, bound));
    c.feasibility = std::max(c.feasibility, std::abs(a(j)) / bound - 1);
    largest = std::max(largest, terms.unit(j) * std::abs(reach(j)));
    if (std::abs(a(j)) < bound && std::abs(g(j)) > epsilon) {
      shrink = std::min(shrink, epsilon / std::abs(g(j)));
    }
  }
  if (largest > 0) c.kkt_residual /= largest;
  const double square = r.squaredNorm();
  c.primal = 0.5 * square + terms.epsilon.dot(a.cwiseAbs());
  const double gap = std::min(gap_at(1, square, g, terms, a), gap_at(shrink, square, g, terms, a));
  c.gap = c.primal > 0 ? gap / c.primal : 0;
  if (!std::isfinite(r.sum() + g.sum()))
    c.gap = c.kkt_residual = std::numeric_limits<double>::quiet_NaN();
  return c;
}

LassoCertificate certify(const MatrixRef& S, const VectorRef& y, const LassoTerms& terms,
                         const VectorRef& a) {
  check(S, y, terms, a);
  const auto constant = [&](double value) { return Vector::Constant(a.size(), value); };
  return certify(S, y, {constant(terms.epsilon), constant(terms.bound), constant(1)}, a);
}

}  // namespace kith::linear
