// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/robust_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kith/core/error.hpp"
#include "optim/robust_point.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

}  // namespace

void validate(const RobustProblem& problem) {
  const Index n = problem.S.rows();
  if (problem.S.cols() != n) {
    refuse(fmt::format("similarities are {} x {}; they must be square", n, problem.S.cols()));
  }
  if (problem.y.size() != n || problem.cost.size() != n) {
    refuse(fmt::format("{} labels and {} costs for {} samples", problem.y.size(),
                       problem.cost.size(), n));
  }
  if (problem.eigen != nullptr && problem.eigen->lambda.size() != n) {
    refuse(fmt::format("a decomposition of {} eigenvalues for {} samples",
                       problem.eigen->lambda.size(), n));
  }
  if (!(problem.rho > 0) || !std::isfinite(problem.rho)) {
    refuse(fmt::format("rho = {}; it is finite and above 0", problem.rho));
  }
  if (!problem.S.allFinite()) refuse("a similarity is not finite");
  for (Index i = 0; i < n; ++i) {
    if (problem.y[i] != 1 && problem.y[i] != -1) {
      refuse(fmt::format("y[{}] = {}; a label is +1 or -1", i, problem.y[i]));
    }
    if (!(problem.cost[i] > 0) || !std::isfinite(problem.cost[i])) {
      refuse(fmt::format("cost[{}] = {}; a cost is finite and above 0", i, problem.cost[i]));
    }
  }
  if (n == 0 || problem.y.minCoeff() == problem.y.maxCoeff()) {
    refuse("the labels must have both classes");
  }
}

RobustCertificate certify(const RobustProblem& problem, const VectorRef& alpha,
                          const RunContext& ctx) {
  validate(problem);
  if (alpha.size() != problem.y.size()) {
    refuse(fmt::format("alpha has {} entries for {} samples", alpha.size(), problem.y.size()));
  }
  const detail::SplitMatrix split(problem);
  const detail::RobustPoint point = detail::robust_point(problem, split, alpha);
  RobustCertificate c;
  c.offset = problem.rho * split.negative_squares;
  c.value = point.value;
  c.upper = detail::machine_bound(problem, point, alpha, ctx).upper;
  const double size = std::max(std::abs(c.value), std::abs(c.upper));
  c.gap = size > 0 ? (c.upper - c.value) / size : 0.0;
  c.feasibility = certify(detail::machine_on(problem, point.K), alpha, 0).feasibility;
  return c;
}

}  // namespace kith
