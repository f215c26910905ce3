// SPDX-License-Identifier: Apache-2.0
// `emkl`: for each pair of classes and matrices S_1 ... S_m, [KTBB] (6),
//
//   min over K_i psd, tr K_i = tau   of   Omega(K_1 ... K_m) + rho sum_i L(K_i - S_i),
//   Omega = max_a 1'a - 1/2 (sum_i sqrt(a' Y K_i Y a))^2          (10), `mkl` of kind mixed
//
// over 0 <= a <= C, y'a = 0, by optim/trace/kernel. With its weights gamma the decision value is
// sum_i k_i'Y a / gamma_i + b, k_i the row that a treatment (kernel_learning/learned_kernel) makes
// for K_i of the new sample's row under S_i. Deviations: exact solvers by default; of mirror
// descent the update that [KTBB] Algorithm 2 prints is an option and not the default.
//
// Cost: m times that of `eskl` per iteration.
#include "kith/learn/kernel_learning/emkl.hpp"

namespace kith {

std::vector<Fitted<EmklModel>> fit_path(SharedWork& work, std::span<const EmklSettings> path,
                                        RunContext& ctx) {
  for (const EmklSettings& settings : path) validate(settings, "emkl");
  const std::vector<TraceSettings> steps(path.begin(), path.end());
  return as_models<EmklModel>(fit_trace_pairs(work, trace::KernelShape::kSeparate, steps, ctx));
}

}  // namespace kith
