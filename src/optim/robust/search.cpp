// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "optim/engine/illinois.hpp"

namespace kith::robust {
namespace {

class Search {
 public:
  Search(const Problem& problem, double weight, const NewtonSettings& settings,
         const RunContext& ctx)
      : problem_(problem), weight_(weight), settings_(settings), ctx_(ctx) {
    // The distance is known to the square root of the gap.
    machine_ = settings;
    machine_.tolerance *= 1e-4;
  }

  /// log rho of one machine, and a `side` that falls with it and is 0 at the answer.
  struct End {
    double at = 0;
    double side = 0;
  };
  End at(double log_rho) {
    problem_.rho = std::exp(log_rho);
    Solution found = newton(problem_, machine_, ctx_, starts_);
    iterations_ += found.info.iterations;
    const End end{log_rho, -std::log(2 * found.rho * found.distance / weight_)};
    starts_.assign(1, found.alpha);
    // A proof costs as much as a machine: not for answers that are far away.
    constexpr double kNear = 1e-4;
    const bool near = std::abs(end.side) <= kNear;
    if (near || best_.alpha.size() == 0) {
      found.info.gap = certify_norm(problem_, weight_, found.alpha, ctx_).gap;
      const bool proved = near && std::abs(found.info.gap) <= settings_.tolerance &&
                          found.info.kkt_residual <= settings_.kkt_tolerance;
      found.info.status = proved ? SolveStatus::kSolved : SolveStatus::kReducedAccuracy;
      if (best_.alpha.size() == 0 || proved || found.info.gap < best_.info.gap) {
        best_ = std::move(found);
      }
    }
    return end;
  }
  [[nodiscard]] bool done() const { return best_.info.status == SolveStatus::kSolved; }

  /// Between an end whose side is above 0 and one whose side is not.
  void narrow(End left, End right) {
    constexpr int kMost = 160;
    constexpr double kNarrow = 1e-15;
    engine::IllinoisRule rule;
    for (int i = 0; i < kMost && !done(); ++i) {
      const double width = right.at - left.at;
      if (width <= kNarrow * std::max(1.0, std::abs(left.at)) || left.side == right.side) return;
      // Every other step halves: at a kink secants creep.
      const double secant = rule.share(left.side, right.side);
      const double share = i % 2 == 1 ? 0.5 : std::clamp(secant, 1e-6, 1 - 1e-6);
      const End middle = at(left.at + share * width);
      if (!std::isfinite(middle.side)) return;
      if (middle.side > 0) {
        left = middle;
        rule.first_moved();
      } else {
        right = middle;
        rule.second_moved();
      }
    }
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

double negative_part(const Problem& problem) { return problem.eigen->lambda.cwiseMin(0.0).norm(); }

void take_time(Solution& solution, std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  solution.info.seconds = taken.count();
}

/// 1'a - 1/2 u'Ku.
double machine_value(const Problem& problem, const Solution& solution) {
  const Vector turned = solution.kernel.U.transpose() * problem.y.cwiseProduct(solution.alpha);
  return solution.alpha.sum() - 0.5 * turned.cwiseAbs2().dot(solution.kernel.lambda);
}

}  // namespace

Solution search_norm(const Problem& problem, double weight, const NewtonSettings& settings,
                     const RunContext& ctx) {
  const auto begin = std::chrono::steady_clock::now();
  Search search(problem, weight, settings, ctx);
  // |S_-| <= |K - S|, and weight |K - S| <= weight |S_-| + 1'c, the objective with K = S_+.
  const double nearest = negative_part(problem);
  const double furthest = nearest + problem.cost.sum() / weight;
  const Search::End left = search.at(std::log(weight / (2 * furthest)));
  if (!search.done()) {
    search.narrow(left, search.at(std::log(weight / (2 * nearest))));
  }
  Solution solution = std::move(search).answer();
  solution.offset = 0;
  solution.info.objective = machine_value(problem, solution) + weight * solution.distance;
  take_time(solution, begin);
  return solution;
}

}  // namespace kith::robust
