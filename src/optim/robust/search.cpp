// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kith/core/stopwatch.hpp"
#include "optim/engine/line_search.hpp"

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

double negative_part(const Problem& problem) { return problem.eigen->lambda.cwiseMin(0.0).norm(); }

/// 1'a - 1/2 u'Ku.
double machine_value(const Problem& problem, const Solution& solution) {
  const Vector turned = solution.kernel.U.transpose() * problem.y.cwiseProduct(solution.alpha);
  return solution.alpha.sum() - 0.5 * turned.cwiseAbs2().dot(solution.kernel.lambda);
}

}  // namespace

Solution search_norm(const Problem& problem, double weight, const NewtonSettings& settings,
                     const RunContext& ctx) {
  const Stopwatch clock;
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
  solution.info.seconds = clock.seconds();
  return solution;
}

}  // namespace kith::robust
