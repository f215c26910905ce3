// SPDX-License-Identifier: Apache-2.0
// [LA]: a <- P(a + step * grad D(a)), grad D = 1 - Y M_+ u, P the projection to the box with
// y'a = 0. The step is the largest of a doubling and halving sequence for which
//
//   D(a+) >= D(a) + grad'(a+ - a) - |a+ - a|^2 / (2 step),
//
// which holds once step <= 1 / L and makes D increase in every iteration; [LA] leave the choice of
// the step open. Next to the optimum D has rounded these gains away; as D is concave, the condition
// follows from (grad D(a) - grad D(a+))'(a+ - a) <= |a+ - a|^2 / (2 step), which keeps its digits.
// The gap comes from the hinge loss of the machine on M_+ at the best b, which costs nothing beside
// the decomposition, and now and then from that machine solved.
//
// Cost: one decomposition per tried step.
#include "kith/optim/papers/projected_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "optim/engine/line_search.hpp"
#include "optim/engine/progress.hpp"
#include "optim/robust/point.hpp"

namespace kith::papers {
namespace {

constexpr long kMachineEvery = 25;             // iterations between two solved machines
constexpr long kPatience = 2 * kMachineEvery;  // iterations without a better gap: rounding

Vector moved(const VectorRef& v, const VectorRef& y, const VectorRef& cost, double nu) {
  return (v - nu * y).cwiseMax(0.0).cwiseMin(cost);
}

/// An upper bound on D less the offset, from the kernel of a point.
double upper_bound(const robust::Problem& problem, const robust::Point& point,
                   const Vector& alpha) {
  const double b = dual::least_loss_intercept(point.Ku, problem.y, problem.cost);
  const Eigen::ArrayXd hinge = (1 - problem.y.array() * (point.Ku.array() + b)).max(0.0);
  return 0.5 * problem.y.cwiseProduct(alpha).dot(point.Ku) + (problem.cost.array() * hinge).sum() +
         point.penalty;
}

class Ascent {
 public:
  Ascent(const robust::Problem& problem, const robust::SplitMatrix& split)
      : problem_(problem),
        split_(split),
        alpha_(Vector::Zero(problem.y.size())),
        point_(robust::point_at(problem, split, alpha_)),
        step_(first_step()) {}

  [[nodiscard]] const Vector& alpha() const { return alpha_; }
  [[nodiscard]] const robust::Point& point() const { return point_; }

  /// One step; false where none gains.
  [[nodiscard]] bool advance() {
    constexpr int kMostHalvings = 61;  // shorter steps move nothing
    const Vector slope = gradient(point_);
    bool gained = false;
    const auto accept = [&](double step) {
      Vector trial = project_to_dual(alpha_ + step * slope, problem_.y, problem_.cost);
      const Vector change = trial - alpha_;
      robust::Point there = robust::point_at(problem_, split_, trial);
      const double slack = change.squaredNorm() / (2 * step);
      const double gain = slope.dot(change);
      const double kept = gradient(there).dot(change);  // what D gains at the least
      if (there.value < point_.value + gain - slack && gain - kept > slack) return false;
      gained = there.value > point_.value || kept > 0;
      alpha_ = std::move(trial);
      point_ = std::move(there);
      return true;
    };
    const double step = engine::backtrack(2 * step_, kMostHalvings, accept);
    if (step > 0) step_ = step;
    return gained;
  }

 private:
  [[nodiscard]] Vector gradient(const robust::Point& point) const {
    return 1 - problem_.y.array() * point.Ku.array();
  }

  /// The inverse of the curvature of a machine on the kernel at 0, where the gradient is 1; no more
  /// than the way to the bounds, for similarities may be next to nothing.
  [[nodiscard]] double first_step() const {
    const double way = problem_.cost.maxCoeff();
    const double largest = point_.kernel.lambda.size() > 0 ? point_.kernel.lambda.maxCoeff() : 0;
    return largest * way > 1 ? 1 / largest : way;
  }

  const robust::Problem& problem_;
  const robust::SplitMatrix& split_;
  Vector alpha_;
  robust::Point point_;
  double step_;
};

}  // namespace

Vector project_to_dual(const VectorRef& v, const VectorRef& y, const VectorRef& cost) {
  // y'a(nu) of a(nu) = clip(v - nu y) falls from +sum of the positive costs to -sum of the negative
  // ones; its kinks are where a variable meets a bound. Bisection over the sorted kinks, then the
  // root of the linear piece.
  std::vector<double> kinks;
  kinks.reserve(2 * static_cast<std::size_t>(v.size()));
  for (Index i = 0; i < v.size(); ++i) {
    kinks.push_back(y[i] * v[i]);
    kinks.push_back(y[i] * (v[i] - cost[i]));
  }
  std::sort(kinks.begin(), kinks.end());
  const auto balance = [&](double nu) { return y.dot(moved(v, y, cost, nu)); };
  std::size_t low = 0;
  std::size_t high = kinks.size() - 1;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (balance(kinks[middle]) >= 0 ? low : high) = middle;
  }
  const double at_low = balance(kinks[low]);
  const double at_high = balance(kinks[high]);
  const double part = at_low > at_high ? at_low / (at_low - at_high) : 0.0;
  return moved(v, y, cost, kinks[low] + std::clamp(part, 0.0, 1.0) * (kinks[high] - kinks[low]));
}

robust::Solution projected_gradient(const robust::Problem& problem,
                                    const ProjectedGradientSettings& settings,
                                    const RunContext& ctx) {
  validate(problem);
  const robust::SplitMatrix split(problem);
  Ascent ascent(problem, split);
  double upper = std::numeric_limits<double>::infinity();
  Matrix witness;  // the kernel that `upper` is of
  engine::BestSoFar progress({.tolerance = settings.tolerance,
                              .iterations = settings.max_iterations,
                              .patience = kPatience},
                             ctx);
  while (true) {
    ctx.progress("projected gradient", static_cast<double>(progress.iterations()),
                 static_cast<double>(settings.max_iterations));
    double bound = upper_bound(problem, ascent.point(), ascent.alpha());
    if (progress.iterations() % kMachineEvery == 0) {
      bound = std::min(bound,
                       robust::machine_bound(problem, ascent.point(), ascent.alpha(), ctx).upper);
    }
    if (bound < upper) {
      upper = bound;
      witness = ascent.point().K;
    }
    const double size = std::max(std::abs(upper), std::abs(ascent.point().value));
    const double open = upper - ascent.point().value + problem.rho * split.rounding;
    (void)progress.offer(size > 0 ? open / size : open);
    if (!progress.goes_on()) break;
    progress.stepped();
    if (!ascent.advance()) {
      progress.end(SolveStatus::kReducedAccuracy);
      break;
    }
  }
  robust::Solution solution =
      robust::finish(problem, split, ascent.alpha(), std::move(witness), ctx);
  progress.report(solution.info);
  solution.info.status =
      robust::proved_status(solution.info, settings.tolerance, progress.status());
  return solution;
}

}  // namespace kith::papers
