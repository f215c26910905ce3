// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/norm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "kith/optim/dual/smo.hpp"
#include "optim/engine/line_search.hpp"
#include "optim/robust/point.hpp"

namespace kith::robust {
namespace {

class BallMachine {
 public:
  BallMachine(const Problem& problem, double weight, const NewtonSettings& settings,
              const RunContext& ctx)
      : problem_(problem), weight_(weight), settings_(settings), ctx_(ctx), K_(problem.S) {}

  /// The machine on S + sigma I.
  [[nodiscard]] dual::SmoSolution at(double sigma, const std::optional<Vector>& start) {
    ctx_.check_stop();
    K_.diagonal() = problem_.S.diagonal().array() + sigma;
    const double accuracy = 1e-2 * settings_.tolerance;
    dual::SmoSolution found = dual::smo(
        machine_on(problem_, K_), {.tolerance = accuracy, .gap_tolerance = accuracy}, ctx_, start);
    iterations_ += found.info.iterations;
    return found;
  }
  /// log(|a|^2 / (2 weight)): 0 on the sphere.
  [[nodiscard]] double outside(const Vector& a) const {
    return std::log(a.squaredNorm() / (2 * weight_));
  }
  [[nodiscard]] long iterations() const { return iterations_; }

 private:
  const Problem& problem_;
  double weight_;
  const NewtonSettings& settings_;
  const RunContext& ctx_;
  Matrix K_;
  long iterations_ = 0;
};

void settle(SolveInfo& info, const NewtonSettings& settings) {
  info.status = measured_status(
      SolveStatus::kReducedAccuracy,
      std::abs(info.gap) <= settings.tolerance && info.kkt_residual <= settings.kkt_tolerance);
}

struct End {
  double sigma = 0;
  Vector a;
  double value = 0;  // how far outside the ball
};

/// Between an end outside the ball and one inside: the sphere's a, and the sigma that belongs to
/// it. The last of the way is a straight line, feasible since the set is convex.
End on_the_sphere(BallMachine& machine, End outer, End inner, double weight) {
  constexpr double kNarrow = 1e-11;  // of sigma
  const auto width = [&] { return std::log(inner.sigma / outer.sigma); };
  engine::close_in(
      outer, inner, {.inside = 1e-3},
      [&](double share) {
        const double sigma = outer.sigma * std::exp(share * width());
        End middle{sigma, machine.at(sigma, inner.a).alpha};
        middle.value = machine.outside(middle.a);
        return middle;
      },
      [&] {
        return width() <= kNarrow || outer.value - inner.value <= kNarrow ||
               std::abs(inner.value) <= kNarrow;
      });
  // |inner + t step|^2 = 2 weight
  const Vector step = outer.a - inner.a;
  const double square = step.squaredNorm();
  const double half = inner.a.dot(step);
  const double missing = std::max(0.0, 2 * weight - inner.a.squaredNorm());
  const double root = std::sqrt(half * half + square * missing);
  double t = 0;
  if (square > 0) t = half > 0 ? missing / (half + root) : (root - half) / square;
  t = std::clamp(t, 0.0, 1.0);
  return {inner.sigma + t * (outer.sigma - inner.sigma), inner.a + t * step, 0};
}

/// The kernel and its evidence for an a on the sphere.
Solution moved(const Problem& problem, double weight, const End& end,
               const NewtonSettings& settings) {
  Problem own = problem;
  own.rho = weight / (2 * end.sigma);
  const SplitMatrix split(own);
  Point point = point_at(own, split, end.a);
  Solution solution;
  solution.alpha = end.a;
  solution.b = dual::least_loss_intercept(point.Ku, problem.y, problem.cost);
  solution.rho = own.rho;
  solution.kernel = std::move(point.kernel);
  solution.distance = end.a.squaredNorm() / (4 * own.rho);
  const dual::SvmCertificate machine = certify(machine_on(problem, point.K), end.a, solution.b);
  const Vector u = problem.y.cwiseProduct(end.a);
  const double value = end.a.sum() - 0.5 * u.dot(problem.S * u);
  SolveInfo& info = solution.info;
  info.objective = machine.dual + weight * solution.distance;
  info.gap = dual::relative_gap(value, machine.primal + weight * solution.distance);
  info.kkt_residual = machine.kkt_residual;
  settle(info, settings);
  return solution;
}

Solution unmoved(const Problem& problem, Vector alpha, double b) {
  const dual::SvmCertificate machine = certify(machine_on(problem, problem.S), alpha, b);
  const Vector& lambda = problem.eigen->lambda;
  const Index positive = (lambda.array() > zero_threshold(lambda)).count();
  Solution solution;
  solution.alpha = std::move(alpha);
  solution.b = b;
  solution.kernel = {lambda.tail(positive), problem.eigen->U.rightCols(positive)};
  solution.rho = std::numeric_limits<double>::infinity();
  solution.info.objective = machine.dual;
  solution.info.gap = machine.gap;
  solution.info.kkt_residual = machine.kkt_residual;
  return solution;
}

Solution solve(const Problem& problem, double weight, const NewtonSettings& settings,
               BallMachine& machine) {
  dual::SmoSolution plain = machine.at(0, std::nullopt);
  if (machine.outside(plain.alpha) <= 0) {
    Solution solution = unmoved(problem, std::move(plain.alpha), plain.b);
    solution.info.status = plain.info.status;
    return solution;
  }
  // An S of low rank has many machines: a small enough sigma finds the shortest of them, and costs
  // less than the tolerance of the value, which is at least that of the shortened alpha.
  const double shorter = std::sqrt(2 * weight) / plain.alpha.norm();
  const double least = 0.1 * settings.tolerance * shorter * plain.info.objective / weight;
  dual::SmoSolution shortest = machine.at(least, plain.alpha);
  const double outside = machine.outside(shortest.alpha);
  if (outside <= 0) {
    Solution solution = unmoved(problem, std::move(shortest.alpha), shortest.b);
    settle(solution.info, settings);
    return solution;
  }
  // sigma |a|^2 <= 1'a <= sqrt(n) |a|: inside from here on.
  const double most = std::sqrt(static_cast<double>(problem.y.size()) / (2 * weight));
  End outer{least, std::move(shortest.alpha), outside};
  End inner{most, machine.at(most, std::nullopt).alpha};
  inner.value = machine.outside(inner.a);
  return moved(problem, weight, on_the_sphere(machine, std::move(outer), std::move(inner), weight),
               settings);
}

class Search {
 public:
  Search(const Problem& problem, double weight, const NewtonSettings& settings,
         const RunContext& ctx)
      : problem_(problem), weight_(weight), settings_(settings), ctx_(ctx) {
    // The distance is known to the square root of the gap.
    machine_ = settings;
    machine_.tolerance *= 1e-4;
  }

  /// log rho of one machine, and a value that falls with it and is 0 at the answer.
  struct End {
    double at = 0;
    double value = 0;
  };
  End at(double log_rho) {
    problem_.rho = std::exp(log_rho);
    Solution found = newton(problem_, machine_, ctx_, starts_);
    iterations_ += found.info.iterations;
    const End end{log_rho, -std::log(2 * found.rho * found.distance / weight_)};
    starts_.assign(1, found.alpha);
    // A proof costs as much as a machine: not for answers that are far away.
    constexpr double kNear = 1e-4;
    const bool near = std::abs(end.value) <= kNear;
    if (near || best_.alpha.size() == 0) {
      found.info.gap = certify_norm(problem_, weight_, found.alpha, ctx_).gap;
      const bool proved = near && std::abs(found.info.gap) <= settings_.tolerance &&
                          found.info.kkt_residual <= settings_.kkt_tolerance;
      found.info.status = measured_status(SolveStatus::kReducedAccuracy, proved);
      if (best_.alpha.size() == 0 || proved || found.info.gap < best_.info.gap) {
        best_ = std::move(found);
      }
    }
    return end;
  }
  [[nodiscard]] bool done() const { return best_.info.status == SolveStatus::kSolved; }

  /// Between an end whose value is above 0 and one whose value is not.
  void narrow(End left, End right) {
    constexpr double kNarrow = 1e-15;
    engine::close_in(
        left, right, {.most = 160, .halve_every = 2, .inside = 1e-6},
        [&](double share) { return at(left.at + share * (right.at - left.at)); },
        [&] {
          return done() || left.value == right.value ||
                 right.at - left.at <= kNarrow * std::max(1.0, std::abs(left.at));
        });
  }

  [[nodiscard]] Solution answer() && {
    best_.info.iterations = iterations_;
    return std::move(best_);
  }

 private:
  Problem problem_;
  double weight_;
  const NewtonSettings& settings_;
  NewtonSettings machine_;
  const RunContext& ctx_;
  std::vector<Vector> starts_;
  Solution best_;
  long iterations_ = 0;
};

/// 1'a - 1/2 u'Ku.
double machine_value(const Problem& problem, const Solution& solution) {
  const Vector turned = solution.kernel.U.transpose() * problem.y.cwiseProduct(solution.alpha);
  return solution.alpha.sum() - 0.5 * turned.cwiseAbs2().dot(solution.kernel.lambda);
}

}  // namespace

Solution norm_of_kernel(const Problem& problem, double weight, const NewtonSettings& settings,
                        const RunContext& ctx) {
  BallMachine machine(problem, weight, settings, ctx);
  Solution solution = solve(problem, weight, settings, machine);
  solution.info.iterations = machine.iterations();
  return solution;
}

Solution nearest_kernel(const Problem& problem, const NewtonSettings& settings,
                        const RunContext& ctx) {
  const SplitMatrix split(problem);
  const SymmetricEigen eigen{problem.eigen->lambda.cwiseMax(0.0), problem.eigen->U};
  const Problem clipped{split.positive, problem.y, problem.cost, problem.rho, &eigen};
  dual::SmoSolution machine = BallMachine(clipped, 1, settings, ctx).at(0, std::nullopt);
  Solution solution = unmoved(clipped, std::move(machine.alpha), machine.b);
  solution.distance = std::sqrt(split.negative_squares);
  settle(solution.info, settings);
  solution.info.iterations = machine.info.iterations;
  return solution;
}

Solution search_norm(const Problem& problem, double weight, const NewtonSettings& settings,
                     const RunContext& ctx) {
  Search search(problem, weight, settings, ctx);
  // |S_-| <= |K - S|, and weight |K - S| <= weight |S_-| + 1'c, the objective with K = S_+.
  const double nearest = problem.eigen->lambda.cwiseMin(0.0).norm();
  const double furthest = nearest + problem.cost.sum() / weight;
  const Search::End left = search.at(std::log(weight / (2 * furthest)));
  if (!search.done()) {
    search.narrow(left, search.at(std::log(weight / (2 * nearest))));
  }
  Solution solution = std::move(search).answer();
  solution.offset = 0;
  solution.info.objective = machine_value(problem, solution) + weight * solution.distance;
  return solution;
}

}  // namespace kith::robust
