// SPDX-License-Identifier: Apache-2.0
// Notation of [ZGZZ]. At (L, w, b) let p_i = w'L x_i, beta_i = 2 cost_i y_i max(0, 1 - y_i (p_i +
// b)) and q = sum_i beta_i x_i. The gradient (7) is
//
//   g_L = -w q',   g_w = w - L q,   g_b = -sum_i beta_i,
//
// so that along the step alpha, before the projection, L x_i moves by alpha (x_i'q) w
// (metric/scaled_descent.cpp makes use of that). The paper's Armijo rule is read as Bertsekas has
// it for the projection arc,
//
//   f(x) - f(x+) >= sigma <g, x - x+>,
//
// with nothing asked for but f(x+) <= f(x) where the heuristic projection (10) makes the right side
// negative. alpha = beta^m with beta = 1/2 and sigma = 1e-4, which the paper leaves open. With the
// exact projection, where a trial is a program of its own, m begins at steps that move images by
// four radii of the ball and are four times as long as the last: longer ones were refused before.
#include "kith/optim/metric/descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optim/engine/line_search.hpp"
#include "optim/engine/progress.hpp"
#include "optim/metric/scaled_descent.hpp"

namespace kith::metric {
namespace {

/// The steps with the exact projection (9): the same as those of ScaledDescent but for
/// where their trials begin.
class ExactDescent {
 public:
  ExactDescent(const linear::SignedSamples& samples, const Point& start, const RunContext& ctx)
      : samples_(samples), ctx_(ctx), x_(start), f_(metric::objective(samples, start)) {}

  [[nodiscard]] double objective() const { return f_; }
  [[nodiscard]] const Point& point() const { return x_; }

  [[nodiscard]] bool step() {
    const Slope g = slope(samples_, x_);
    const double alpha = engine::backtrack(first_trial(g), kMostHalvings, [&](double trial) {
      ctx_.check_stop();
      return move(g, trial);
    });
    if (alpha > 0) last_ = alpha;
    return alpha > 0;
  }

 private:
  static constexpr double kLonger = 4;

  /// The longest beta^m that is no more than kLonger times the last step and that moves no image by
  /// more than kLonger radii of the ball.
  [[nodiscard]] double first_trial(const Slope& g) const {
    const double moved = x_.w.norm() * (samples_.X * g.q).cwiseAbs().maxCoeff();
    const double first = std::min(1.0, kLonger * last_);
    return engine::backtrack(first, kMostHalvings,
                             [&](double alpha) { return alpha * moved <= kLonger; });
  }

  /// What the objective cannot be below at (w, b), whatever map into the ball: |w'L x_i| <= |w|.
  [[nodiscard]] double least_objective(const Vector& w, double b) const {
    const double most = w.norm();
    const Vector slack = (1 - samples_.y.array() * b - most).max(0);
    return 0.5 * most * most + samples_.cost.dot(slack.cwiseAbs2());
  }

  [[nodiscard]] bool move(const Slope& g, double alpha) {
    Point next{.L = {}, .w = x_.w - alpha * g.w, .b = x_.b - alpha * g.b};
    // What is promised is never negative here: the set is convex.
    if (least_objective(next.w, next.b) > f_) return false;
    ExactProjection nearest =
        exact_projection(samples_.X, x_.L + alpha * x_.w * g.q.transpose(), ctx_, near_);
    near_ = supports_of(nearest.lambda);
    next.L = std::move(nearest.A);
    const double f = metric::objective(samples_, next);
    const double along_L = -x_.w.dot((x_.L - next.L) * g.q);
    if (!engine::passes_armijo(f_, f, along_L + alpha * (g.w.squaredNorm() + g.b * g.b))) {
      return false;
    }
    x_ = std::move(next);
    f_ = f;
    return true;
  }

  /// The samples that the sphere holds.
  [[nodiscard]] static std::vector<Index> supports_of(const Vector& lambda) {
    constexpr double kShare = 1e-6;  // of the largest multiplier: the interior point leaves less
    std::vector<Index> supports;
    const double least = kShare * lambda.maxCoeff();
    for (Index i = 0; i < lambda.size(); ++i) {
      if (lambda(i) > least) supports.push_back(i);
    }
    return supports;
  }

  const linear::SignedSamples& samples_;
  const RunContext& ctx_;
  Point x_;
  double f_;
  double last_ = 1;          // the step before
  std::vector<Index> near_;  // what the last projection ended on
};

/// The steps with the scaled projection (10), R(L) the exact radius (4).
class BallDescent {
 public:
  BallDescent(const linear::SignedSamples& samples, Point start, const RunContext& ctx)
      : samples_(samples), ctx_(ctx), x_(std::move(start)) {
    (void)scale_into_ball(x_.L);
    f_ = metric::objective(samples, x_);
  }

  [[nodiscard]] double objective() const { return f_; }
  [[nodiscard]] const Point& point() const { return x_; }

  [[nodiscard]] bool step() {
    const Slope g = slope(samples_, x_);
    return engine::backtrack(1, kMostHalvings, [&](double alpha) {
             ctx_.check_stop();
             return move(g, alpha);
           }) > 0;
  }

 private:
  /// False where all images are one point, or too far to measure.
  [[nodiscard]] bool scale_into_ball(Matrix& L) {
    const SmallestBall ball = smallest_ball(samples_.X * L.transpose(), near_);
    if (!(ball.radius > 0) || !std::isfinite(ball.radius)) return false;
    near_ = ball.centre / ball.radius;
    L /= ball.radius;
    return true;
  }

  [[nodiscard]] bool move(const Slope& g, double alpha) {
    Point next{.L = x_.L + alpha * x_.w * g.q.transpose(),
               .w = x_.w - alpha * g.w,
               .b = x_.b - alpha * g.b};
    if (!scale_into_ball(next.L)) return false;
    const double f = metric::objective(samples_, next);
    const double along_L = -x_.w.dot((x_.L - next.L) * g.q);
    if (!engine::passes_armijo(f_, f, along_L + alpha * (g.w.squaredNorm() + g.b * g.b))) {
      return false;
    }
    x_ = std::move(next);
    f_ = f;
    return true;
  }

  const linear::SignedSamples& samples_;
  const RunContext& ctx_;
  Point x_;
  double f_ = 0;
  Vector near_;  // the centre of the last ball
};

template <typename Steps>
Descent descend(Steps steps, const linear::SignedSamples& samples, const DescentSettings& settings,
                const RunContext& ctx) {
  Descent result;
  result.objectives.push_back(steps.objective());
  engine::BestSoFar progress({.iterations = settings.max_iterations}, ctx);
  while (progress.goes_on()) {
    const double before = steps.objective();
    if (!std::isfinite(before)) {
      progress.end(SolveStatus::kNumericalFailure);
    } else if (!steps.step()) {
      progress.end(SolveStatus::kStopped);
    } else {
      progress.stepped();
      result.objectives.push_back(steps.objective());
      const bool gained = before - steps.objective() >= settings.tolerance * before;  // line 12
      if (!gained) progress.end(SolveStatus::kStopped);
    }
  }
  progress.report(result.info);
  result.point = steps.point();
  result.info.objective = objective(samples, result.point);
  return result;
}

/// The exact projection of maps with a smallest ball of radius 1 or less is that of L and c
/// together.
Descent ball_descent(const linear::SignedSamples& samples, const Point& start,
                     const DescentSettings& settings, const RunContext& ctx) {
  if (settings.projection == BallProjection::kScaled) {
    return descend(BallDescent(samples, start, ctx), samples, settings, ctx);
  }
  DescentSettings exact = settings;
  exact.radius = RadiusRule::kMean;
  Descent found = descent(with_constant(samples), around_centre(samples, start), exact, ctx);
  found.point = without_constant(samples, found.point);
  return found;
}

}  // namespace

Descent descent(const linear::SignedSamples& samples, Point start, const DescentSettings& settings,
                const RunContext& ctx) {
  linear::validate(samples);
  if (settings.radius == RadiusRule::kBall) return ball_descent(samples, start, settings, ctx);
  if (settings.projection == BallProjection::kScaled) {
    start.L = scaled_projection(samples.X, std::move(start.L));
    return descend(ScaledDescent(samples, std::move(start)), samples, settings, ctx);
  }
  start.L = exact_projection(samples.X, start.L, ctx).A;
  return descend(ExactDescent(samples, start, ctx), samples, settings, ctx);
}

double projected_gradient_share(const linear::SignedSamples& samples, const Point& point,
                                const RunContext& ctx, RadiusRule radius) {
  if (radius == RadiusRule::kBall) {
    return projected_gradient_share(with_constant(samples), around_centre(samples, point), ctx);
  }
  const double unit =
      samples.X.rows() > 0 ? samples.X.rowwise().norm().maxCoeff() : 0;  // of a feature
  if (!(unit > 0)) return 0;
  const Slope g = slope(samples, point);
  const double machine = g.w.squaredNorm() + g.b * g.b;
  const double size = std::hypot(point.w.norm() * g.q.norm() / unit, std::sqrt(machine));
  if (!(size > 0)) return 0;
  const double s = 1 / std::max(1.0, size);
  const Matrix ahead = point.L + s / (unit * unit) * point.w * g.q.transpose();
  const Matrix back = exact_projection(samples.X, ahead, ctx).A;
  const double moved = std::hypot(unit * (point.L - back).norm(), s * std::sqrt(machine));
  return std::min(1.0, moved / (s * size));  // 1 but for rounding where nothing holds the point
}

}  // namespace kith::metric
