// SPDX-License-Identifier: Apache-2.0
// min_a f(a) = 1/2 |y - S a|^2 + h(a),  h(a) = epsilon |a|_1 inside |a_j| <= bound  ([TR] (5)), by
// proximal steps
//
//   a+ = argmin f(a) + |a - a0|^2 / (2 sigma),  sigma growing.                             (1)
//
// With p(x) = prox of sigma h (shrink by sigma epsilon, then clip), the dual of (1) is to minimise
// a strongly convex, once differentiable function of u in R^m, whose gradient
//
//   F(u) = u - y + S p(a0 + sigma S'u)                                                     (2)
//
// has the generalised derivative I + sigma S_F S_F', F the free variables: those that p neither
// shrinks to 0 nor clips. Newton steps with it need one Cholesky factor of S_F'S_F + I / sigma, or
// of the m x m matrix itself where that is smaller, and an exact line search, a root of a monotone
// piecewise linear function, makes them converge from anywhere. In exact arithmetic each (1) ends
// after finitely many steps. A large sigma costs digits of p; so each proximal step is followed by
// Newton steps in a_F itself, with the residual computed anew, which end at rounding error once F
// and the signs are right (the method is that of Li, Sun and Toh 2018 for the lasso; the box and
// the last steps are ours). Where S is ill-conditioned and most variables are free these steps
// become many: then an interior point (lasso_interior) finds F, and they the last digits.
//
// The loop stands alone: it counts the multiplications that it may still spend, not patience alone.
//
// Cost: O(mn) and one factor of at most min(|F|, m) columns for each Newton step.
#include "kith/optim/linear/boxed_lasso.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/linear/lasso_interior.hpp"

namespace kith::linear {
namespace {

// All lengths are relative to columns of S of norm 1 or less.
constexpr double kFirstSigma = 1e2;
constexpr double kLargestSigma = 1e12;  // S_F'S_F + I / sigma can still be factored
constexpr double kSigmaGrowth = 10;
constexpr double kFinishRidge = 1e-12;
constexpr int kMostFinishSteps = 3;
constexpr int kMostInnerSteps = 100;
constexpr int kMostRoundsWithoutGain = 8;
constexpr double kTrialSteps = 8;  // of an interior point, which takes about 20
constexpr double kGain = 0.9;      // a round that leaves more of the violation has gained nothing
constexpr Index kMostColumnsPerRow = 2;  // beyond it the Gram matrix does not pay
constexpr double kHuge = 1e300;          // terms that scaling takes out of range end here

/// The problem in the units of LassoData.
struct Problem {
  const LassoData* data = nullptr;
  ColumnTerms terms;
};

/// S a, over the nonzeros of a.
Vector times(const Matrix& S, const Vector& a) {
  const Index nonzeros = (a.array() != 0).count();
  if (2 * nonzeros > a.size()) return S * a;
  Vector product = Vector::Zero(S.rows());
  for (Index j = 0; j < a.size(); ++j) {
    if (a(j) != 0) product += a(j) * S.col(j);
  }
  return product;
}

double prox(double x, double shrink, double bound) {
  const double size = std::abs(x) - shrink;
  return size > 0 ? std::copysign(std::min(size, bound), x) : 0;
}

Vector prox(const Vector& x, const Problem& problem, double sigma) {
  Vector a(x.size());
  for (Index j = 0; j < x.size(); ++j) {
    a(j) = prox(x(j), sigma * problem.terms.epsilon(j), problem.terms.bound(j));
  }
  return a;
}

/// Variables strictly between 0 and their bound.
std::vector<Index> free_variables(const Vector& a, const Vector& bound) {
  std::vector<Index> free;
  for (Index j = 0; j < a.size(); ++j) {
    if (a(j) != 0 && std::abs(a(j)) < bound(j)) free.push_back(j);
  }
  return free;
}

/// The factor of S_F'S_F + ridge I; the ridge grows where rounding asks for more.
Matrix gram_factor(const LassoData& data, const std::vector<Index>& free, double ridge) {
  Matrix A;
  if (data.gram.size() > 0) {
    A = data.gram(free, free);
  } else {
    const Matrix columns = data.S(Eigen::all, free);
    A = Matrix::Zero(columns.cols(), columns.cols());
    A.selfadjointView<Eigen::Lower>().rankUpdate(columns.transpose());
  }
  // False of numbers that are not finite, as what follows from it: the certificate will say so.
  (void)cholesky_with_ridge(A, Vector::Ones(A.rows()), ridge, kHuge);
  return A;
}

/// d with (I + sigma S_F S_F') d = -F.
Vector newton_direction(const LassoData& data, const Vector& F, const std::vector<Index>& free,
                        double sigma) {
  if (free.empty()) return -F;
  if (static_cast<Index>(free.size()) <= data.S.rows()) {
    const Matrix L = gram_factor(data, free, 1 / sigma);
    const Vector all = data.S.transpose() * F;
    const Vector inner = back_solve(L, Vector(all(free)));
    Vector padded = Vector::Zero(data.S.cols());
    padded(free) = inner;
    return times(data.S, padded) - F;
  }
  const Matrix columns = data.S(Eigen::all, free);
  Matrix A = Matrix::Identity(data.S.rows(), data.S.rows());
  A.selfadjointView<Eigen::Lower>().rankUpdate(columns, sigma);
  return cholesky(A) ? back_solve(A, Vector(-F)) : Vector(-F);
}

/// The t >= 0 at which the dual of (1) is least along d: x = a0 + sigma S'u and z = S'd. Its
/// derivative along d, slope(t), is not decreasing.
double line_search(const Problem& problem, double sigma, const Vector& x, const Vector& z,
                   double start_slope, double curvature) {
  const auto slope = [&](double t) {
    double sum = start_slope + t * curvature;
    for (Index j = 0; j < x.size(); ++j) {
      sum += z(j) * prox(x(j) + t * sigma * z(j), sigma * problem.terms.epsilon(j),
                         problem.terms.bound(j));
    }
    return sum;
  };
  constexpr double kEnough = 0.05;  // of the first slope: as good as 0
  const double first = std::abs(slope(0));
  double low = 0;
  double high = 1;
  double at_high = slope(high);
  while (at_high < -kEnough * first && high < kHuge) {
    low = high;
    high *= 2;
    at_high = slope(high);
  }
  if (std::abs(at_high) <= kEnough * first) return high;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    const double value = slope(middle);
    if (std::abs(value) <= kEnough * first) return middle;
    (value < 0 ? low : high) = middle;
  }
  return low;
}

/// What has been spent, and when to stop spending it on this kind of step.
struct Work {
  long steps = 0;
  long most_steps = 0;
  double cost = 0;          ///< multiplications
  double most_cost = 0;     ///< infinity once there is no other way
  bool unfinished = false;  ///< the last proximal step was not solved

  [[nodiscard]] bool used_up() const { return steps >= most_steps || cost > most_cost; }
  void count(const LassoData& data, std::size_t free) {
    const auto m = static_cast<double>(data.S.rows());
    const double f = std::min(static_cast<double>(free), m);
    cost += f * f * f / 3 + 12 * m * static_cast<double>(data.S.cols());
    ++steps;
  }
};

/// (1) from `a0`, starting at the dual point u, which is moved.
Vector proximal_step(const Problem& problem, const Vector& a0, double sigma, Vector& u, Work& work,
                     const RunContext& ctx) {
  const LassoData& data = *problem.data;
  const double rounding = 4 * std::numeric_limits<double>::epsilon();
  Vector x = a0 + sigma * (data.S.transpose() * u);
  for (int inner = 0;; ++inner) {
    ctx.check_stop();
    Vector a = prox(x, problem, sigma);
    const Vector F = u - data.y + times(data.S, a);  // (2)
    const double size = F.norm();
    const bool close = size <= 1e-3 * (a - a0).norm() / std::sqrt(sigma);
    const bool rounded = size <= rounding * (data.y.norm() + sigma * u.norm());
    if (close || rounded || inner == kMostInnerSteps || work.used_up()) {
      work.unfinished = !close && !rounded;
      return a;
    }
    const std::vector<Index> free = free_variables(a, problem.terms.bound);
    const Vector d = newton_direction(data, F, free, sigma);
    const Vector z = data.S.transpose() * d;
    const double t = line_search(problem, sigma, x, z, d.dot(u - data.y), d.squaredNorm());
    work.count(data, free.size());
    u += t * d;
    x += (t * sigma) * z;
    if (!(t > 0) || !x.allFinite()) return a;
  }
}

double worst(const LassoCertificate& c) { return std::max(c.gap, c.kkt_residual); }

struct Point {
  Vector a;
  LassoCertificate certificate;
};

Point point(const Problem& problem, Vector a) {
  const LassoCertificate c = certify(problem.data->S, problem.data->y, problem.terms, a);
  return {std::move(a), c};
}

/// Newton steps in the free variables of `from`, whose signs are kept; ends where they would change
/// or nothing is gained.
Point finish(const Problem& problem, Point from) {
  const LassoData& data = *problem.data;
  const std::vector<Index> free = free_variables(from.a, problem.terms.bound);
  if (free.empty()) return from;
  const Matrix L = gram_factor(data, free, kFinishRidge);
  for (int step = 0; step < kMostFinishSteps; ++step) {
    const Vector g = data.S.transpose() * (data.y - times(data.S, from.a));
    Vector move(static_cast<Index>(free.size()));
    for (Index k = 0; k < move.size(); ++k) {
      const Index j = free[static_cast<std::size_t>(k)];
      move(k) = g(j) - std::copysign(problem.terms.epsilon(j), from.a(j));
    }
    move = back_solve(L, move);
    Vector a = from.a;
    a(free) += move;
    for (const Index j : free) {
      if (!(a(j) * from.a(j) > 0) || std::abs(a(j)) >= problem.terms.bound(j)) return from;
    }
    Point next = point(problem, std::move(a));
    if (!(worst(next.certificate) < worst(from.certificate))) return from;
    from = std::move(next);
  }
  return from;
}

struct Outcome {
  Point best;
  SolveStatus status = SolveStatus::kSolved;
  long steps = 0;
};

/// Proximal steps from `a` with growing sigma until the tolerance is met, the work is used
/// up, or rounding ends the progress: false then.
bool proximal_steps(const Problem& problem, Vector a, Outcome& out, const LassoSettings& settings,
                    Work& work, const RunContext& ctx) {
  double sigma = kFirstSigma;
  double largest = kLargestSigma;
  for (int without_gain = 0; without_gain < kMostRoundsWithoutGain && !work.used_up();) {
    Vector u = problem.data->y - times(problem.data->S, a);
    Vector moved = proximal_step(problem, a, sigma, u, work, ctx);
    if (work.unfinished) {  // too far for Newton: a shorter step, and none as long later
      ++without_gain;
      largest = std::max(sigma / kSigmaGrowth, 1.0);
      sigma = std::max(sigma / (kSigmaGrowth * kSigmaGrowth), 1.0);
      continue;
    }
    Point next = finish(problem, point(problem, std::move(moved)));
    a = next.a;
    const double before = worst(out.best.certificate);
    const double after = worst(next.certificate);
    if (after < before) out.best = std::move(next);
    if (out.best.certificate.within(settings.tolerance, settings.gap_tolerance)) return true;
    without_gain = after < kGain * before || sigma < largest ? 0 : without_gain + 1;
    sigma = std::min(sigma * kSigmaGrowth, largest);
  }
  return false;
}

Outcome minimise(const Problem& problem, Vector start, const LassoSettings& settings,
                 const RunContext& ctx) {
  const LassoData& data = *problem.data;
  Outcome out{.best = point(problem, Vector::Zero(start.size()))};  // right where epsilon is large
  if (out.best.certificate.within(settings.tolerance, settings.gap_tolerance)) return out;
  if (!start.isZero(0)) out.best = point(problem, std::move(start));
  if (out.best.certificate.within(settings.tolerance, settings.gap_tolerance)) return out;
  // Few free variables make Newton steps cheap; where they have cost a good part of what an
  // interior point would, that takes over, and leaves them the last digits.
  Work work{.most_steps = settings.max_iterations,
            .most_cost = kTrialSteps * interior_step_cost(data)};
  bool solved = proximal_steps(problem, out.best.a, out, settings, work, ctx);
  if (!solved && work.steps < work.most_steps) {
    Vector inside = lasso_interior(data, problem.terms, work.steps, ctx);
    work.most_cost = std::numeric_limits<double>::infinity();
    if (inside.allFinite()) {
      solved = proximal_steps(problem, std::move(inside), out, settings, work, ctx);
    }
  }
  out.steps = work.steps;
  if (solved) return out;
  out.status = work.steps >= work.most_steps                ? SolveStatus::kIterationLimit
               : std::isfinite(worst(out.best.certificate)) ? SolveStatus::kReducedAccuracy
                                                            : SolveStatus::kNumericalFailure;
  return out;
}

double in_range(double term) { return std::clamp(term, 1 / kHuge, kHuge); }

/// The terms for the columns as they stand in `data`.
ColumnTerms column_terms(const LassoData& data, const LassoTerms& terms) {
  const Index n = data.S.cols();
  const int largest = *std::max_element(data.exponents.begin(), data.exponents.end());
  ColumnTerms own{.epsilon = Vector(n), .bound = Vector(n), .unit = Vector(n)};
  for (Index j = 0; j < n; ++j) {
    const int exponent = data.exponents[static_cast<std::size_t>(j)];
    own.epsilon(j) = in_range(std::ldexp(terms.epsilon, -exponent));
    own.bound(j) = in_range(std::ldexp(terms.bound, exponent));
    own.unit(j) = std::ldexp(1.0, exponent - largest);
  }
  return own;
}

}  // namespace

LassoData lasso_data(Matrix S, Vector y) {
  if (S.rows() != y.size() || S.size() == 0) {
    engine::refuse(fmt::format("a {} x {} matrix with {} targets", S.rows(), S.cols(), y.size()));
  }
  LassoData data{.S = std::move(S), .y = std::move(y), .exponents = {}, .gram = {}};
  for (Index j = 0; j < data.S.cols(); ++j) {
    int exponent = 0;
    (void)std::frexp(data.S.col(j).stableNorm(), &exponent);
    // A power of 2 loses no digit.
    data.S.col(j) *= std::ldexp(1.0, -exponent);
    data.exponents.push_back(exponent);
  }
  if (data.S.cols() <= kMostColumnsPerRow * data.S.rows()) {
    data.gram = Matrix::Zero(data.S.cols(), data.S.cols());
    data.gram.selfadjointView<Eigen::Lower>().rankUpdate(data.S.transpose());
    data.gram.triangularView<Eigen::StrictlyUpper>() = data.gram.transpose();
  }
  return data;
}

LassoSolution boxed_lasso(const LassoData& data, const LassoTerms& terms,
                          const LassoSettings& settings, const RunContext& ctx,
                          const Vector& start) {
  check(terms);
  if (start.size() > 0 && start.size() != data.S.cols()) {
    engine::refuse(
        fmt::format("a start of {} coefficients for {} columns", start.size(), data.S.cols()));
  }
  const Problem problem{.data = &data, .terms = column_terms(data, terms)};
  Vector a = Vector::Zero(data.S.cols());
  for (Index j = 0; j < start.size(); ++j) {
    const double bound = problem.terms.bound(j);
    const int exponent = data.exponents[static_cast<std::size_t>(j)];
    a(j) = std::clamp(std::ldexp(start(j), exponent), -bound, bound);
  }
  Outcome out = minimise(problem, std::move(a), settings, ctx);
  for (Index j = 0; j < out.best.a.size(); ++j) {
    double& v = out.best.a(j);
    v = std::ldexp(v, -data.exponents[static_cast<std::size_t>(j)]);
    v = std::clamp(v, -terms.bound, terms.bound);
  }
  return {.a = std::move(out.best.a),
          .info = {.status = out.status,
                   .iterations = out.steps,
                   .objective = out.best.certificate.primal,
                   .gap = out.best.certificate.gap,
                   .kkt_residual = out.best.certificate.kkt_residual}};
}

}  // namespace kith::linear
