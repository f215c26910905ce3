// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/robust_problem.hpp"

#include "optim/robust_point.hpp"

namespace kith {

void validate(const RobustProblem& problem) { detail::check_robust(problem); }

RobustCertificate certify(const RobustProblem& problem, const VectorRef& alpha,
                          const RunContext& ctx) {
  const detail::RobustCertificate found = detail::certify_robust(problem, alpha, 0, ctx);
  return {.value = found.value, .gap = found.gap, .feasibility = found.feasibility};
}

}  // namespace kith
