// SPDX-License-Identifier: Apache-2.0
// `eskl`: for each pair of classes and matrices S_1 ... S_m, [KTBB] (4),
//
//   min over K psd, tr K = tau   of   max_a 1'a - 1/2 a' Y K Y a  +  rho sum_i L(K - S_i)
//
// over 0 <= a <= C, y'a = 0, by optim/trace/kernel. New samples: the mean of their rows is treated
// as the rows of learned kernels are (kernel_learning/learned_kernel), which for L = |.|_F^2 is the
// one matrix that K is near to. Deviations: exact solvers by default; of mirror descent the update
// that [KTBB] Algorithm 1 prints is an option and not the default (optim/papers/mirror_descent).
//
// Cost: per pair, cost and rho one decomposition and 5 to 20 iterations of a few n^3 (l3), 3 to 10
// times that (l2), 30 to 100 times (l1).
#include "kith/learn/kernel_learning/eskl.hpp"

namespace kith {

std::vector<Fitted<EsklModel>> fit_path(SharedWork& work, std::span<const EsklSettings> path,
                                        RunContext& ctx) {
  for (const EsklSettings& settings : path) validate(settings, "eskl");
  const std::vector<TraceSettings> steps(path.begin(), path.end());
  return as_models<EsklModel>(fit_trace_pairs(work, trace::KernelShape::kShared, steps, ctx));
}

}  // namespace kith
