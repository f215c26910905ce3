// SPDX-License-Identifier: Apache-2.0
// Notation of [ZGZZ]. At (L, w, b) let p_i = w'L x_i, beta_i = 2 cost_i y_i max(0, 1 - y_i (p_i +
// b)) and q = sum_i beta_i x_i. The gradient (7) is
//
//   g_L = -w q',   g_w = w - L q,   g_b = -sum_i beta_i,
//
// so that along the step alpha, before the projection, L x_i moves by alpha (x_i'q) w: lengths of
// images, the radius R of (10), and the new p_i are sums of numbers that are known before the first
// trial. The paper's Armijo rule is read as Bertsekas has it for the projection arc,
//
//   f(x) - f(x+) >= sigma <g, x - x+>,
//
// with nothing asked for but f(x+) <= f(x) where the heuristic projection (10) makes the right side
// negative. alpha = beta^m with beta = 1/2 and sigma = 1e-4, which the paper leaves open.
#include "kith/optim/metric_descent.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kith/core/error.hpp"

namespace kith {
namespace {

constexpr double kShrink = 0.5;     // beta of line 6
constexpr double kArmijo = 1e-4;    // sigma
constexpr int kMostHalvings = 120;  // shorter steps move nothing
constexpr long kRefreshEvery = 64;  // steps after which the images are computed anew

/// The point with what is known about it.
struct State {
  MetricPoint x;
  Matrix images;  // L x_i in the rows
  Vector norms;   // |L x_i|^2
  Vector p;       // w'L x_i
  double f = 0;
};

State state_of(const SignedSamples& samples, MetricPoint x) {
  State state;
  state.images.noalias() = samples.X * x.L.transpose();
  state.norms = state.images.rowwise().squaredNorm();
  state.p = state.images * x.w;
  state.f = 0.5 * x.w.squaredNorm() + squared_hinge_loss(samples, Vector(state.p.array() + x.b));
  state.x = std::move(x);
  return state;
}

/// The gradient (7) in its parts.
struct Slope {
  Vector q, w;
  double b = 0;
  Vector beta;
};

Slope slope_of(const SignedSamples& samples, const State& state) {
  Slope g;
  const Vector slack = (1 - samples.y.array() * (state.p.array() + state.x.b)).max(0);
  g.beta = 2 * samples.cost.cwiseProduct(samples.y).cwiseProduct(slack);
  g.q = samples.X.transpose() * g.beta;
  g.w = state.x.w - state.images.transpose() * g.beta;
  g.b = -g.beta.sum();
  return g;
}

bool passes(double f, double trial, double promised) {
  return trial <= f - kArmijo * std::max(0.0, promised);
}

/// The arc of the scaled projection: every trial costs O(n).
class ScaledArc {
 public:
  ScaledArc(const SignedSamples& samples, const State& state, const Slope& g)
      : samples_(samples), state_(state), g_(g) {
    xq_ = samples.X * g.q;
    pg_ = state.images * g.w;
    ww_ = state.x.w.squaredNorm();
    wg_ = state.x.w.dot(g.w);
    qq_ = g.q.squaredNorm();
    gL_ = -g.beta.dot(state.p);  // <g_L, L>
    gw_ = g.w.squaredNorm() + g.b * g.b;
  }

  /// f and <g, x - x+> at alpha; nothing where the radius is 0 or not finite.
  struct Trial {
    double f = 0;
    double promised = 0;
    double R = 1;
  };
  [[nodiscard]] std::optional<Trial> trial(double alpha) const {
    const Vector squares = state_.norms.array() + 2 * alpha * xq_.array() * state_.p.array() +
                           alpha * alpha * ww_ * xq_.array().square();
    Trial t;
    t.R = std::sqrt(squares.maxCoeff());
    if (!(t.R > 0) || !std::isfinite(t.R)) return std::nullopt;
    const Vector p = (state_.p - alpha * pg_ + alpha * (ww_ - alpha * wg_) * xq_) / t.R;
    const double b = state_.x.b - alpha * g_.b;
    t.f = 0.5 * (ww_ - 2 * alpha * wg_ + alpha * alpha * g_.w.squaredNorm()) +
          squared_hinge_loss(samples_, Vector(p.array() + b));
    t.promised = gL_ - (gL_ - alpha * ww_ * qq_) / t.R + alpha * gw_;
    return t;
  }

  [[nodiscard]] State moved(double alpha, const Trial& t) const {
    State next;
    next.x.L = (state_.x.L + alpha * state_.x.w * g_.q.transpose()) / t.R;
    next.x.w = state_.x.w - alpha * g_.w;
    next.x.b = state_.x.b - alpha * g_.b;
    next.images = (state_.images + alpha * xq_ * state_.x.w.transpose()) / t.R;
    next.norms = next.images.rowwise().squaredNorm();
    next.p = next.images * next.x.w;
    next.f = t.f;
    return next;
  }

 private:
  const SignedSamples& samples_;
  const State& state_;
  const Slope& g_;
  Vector xq_, pg_;
  double ww_ = 0, wg_ = 0, qq_ = 0, gL_ = 0, gw_ = 0;
};

std::optional<State> scaled_step(const SignedSamples& samples, const State& state, const Slope& g) {
  const ScaledArc arc(samples, state, g);
  double alpha = 1;
  for (int m = 0; m < kMostHalvings; ++m, alpha *= kShrink) {
    const auto trial = arc.trial(alpha);
    if (trial && passes(state.f, trial->f, trial->promised)) return arc.moved(alpha, *trial);
  }
  return std::nullopt;
}

/// What the objective cannot be below at (w, b), whatever map into the ball: |w'L x_i| <= |w|.
double least_objective(const SignedSamples& samples, const Vector& w, double b) {
  const double most = w.norm();
  const Vector slack = (1 - samples.y.array() * b - most).max(0);
  return 0.5 * most * most + samples.cost.dot(slack.cwiseAbs2());
}

std::optional<State> exact_step(const SignedSamples& samples, const State& state, const Slope& g,
                                const RunContext& ctx) {
  double alpha = 1;
  for (int m = 0; m < kMostHalvings; ++m, alpha *= kShrink) {
    ctx.check_stop();
    const Vector w = state.x.w - alpha * g.w;
    const double b = state.x.b - alpha * g.b;
    // What is promised is never negative here: the set is convex.
    if (least_objective(samples, w, b) > state.f) continue;
    const Matrix before = state.x.L + alpha * state.x.w * g.q.transpose();
    State next = state_of(samples, {.L = exact_projection(samples.X, before).A, .w = w, .b = b});
    const double along_L = -state.x.w.dot((state.x.L - next.x.L) * g.q);
    if (passes(state.f, next.f, along_L + alpha * (g.w.squaredNorm() + g.b * g.b))) return next;
  }
  return std::nullopt;
}

}  // namespace

MetricDescent metric_descent(const SignedSamples& samples, MetricPoint start,
                             const MetricDescentSettings& settings, const RunContext& ctx) {
  validate(samples);
  const bool scaled = settings.projection == BallProjection::kScaled;
  start.L = scaled ? scaled_projection(samples.X, std::move(start.L))
                   : exact_projection(samples.X, start.L).A;
  State state = state_of(samples, std::move(start));
  MetricDescent result;
  result.objectives.push_back(state.f);
  result.info.status = SolveStatus::kIterationLimit;
  while (result.info.iterations < settings.max_iterations) {
    ctx.check_stop();
    if (!std::isfinite(state.f)) {
      result.info.status = SolveStatus::kNumericalFailure;
      break;
    }
    const Slope g = slope_of(samples, state);                                 // (7)
    std::optional<State> next = scaled ? scaled_step(samples, state, g)       // (8), (10)
                                       : exact_step(samples, state, g, ctx);  // (8), (9)
    result.info.status = SolveStatus::kStationary;
    if (!next) break;
    const double before = state.f;
    state = std::move(*next);
    ++result.info.iterations;
    result.objectives.push_back(state.f);
    if (before - state.f < settings.tolerance * before) break;  // line 12
    result.info.status = SolveStatus::kIterationLimit;
    if (result.info.iterations % kRefreshEvery == 0) {
      state.images.noalias() = samples.X * state.x.L.transpose();
      state.norms = state.images.rowwise().squaredNorm();
      state.p = state.images * state.x.w;
    }
  }
  result.point = std::move(state.x);
  result.info.objective = metric_objective(samples, result.point);
  return result;
}

double projected_gradient_share(const SignedSamples& samples, const MetricPoint& point) {
  const MetricPoint g = metric_gradient(samples, point);
  const double size = std::sqrt(g.L.squaredNorm() + g.w.squaredNorm() + g.b * g.b);
  if (!(size > 0)) return 0;
  const double s = 1 / std::max(1.0, size);
  const Matrix back = exact_projection(samples.X, point.L - s * g.L).A;
  const double moved =
      std::sqrt((point.L - back).squaredNorm() + s * s * (g.w.squaredNorm() + g.b * g.b));
  return moved / (s * size);
}

}  // namespace kith
