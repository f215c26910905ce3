// SPDX-License-Identifier: Apache-2.0
// `full-kernel-svm`: for each pair of classes, n its samples, [CGR] (4), whose SDP form is (7),
//
//   min over c, b, xi, K psd:  (1/n) 1'xi + eta c'Kc + gamma |K - S|_F,
//   y_i (K_i c + b) >= 1 - xi_i,  xi >= 0.
//
// With C = 1 / (2 eta n), a = Y c and the objective divided by 2 eta this is
//
//   max_a min_{K psd}  1'a - 1/2 a' Y K Y a + gamma / (2 eta) |K - S|_F,   0 <= a <= C,  y'a = 0,
//
// the robust machine with an unsquared distance (optim/robust/newton). Deviation: no SDP is formed,
// and the one-dimensional search over the weight of the squared distance takes place inside the
// iteration. [CGR] 5's transductive use is left out on purpose: a model here never sees test
// samples. Sample weights multiply 1/n.
#include "kith/learn/kernel_learning/full_kernel_svm.hpp"

#include <cmath>

#include "kith/learn/kernel_learning/costs_in_reach.hpp"
#include "learn/kernel_learning/robust_proof.hpp"

namespace kith {
namespace {

robust::Solution learn_block(const LearnedTask& task, const FullKernelSettings& settings,
                             const RunContext& ctx) {
  const LearnedBlock& block = task.block;
  // Over S / unit the same problem has eta / unit and gamma unit, and the same objective.
  const double twice_eta = 2 * settings.eta / block.unit;
  const double weight = settings.gamma * block.unit / twice_eta;
  check_range("eta divided by the similarities", twice_eta / 2, block.unit);
  check_range("gamma times the square of the similarities divided by eta", weight, block.unit);
  robust::Problem problem{.S = block.S,
                          .y = block.y,
                          .cost = block.weights / (twice_eta * static_cast<double>(block.y.size())),
                          .rho = 1,
                          .eigen = block.eigen.get()};
  const auto solver = [&] {
    return robust::norm(problem, weight, detail::newton_settings(task.tolerance), ctx);
  };
  const double size = problem.eigen->lambda.cwiseAbs().maxCoeff();
  robust::Solution found = with_costs_in_reach(problem.cost, size, solver);
  // Proved by a fresh decomposition and a machine solved anew. For K = S it was `smo` that ran.
  if (!task.for_sigmoid && std::isfinite(found.rho)) {
    problem.rho = found.rho;
    found.info.gap = robust::certify_norm(problem, weight, found.alpha, ctx).gap;
    const bool proved = std::abs(found.info.gap) <= task.tolerance;
    found.info.status = detail::proved_status(found.info, proved, task.tolerance);
  }
  found.info.objective *= twice_eta;
  if (std::isfinite(found.rho)) {
    found.offset = twice_eta * weight * block.eigen->lambda.cwiseMin(0.0).norm();
  }
  return found;
}

}  // namespace

void describe(FullKernelSettings& settings, FieldVisitor& field) {
  field("eta", settings.eta, above(0.0),
        "weight of the machine's norm, against the mean violation");
  field("gamma", settings.gamma, above(0.0),
        "weight of the distance between the kernel and the matrix");
  describe_treatment(settings.test_treatment, field);
  describe_tasks(settings, field, "relative duality gap accepted");
}

FittedPath<FullKernelModel> fit_path(SharedWork& work, Path<FullKernelSettings> path,
                                     RunContext& ctx) {
  const auto fit_own = [&](Tasks tasks, Path<FullKernelSettings> own) {
    const auto learn = [&](const LearnedTask& task) {
      return learn_block(task, own[task.step], ctx);
    };
    return as_models<FullKernelModel>(fit_learned(work, tasks, learned_steps(own), learn, ctx));
  };
  return fit_with_tasks(work.train().labels, path, as_given, as_given, fit_own);
}

}  // namespace kith
