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
//
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
#include "kith/learn/kernel_learning/trace_svm.hpp"

namespace kith {

FittedPath<EsklModel> fit_path(SharedWork& work, Path<EsklSettings> path, RunContext& ctx) {
  const std::vector<TraceSettings> steps(path.begin(), path.end());
  return as_models<EsklModel>(fit_trace_pairs(work, trace::KernelShape::kShared, steps, ctx));
}

FittedPath<EmklModel> fit_path(SharedWork& work, Path<EmklSettings> path, RunContext& ctx) {
  const std::vector<TraceSettings> steps(path.begin(), path.end());
  return as_models<EmklModel>(fit_trace_pairs(work, trace::KernelShape::kSeparate, steps, ctx));
}

}  // namespace kith
