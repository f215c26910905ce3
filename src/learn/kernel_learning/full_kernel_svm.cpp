// SPDX-License-Identifier: Apache-2.0
// `full-kernel-svm`: for each pair of classes, n its samples, [CGR] (4), whose SDP form is (7),
//
//   min over c, b, xi, K psd:  (1/n) 1'xi + eta c'Kc + gamma |K - S|_F,
//   y_i (K_i c + b) >= 1 - xi_i,  xi >= 0.
//
// With S' = S / (2 eta), K' = K / (2 eta) and a = 2 eta Y c this is
//
//   max_a min_{K' psd}  1'a - 1/2 a' Y K' Y a + 2 eta gamma |K' - S'|_F,   0 <= a <= 1/n,  y'a = 0,
//
// the robust machine with an unsquared distance (optim/robust_newton). Deviation: no SDP is formed,
// and the one-dimensional search over the weight of the squared distance takes place inside the
// iteration. [CGR] 5's transductive use is left out on purpose: a model here never sees test
// samples. Sample weights multiply 1/n.
#include "kith/learn/kernel_learning/full_kernel_svm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kith/optim/robust_newton.hpp"

namespace kith {
namespace {

RobustSolution learn_block(const PairTask& task, const FullKernelSettings& settings,
                           const RunContext& ctx) {
  const PairBlock& block = task.block;
  const double scale = 1 / (2 * settings.eta);
  const Matrix S = scale * block.S;
  const SymmetricEigen eigen{scale * block.eigen->lambda, block.eigen->U};
  RobustProblem problem{.S = S,
                        .y = block.y,
                        .cost = block.weights / static_cast<double>(block.y.size()),
                        .rho = 1,
                        .eigen = &eigen};
  // Half for the solver: what proves its answer is another computation, whose rounding must not
  // decide.
  RobustNewtonSettings newton{.tolerance = 0.5 * task.tolerance};
  newton.kkt_tolerance = std::max(newton.kkt_tolerance, task.tolerance);
  const double weight = settings.gamma / scale;
  RobustSolution found = robust_norm(problem, weight, newton, ctx);
  // Proved by a fresh decomposition and a machine solved anew. For K = S it was `smo` that ran.
  if (!task.for_sigmoid && std::isfinite(found.rho)) {
    problem.rho = found.rho;
    found.info.gap = certify_norm(problem, weight, found.alpha, ctx).gap;
    const bool missed =
        found.info.status == SolveStatus::kSolved && !(std::abs(found.info.gap) <= task.tolerance);
    if (missed) found.info.status = SolveStatus::kReducedAccuracy;
  }
  found.kernel.lambda /= scale;
  found.distance /= scale;
  found.alpha *= scale;
  found.rho *= scale * scale * scale;  // S + u u' / (4 rho) is then over S itself
  if (std::isfinite(found.rho)) {
    found.offset = settings.gamma * block.eigen->lambda.cwiseMin(0.0).norm();
  }
  return found;
}

}  // namespace

void describe(FullKernelSettings& settings, FieldVisitor& field) {
  field("eta", settings.eta, above(0.0),
        "weight of the machine's norm, against the mean violation");
  field("gamma", settings.gamma, above(0.0),
        "weight of the distance between the kernel and the matrix");
  field("test-treatment", settings.test_treatment,
        "what is done to the similarities of new samples: the nearest completion of the kernel, "
        "the projection on its range, the map from matrix to kernel, nothing, or the rule of [LA]");
  field("probability", settings.probability, "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0), "relative duality gap accepted");
}

std::vector<Fitted<FullKernelModel>> fit_path(SharedWork& work,
                                              std::span<const FullKernelSettings> path,
                                              RunContext& ctx) {
  for (const FullKernelSettings& settings : path) validate(settings, "full-kernel-svm");
  std::vector<LearnedStep> steps;
  for (const FullKernelSettings& settings : path) {
    steps.push_back({settings.test_treatment, settings.probability, settings.tolerance});
  }
  const auto learn = [&](const PairTask& task) { return learn_block(task, path[task.step], ctx); };
  std::vector<Fitted<FullKernelModel>> fitted;
  for (Fitted<LearnedPairsModel>& one : fit_pairs(work, steps, learn, ctx)) {
    fitted.push_back({{std::move(one.model)}, std::move(one.info)});
  }
  return fitted;
}

Fitted<FullKernelModel> fit(SharedWork& work, const FullKernelSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const FullKernelModel& model, const QueryBlock& queries, RunContext& ctx) {
  return predict(model.learned, queries, ctx);
}

std::vector<Index> needed_columns(const FullKernelModel& model) {
  return all_positions(model.learned.samples);
}

void archive(FullKernelModel& model, Archive& archiver) { archive(model.learned, archiver); }

}  // namespace kith
