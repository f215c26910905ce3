// SPDX-License-Identifier: Apache-2.0
// Notation: N = |lambda_-|, the norm of the negative eigenvalues; e the unit vector over them, and
// L the square root of their number; c the t of clip.
//
// similarity. The best p is G, but max(G_i, kappa lambda_i^2) at negative eigenvalues, with kappa
// such that |D^-1 p| = gamma. So t_i = 0 where the maximum is the second, and
// t_i = s_i + G_i / (kappa lambda_i^2) elsewhere.
//
// both. t = c + tau e + rho r with r the direction of G off e, for h depends on tau and rho alone.
// In elliptic coordinates about the foci c and 1 = c + L e the minimum over the angle is
// elementary; with g = e'G, R = |G|, q^2 = R^2 - g^2 it is at cos(angle) = 2 gamma g / R^2 of the
// ellipse with the half axis gamma q L / (R sqrt(4 gamma^2 - R^2)). From gamma = R^2 / (2 g) on the
// ellipse is the segment between the foci and t = 1.
#include "optim/spectrum/inner.hpp"

#include <algorithm>
#include <cmath>

namespace kith::spectrum {
namespace {

using Eigen::ArrayXd;

double square(double x) { return x * x; }

/// kappa of `similarity`, and which negative eigenvalues have t = 0.
struct Level {
  double kappa = 0;
  std::vector<bool> zero;
  double norm = 0;   // of lambda over those with t = 0
  double rest = 0;   // sum of G^2 / lambda^2 over all others
  double apart = 0;  // sum of lambda^2 over the other negative ones
};

Level level(const Program& program, const Terms& terms, const Vector& G) {
  const ArrayXd squares = terms.magnitude.array().square();
  const ArrayXd ratio = G.array() / squares;  // the kappa above which t = 0
  std::vector<Index> order;
  for (Index i = 0; i < G.size(); ++i) {
    if (terms.sign(i) < 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return ratio(i) < ratio(j); });
  Level found;
  found.zero.assign(static_cast<std::size_t>(G.size()), false);
  double rest = (G.array().square() / squares).sum();
  double taken = 0;
  for (const Index i : order) {
    const double left = rest - square(G(i)) / squares(i);
    const double kappa =
        std::sqrt(std::max(0.0, square(program.gamma) - left) / (taken + squares(i)));
    if (taken > 0 && !(kappa > ratio(i))) break;
    taken += squares(i);
    rest = std::max(0.0, left);
    found.kappa = kappa;
    found.zero[static_cast<std::size_t>(i)] = true;
  }
  found.norm = std::sqrt(taken);
  // Summed, and not what is left of all: multiplied by a large gamma, its rounding would be more
  // than every machine.
  for (Index i = 0; i < G.size(); ++i) {
    if (found.zero[static_cast<std::size_t>(i)]) continue;
    found.rest += square(G(i)) / squares(i);
    if (terms.sign(i) < 0) found.apart += squares(i);
  }
  return found;
}

/// G of `both` along e and off it.
struct Split {
  double L = 0, g = 0, R = 0, q = 0;
  Vector e, off;
};

Split split(const Terms& terms, const Vector& G) {
  Split parts;
  const Vector negative = (-terms.sign).cwiseMax(0.0);
  parts.L = std::sqrt(negative.sum());
  parts.e = negative / parts.L;
  parts.g = parts.e.dot(G);
  parts.off = G - parts.g * parts.e;
  parts.q = parts.off.norm();
  parts.R = std::hypot(parts.g, parts.q);
  return parts;
}

bool on_the_segment(const Program& program, const Split& parts) {
  return square(parts.R) <= 2 * program.gamma * parts.g || parts.q == 0;
}

double similarity_value(const Program& program, const Terms& terms, const Vector& G) {
  const Level at = level(program, terms, G);
  double linear = 0;
  for (Index i = 0; i < G.size(); ++i) {
    if (!at.zero[static_cast<std::size_t>(i)]) linear -= terms.sign(i) * G(i);
  }
  const double N = std::sqrt(square(at.norm) + at.apart);
  return linear - at.norm * at.rest / (at.kappa * at.norm + program.gamma) -
         program.gamma * at.apart / (N + at.norm);
}

double both_value(const Program& program, const Terms& terms, const Vector& G) {
  const Split parts = split(terms, G);
  if (on_the_segment(program, parts)) return -G.sum();
  const double R2 = square(parts.R);
  const double gamma = program.gamma;
  const double room = std::sqrt(std::max(0.0, 4 * square(gamma) - R2));
  // L (q room / (2 R) - gamma), without the difference.
  const double bent = -(square(gamma * parts.g) / R2 + square(parts.q) / 4) /
                      (parts.q * room / (2 * parts.R) + gamma);
  return parts.L * (bent - parts.g / 2) - terms.centres.col(0).dot(G);
}

InnerSlope similarity_slope(const Program& program, const Terms& terms, const Vector& G) {
  const Level at = level(program, terms, G);
  const Index r = G.size();
  InnerSlope slope{.t = Vector::Zero(r),
                   .diagonal = Vector::Zero(r),
                   .V = Matrix::Zero(r, 1),
                   .C = Matrix::Constant(1, 1, 1 / (std::pow(at.kappa, 3) * square(at.norm)))};
  for (Index i = 0; i < r; ++i) {
    if (at.zero[static_cast<std::size_t>(i)]) continue;
    const double squared = square(terms.magnitude(i));
    slope.diagonal(i) = 1 / (at.kappa * squared);
    slope.t(i) = std::max(0.0, terms.sign(i) + G(i) * slope.diagonal(i));
    slope.V(i, 0) = G(i) / squared;
  }
  return slope;
}

InnerSlope both_slope(const Program& program, const Terms& terms, const Vector& G) {
  const Split parts = split(terms, G);
  const Index r = G.size();
  InnerSlope slope{.t = Vector::Ones(r),
                   .diagonal = Vector::Zero(r),
                   .V = Matrix::Zero(r, 2),
                   .C = Matrix::Zero(2, 2)};
  if (on_the_segment(program, parts)) return slope;
  const double x = square(parts.R);
  const double X = 4 * square(program.gamma);
  const double g = parts.g;
  const double root = std::sqrt(X - x);
  const double cosine = 2 * program.gamma * g / x;
  const double tau = parts.L / 2 * (1 + 2 * program.gamma * parts.q * cosine / (parts.R * root));
  const double rho = parts.L / 2 * parts.R * (1 - square(cosine)) / root;
  slope.t = terms.centres.col(0) + tau * parts.e + rho / parts.q * parts.off;
  // The curvature of -L/2 sqrt(E), E = (x - g^2) (X - x) / x as a function of x = |G|^2 and g.
  const double E = square(parts.q) * (X - x) / x;
  const double s = std::sqrt(E);
  const double Ex = square(cosine) - 1;
  const double Eg = -2 * g * (X - x) / x;
  const double Exx = -2 * X * square(g) / (x * x * x);
  const double Exg = 2 * X * g / (x * x);
  const double Egg = -2 * (X - x) / x;
  const double factor = -parts.L / 4 / s;
  slope.diagonal.setConstant(2 * factor * Ex);
  slope.V << 2 * G, parts.e;
  slope.C << Exx - Ex * Ex / (2 * E), Exg - Ex * Eg / (2 * E), Exg - Ex * Eg / (2 * E),
      Egg - Eg * Eg / (2 * E);
  slope.C *= factor;
  return slope;
}

/// h(t) - L of `both`. Not from `split`: with the mean over the negative eigenvalues in place of
/// the product with e, a t between the foci, 1 above all, is there exactly, and its excess exactly
/// 0. A large gamma multiplies whatever rounding leaves of it.
double excess_of_both(const Terms& terms, const Vector& t) {
  const ArrayXd negative = (-terms.sign).cwiseMax(0.0);
  const double count = negative.sum();
  const ArrayXd from_clip = (t - terms.centres.col(0)).array();
  const double share = (negative * from_clip).sum() / count;  // of the way to flip
  const double off = (from_clip - share * negative).matrix().norm();
  const double L = std::sqrt(count);
  // |x| - along = |off|^2 / (|x| + along) loses no digits.
  const auto excess = [&](double along) {
    const double distance = std::hypot(along, off);
    if (distance == 0) return 0.0;
    return along > 0 ? off / (distance + along) * off : distance - along;
  };
  return excess(L * share) + excess(L * (1 - share));
}

}  // namespace

bool inner_is_curved(const Program& program, const Terms& terms) {
  const bool curved = program.centre == Centre::kBoth || program.centre == Centre::kSimilarity;
  return curved && (terms.sign.array() < 0).any();
}

double inner_size(const Program& program, const Terms& terms, const Vector& G) {
  return G.cwiseQuotient(terms.weight).norm() /
         (static_cast<double>(terms.centres.cols()) * program.gamma);
}

double inner_value(const Program& program, const Terms& terms, const Vector& G) {
  if (!inner_is_curved(program, terms)) {
    return -terms.centres.col(terms.centres.cols() - 1).dot(G);
  }
  return program.centre == Centre::kBoth ? both_value(program, terms, G)
                                         : similarity_value(program, terms, G);
}

InnerSlope inner_slope(const Program& program, const Terms& terms, const Vector& G) {
  return program.centre == Centre::kBoth ? both_slope(program, terms, G)
                                         : similarity_slope(program, terms, G);
}

double penalty(const Program& program, const Terms& terms, const Vector& t) {
  if (!inner_is_curved(program, terms)) {
    double h = 0;
    for (Index k = 0; k < terms.centres.cols(); ++k) {
      h += terms.weight.cwiseProduct(t - terms.centres.col(k)).norm();
    }
    return program.gamma * h;
  }
  if (program.centre == Centre::kSimilarity) {
    // h - N = (h^2 - N^2) / (h + N); (t + 1)^2 - 1 = t (t + 2) at negative eigenvalues.
    const ArrayXd off = t - terms.sign;
    const ArrayXd squares = terms.magnitude.array().square();
    const ArrayXd negative = (-terms.sign).cwiseMax(0.0);
    const double h = std::sqrt((squares * off.square()).sum());
    const double N = std::sqrt((squares * negative).sum());
    const ArrayXd more = negative * t.array() * (t.array() + 2) + (1 - negative) * off.square();
    return program.gamma * (squares * more).sum() / (h + N);
  }
  return program.gamma * excess_of_both(terms, t);
}

}  // namespace kith::spectrum
