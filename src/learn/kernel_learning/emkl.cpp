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

#include <utility>

namespace kith {

void describe(EmklSettings& settings, FieldVisitor& field) { describe(settings.learn, field); }

std::vector<Fitted<EmklModel>> fit_path(SharedWork& work, std::span<const EmklSettings> path,
                                        RunContext& ctx) {
  std::vector<TraceSettings> steps;
  for (const EmklSettings& settings : path) {
    validate(settings, "emkl");
    steps.push_back(settings.learn);
  }
  std::vector<Fitted<EmklModel>> fitted;
  for (Fitted<TracePairsModel>& one :
       fit_trace_pairs(work, trace::KernelShape::kSeparate, steps, ctx)) {
    fitted.push_back({{std::move(one.model)}, std::move(one.info)});
  }
  return fitted;
}

Fitted<EmklModel> fit(SharedWork& work, const EmklSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const EmklModel& model, const QueryBlock& queries, RunContext& ctx) {
  return predict(model.learned, queries, ctx);
}

std::vector<Index> needed_columns(const EmklModel& model) {
  return all_positions(model.learned.samples);
}

template <class A>
void archive(Archived<A, EmklModel>& model, A& archiver) {
  archive(model.learned, archiver);
}
template void archive(const EmklModel&, SavingArchive&);
template void archive(EmklModel&, LoadingArchive&);

}  // namespace kith
