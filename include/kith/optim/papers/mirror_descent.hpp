// SPDX-License-Identifier: Apache-2.0
// The mirror descent of [KTBB] for kernels of a given trace, Algorithms 1 to 3: kept as printed,
// for comparison with trace::learn_kernel.
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/enum_names.hpp"
#include "kith/optim/trace/kernel.hpp"

namespace kith::papers {

/// How mirror descent goes from one kernel to the next.
enum class MirrorUpdate {
  kCorrect,  ///< K = trace exp(G) / tr exp(G), G the sum of all steps: descent in matrix entropy
  kPrinted,  ///< [KTBB] Algorithms 1, 2: old eigenvalues on the eigenvectors of the new gradient.
             ///< No descent unless the two matrices commute: it stalls
};
constexpr auto enum_names(MirrorUpdate /*of*/) { return named("correct", "printed"); }

struct MirrorDescentSettings {
  MirrorUpdate update = MirrorUpdate::kCorrect;
  double tolerance = 0.05;  ///< relative gap by its own certificate
  long max_iterations = 20000;
};

/// [KTBB] Algorithms 1 to 3 with the step sqrt(2 log n / (p t)) / max_i |g_i|. The certificate is
/// the weighted mean of the linear lower bounds that its subgradients give, and closes like 1 /
/// sqrt(t). Takes any `loss` in place of problem.loss; `proof` then means nothing.
[[nodiscard]] trace::Solution mirror_descent(const trace::Problem& problem,
                                             const MirrorDescentSettings& settings = {},
                                             const RunContext& ctx = {});
[[nodiscard]] trace::Solution mirror_descent(const trace::Problem& problem,
                                             const trace::ConvexLoss& loss,
                                             const MirrorDescentSettings& settings = {},
                                             const RunContext& ctx = {});

}  // namespace kith::papers
