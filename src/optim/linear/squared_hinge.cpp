// SPDX-License-Identifier: Apache-2.0
// With u = (w, b), rows z_i = (x_i, 1) and A the samples inside the margin, the objective is
// quadratic wherever A stays the same:
//
//   gradient  g = (w, 0) - 2 sum_A cost_i y_i (1 - y_i f_i) z_i
//   Hessian   H = diag(1, ..., 1, 0) + 2 sum_A cost_i z_i z_i'.
//
// A Newton step minimises that quadratic; the exact minimum along it follows the changes of A.
#include "kith/optim/linear/squared_hinge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kith/optim/dual/certificate.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/progress.hpp"

namespace kith::linear {
namespace {

constexpr long kMostSteps = 200;     // a dozen is usual
constexpr long kPatience = 2;        // steps that do not lower the objective
constexpr double kRounding = 1e-14;  // of a sum, by the size of what is added

struct Step {
  Vector dw;
  double db = 0;
};

/// 1 - y_i f_i where that is positive, else 0.
Vector slacks(const SignedSamples& samples, const VectorRef& f) {
  return (1 - samples.y.array() * f.array()).max(0);
}

Step newton_step(const SignedSamples& samples, const Vector& w, const Vector& slack) {
  const Index r = samples.X.cols();
  std::vector<Index> inside;
  for (Index i = 0; i < slack.size(); ++i) {
    if (slack(i) > 0) inside.push_back(i);
  }
  const auto count = static_cast<Index>(inside.size());
  if (count == 0) return {.dw = -w, .db = 0};  // b is free: it stays
  Matrix Z(count, r + 1);
  Z.leftCols(r) = samples.X(inside, Eigen::all);
  Z.col(r).setOnes();
  const Vector c = 2 * samples.cost(inside);
  const Vector pull = c.cwiseProduct(samples.y(inside)).cwiseProduct(slack(inside));
  Vector step = Z.transpose() * pull;
  step.head(r) -= w;
  const Matrix scaled = c.cwiseSqrt().asDiagonal() * Z;
  Matrix H = Matrix::Identity(r + 1, r + 1);
  H(r, r) = 0;
  H.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
  if (!cholesky_with_ridge(H)) return {};
  step = back_solve(H, step);
  return {.dw = step.head(r), .db = step(r)};
}

/// The t >= 0 that minimises the objective along the step: its derivative grows with t and is
/// linear between the points where a sample crosses the margin.
double best_length(const SignedSamples& samples, const Vector& w, const Vector& dw, const Vector& f,
                   const Vector& df) {
  struct Crossing {
    double t = 0;
    Index sample = 0;
  };
  double slope = w.dot(dw);  // derivative at t
  double curvature = dw.squaredNorm();
  std::vector<Crossing> crossings;
  std::vector<bool> in(static_cast<std::size_t>(f.size()));
  for (Index i = 0; i < f.size(); ++i) {
    const double slack = 1 - samples.y(i) * f(i);
    const double loss_of_slack = samples.y(i) * df(i);  // by which it falls per unit of t
    const bool inside = slack > 0 || (slack == 0 && loss_of_slack < 0);
    in[static_cast<std::size_t>(i)] = inside;
    if (inside) {
      slope -= 2 * samples.cost(i) * slack * loss_of_slack;
      curvature += 2 * samples.cost(i) * df(i) * df(i);
    }
    if (loss_of_slack == 0) continue;
    const double t = slack / loss_of_slack;
    if (t > 0) crossings.push_back({t, i});
  }
  std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) {
    return a.t < b.t || (a.t == b.t && a.sample < b.sample);
  });
  double at = 0;
  for (const Crossing& crossing : crossings) {
    const double end = slope + curvature * (crossing.t - at);
    if (end >= 0) break;
    slope = end;
    at = crossing.t;
    const double change =
        2 * samples.cost(crossing.sample) * df(crossing.sample) * df(crossing.sample);
    curvature += in[static_cast<std::size_t>(crossing.sample)] ? -change : change;
  }
  if (!(curvature > 0)) return at;
  return at + std::max(0.0, -slope / curvature);
}

}  // namespace

void validate(const SignedSamples& samples) {
  engine::check_signs(samples.y, samples.cost, samples.X.rows(), engine::SignRule::kAny);
  if (!samples.X.allFinite()) {
    engine::refuse("the features of a machine must be finite");
  }
}

double squared_hinge_loss(const SignedSamples& samples, const VectorRef& decisions) {
  return samples.cost.dot(slacks(samples, decisions).cwiseAbs2());
}

SquaredHingeCertificate certify_squared_hinge(const SignedSamples& samples, const VectorRef& w,
                                              double b) {
  const Vector f = (samples.X * w).array() + b;
  const Vector slack = slacks(samples, f);
  Vector a = 2 * samples.cost.cwiseProduct(slack);
  const double balance = samples.y.dot(a);
  const double total = a.sum();
  SquaredHingeCertificate found;
  const Vector pull = samples.X.transpose() * samples.y.cwiseProduct(a);
  const double size = w.norm() + pull.norm();
  const double off = (w - pull).norm();
  const double rounding = kRounding * (samples.X.cwiseAbs().transpose() * a).norm();
  if (off > rounding) found.stationarity = off / size;
  if (total > 0) found.stationarity = std::max(found.stationarity, std::abs(balance) / total);
  a = engine::balanced(samples.y, std::move(a));
  found.primal = 0.5 * w.squaredNorm() + samples.cost.dot(slack.cwiseAbs2());
  const Vector implied = samples.X.transpose() * samples.y.cwiseProduct(a);
  found.dual = a.sum() - 0.5 * implied.squaredNorm() - 0.25 * a.dot(a.cwiseQuotient(samples.cost));
  found.gap = dual::relative_gap(found.dual, found.primal);
  return found;
}

SquaredHingeSolution squared_hinge_svm(const SignedSamples& samples, const RunContext& ctx,
                                       double tolerance) {
  validate(samples);
  SquaredHingeSolution solution{.w = Vector::Zero(samples.X.cols()), .b = 0, .info = {}};
  Vector f = Vector::Zero(samples.X.rows());
  SquaredHingeSolution best = solution;
  best.info.gap = std::numeric_limits<double>::infinity();
  // The objective falls with every step until rounding is all that is left, and the last step costs
  // little and gives all digits.
  engine::BestSoFar progress({.iterations = kMostSteps, .patience = kPatience}, ctx);
  double lowest = std::numeric_limits<double>::infinity();
  while (true) {
    const SquaredHingeCertificate now = certify_squared_hinge(samples, solution.w, solution.b);
    solution.info = {.objective = now.primal, .gap = now.gap, .kkt_residual = now.stationarity};
    if (now.primal < lowest) progress.progress();
    lowest = std::min(lowest, now.primal);
    const bool flat = now.gap <= best.info.gap && now.stationarity < best.info.kkt_residual;
    if (now.gap < best.info.gap || flat) best = solution;
    if (now.within(1e-3 * tolerance)) progress.end(SolveStatus::kSolved);
    if (!progress.goes_on()) break;
    const Step move = newton_step(samples, solution.w, slacks(samples, f));
    if (move.dw.size() != solution.w.size() || !move.dw.allFinite()) {
      progress.end(SolveStatus::kReducedAccuracy);
      break;
    }
    const Vector df = (samples.X * move.dw).array() + move.db;
    const double length = best_length(samples, solution.w, move.dw, f, df);
    solution.w += length * move.dw;
    solution.b += length * move.db;
    f = (samples.X * solution.w).array() + solution.b;
    progress.stepped();
  }
  const bool proved = certify_squared_hinge(samples, best.w, best.b).within(tolerance);
  progress.report(best.info);
  best.info.status = measured_status(best.info.status, proved);
  // Less than 0 is rounding.
  best.info.gap = proved ? std::max(0.0, best.info.gap) : std::abs(best.info.gap);
  return best;
}

}  // namespace kith::linear
