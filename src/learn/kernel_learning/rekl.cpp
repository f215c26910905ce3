// SPDX-License-Identifier: Apache-2.0
// `rekl`: for each pair of classes and matrices S_i = U_i diag(lambda_i) U_i', [KTBB] (7),
//
//   min over mu_i >= 0, 1'mu_i = tau   of   Omega(K_1 ... K_m) + rho sum_i l(mu_i - lambda_i),
//   K_i = U_i diag(mu_i) U_i',   Omega = max_a 1'a - 1/2 (sum_i sqrt(a' Y K_i Y a))^2       (10)
//
// over 0 <= a <= C, y'a = 0: `emkl` with kernels that keep the eigenvectors of their matrices, by
// optim/trace/kernel; l is the length (the distance of section 4 and Table 3) or its square, which
// the other two methods call l2 and l3. With its weights gamma the decision value is sum_i k_i'Y a
// / gamma_i + b; k_i is U_i diag(mu_i / lambda_i) U_i's_i, where lambda_i is not small, or the
// nearest completion of K_i. Deviations: exact by default, not Algorithm 3; there the rho before
// the loss is missing.
//
// Cost: one decomposition per matrix and pair, then 10 to 40 iterations of m n^3.
#include "kith/learn/kernel_learning/rekl.hpp"

namespace kith {
namespace {

TraceSettings step_of(const ReklSettings& settings) {
  TraceSettings step;
  step.cost = settings.cost;
  step.rho = settings.rho;
  step.loss = settings.loss;
  step.own_loss = settings.own_loss;
  step.trace = settings.trace;
  step.solver = settings.solver;
  step.iterations = settings.iterations;
  step.test_treatment = settings.test_treatment;
  step.multiclass = settings.multiclass;
  step.probability = settings.probability;
  step.tolerance = settings.tolerance;
  return step;
}

}  // namespace

void describe(ReklSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field.as(FieldRole::kKernelCost)(
      "rho", settings.rho, above(0.0),
      "penalty on the distance between the eigenvalues of a kernel and those of its matrix");
  field("loss", settings.loss,
        {trace::KernelLoss::kNorm, trace::KernelLoss::kSquared, trace::KernelLoss::kOwn},
        "the distance: root of the sum of squared differences (l2, as in [KTBB]), the sum itself "
        "(l3), or a function that is given in C++ or Python (own)");
  field("trace", settings.trace, above(0.0), "auto",
        "trace of each kernel learned for a pair of classes; auto: that of the mean of its "
        "matrices, of the positive part of the mean where that is not positive");
  field("solver", settings.solver, "exact, or [KTBB]'s mirror descent, whose gap closes slowly");
  field("iterations", settings.iterations, at_least(1), "auto",
        "most iterations of mirror descent; auto: 20000");
  field("test-treatment", settings.test_treatment, {Treatment::kMap, Treatment::kSample},
        "what is done to the similarities of new samples: the map from matrix to kernel, or the "
        "nearest completion of the kernel");
  describe_tasks(
      settings, field,
      "relative duality gap accepted; auto: 1e-4 for loss l2, 1e-6 for l3, 0.05 for mirror "
      "descent");
}

FittedPath<ReklModel> fit_path(SharedWork& work, Path<ReklSettings> path, RunContext& ctx) {
  std::vector<TraceSettings> steps;
  for (const ReklSettings& settings : path) {
    steps.push_back(step_of(settings));
  }
  return as_models<ReklModel>(fit_trace_pairs(work, trace::KernelShape::kSpectral, steps, ctx));
}

}  // namespace kith
