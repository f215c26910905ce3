// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/core/context.hpp"
#include "kith/optim/robust_problem.hpp"

namespace kith {

/// What alpha proves about a robust machine, recomputed from the data alone. With K the best kernel
/// for alpha, every feasible a' has D(a') <= S(a', K), and the largest S(a', K) is one support
/// vector machine on K: its primal value is `upper`. Values are given without `offset`, which can
/// be a million times the rest; its digits never enter them.
struct RobustCertificate {
  double offset = 0;        ///< rho |S_-|_F^2
  double value = 0;         ///< D(alpha) - offset
  double upper = 0;         ///< a bound on D - offset over all feasible points
  double gap = 0;           ///< (upper - value) / max(|value|, |upper|); 0 when both are 0
  double kkt_residual = 0;  ///< as SvmCertificate, of (alpha, b) and the machine on K
  double feasibility = 0;   ///< as SvmCertificate
};

/// One decomposition, another where `problem` brings none of S, and one machine. Throws
/// Error(kInvalidArgument) for a malformed problem.
[[nodiscard]] RobustCertificate certify(const RobustProblem& problem, const VectorRef& alpha,
                                        double b, const RunContext& ctx = {});

/// Throws Error(kInvalidArgument) naming the first entry that breaks a rule of RobustProblem.
void validate(const RobustProblem& problem);

}  // namespace kith
