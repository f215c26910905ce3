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

#include <utility>

namespace kith {

void describe(EsklSettings& settings, FieldVisitor& field) { describe(settings.learn, field); }

std::vector<Fitted<EsklModel>> fit_path(SharedWork& work, std::span<const EsklSettings> path,
                                        RunContext& ctx) {
  std::vector<TraceSettings> steps;
  for (const EsklSettings& settings : path) {
    validate(settings, "eskl");
    steps.push_back(settings.learn);
  }
  std::vector<Fitted<EsklModel>> fitted;
  for (Fitted<TracePairsModel>& one :
       fit_trace_pairs(work, trace::KernelShape::kShared, steps, ctx)) {
    fitted.push_back({{std::move(one.model)}, std::move(one.info)});
  }
  return fitted;
}

Fitted<EsklModel> fit(SharedWork& work, const EsklSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const EsklModel& model, const QueryBlock& queries, RunContext& ctx) {
  return predict(model.learned, queries, ctx);
}

std::vector<Index> needed_columns(const EsklModel& model) {
  return all_positions(model.learned.samples);
}

template <class A>
void archive(Archived<A, EsklModel>& model, A& archiver) {
  archive(model.learned, archiver);
}
template void archive(const EsklModel&, SavingArchive&);
template void archive(EsklModel&, LoadingArchive&);

}  // namespace kith
