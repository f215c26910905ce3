// SPDX-License-Identifier: Apache-2.0
// `svm`: for each pair of classes (or each class against the rest) the dual [CGR] (1)
//
//   max_a 1'a - 1/2 a' Y K Y a   s.t.  0 <= a <= C,  y'a = 0
//
// over the kernel K that condition/spectrum makes of S; a new sample has decision value k'c + b
// with c = Y a. The rule that turns its raw row s into k is linear (or leaves it alone) and is
// folded into the coefficients, so that a prediction is s'c_raw + b (with very many tasks it is
// kept as a map). [TR] 2.1-2.2; with flip this is the Krein-space machine of Loosli, Canu and Ong
// (2016).
//
// Cost: one decomposition (clip, flip, diffusion), lambda_min (shift) or one product (square) for
// all pairs and all costs, then one dual solution per pair and cost.
#include "kith/learn/svm/kernel_svm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>

#include "core/errors.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/learn/svm/augmented.hpp"
#include "kith/learn/svm/kernel_learner.hpp"
#include "kith/learn/svm/prototypes.hpp"
#include "kith/learn/svm/spectrum_kernel.hpp"

namespace kith {
namespace {

dual::Convexity convexity_of(Spectrum spectrum) {
  return spectrum == Spectrum::kNone ? dual::Convexity::kUnknown : dual::Convexity::kProved;
}

/// The kernel with what is done to new rows, and how far that is from the kernel.
struct TreatedKernel {
  Conditioned kernel;
  double shift = 0;  // on the diagonal of the kernel, which is not copied for it
  double consistency = 0;
  double near_cut = 0;  ///< share_near_cut of a shift that is mapped
};

TreatedKernel treated_kernel(SharedWork& work, const SvmSettings& settings, const RunContext& ctx) {
  TreatedKernel treated;
  if (settings.spectrum == Spectrum::kShift) {
    treated.shift = work.shift(ctx);
    const KernelWay way = treated.shift > 0 ? KernelWay::kShift : KernelWay::kSemidefinite;
    treated.kernel = {.kernel = work.symmetric(), .transform = Unchanged{}, .origin = {.way = way}};
  } else {
    treated.kernel = spectrum_kernel(work, settings.spectrum, ctx, settings.beta);
  }
  if (settings.test_treatment == Treatment::kNone) treated.kernel.transform = Unchanged{};
  if (settings.test_treatment == Treatment::kMap && settings.spectrum == Spectrum::kShift) {
    treated.kernel.transform = shift_map(work.eigen(ctx), work.shift(ctx));
    treated.near_cut = share_near_cut(work.symmetric(), ctx);
  }
  treated.consistency =
      consistency(treated.kernel, rows_as_new(work, settings.spectrum), treated.shift);
  return treated;
}

/// Says where the map of a shift is not well posed.
void note_near_cut(double share, FitInfo& info) {
  constexpr double kMuch = 0.05;
  if (share <= kMuch) return;
  info.notes.push_back(fmt::format(
      "the answer depends on which eigenvalues count as zero (here those below {:g} of the "
      "largest): "
      "the ones within a factor of ten of that make {:.0f} % of what the machine sees of a new "
      "sample; [[set=test-treatment=linear]] does not divide by them, nor does "
      "[[set=spectrum=clip]]",
      kShiftMapCut, 100 * share));
}

Fitted<SvmModel> svm_model(Fitted<Machines> fitted, const SvmSettings& settings, SharedWork& work,
                           const TestTransform& transform) {
  SvmModel model;
  const Index samples = work.train().size();
  const std::vector<Index> all = all_positions(samples);
  model.spectrum = settings.spectrum;
  model.test_treatment = settings.test_treatment;
  if (settings.spectrum == Spectrum::kDiffusion) {
    model.beta = diffusion_beta(settings.beta, work.eigen()->lambda);
  }
  ColumnMachines& machines = model;
  if (settings.test_treatment == Treatment::kAugmented) {
    machines = {{std::move(fitted.model)}, samples, all, {}};
    keep_augmented_parts(model, work);
  } else if (std::holds_alternative<Unchanged>(transform)) {
    machines = column_machines(std::move(fitted.model), samples, all);
  } else {
    machines = column_machines(std::move(fitted.model), samples, all,
                               [&](const MatrixRef& c) { return fold(transform, c); });
  }
  return {std::move(model), std::move(fitted.info)};
}

/// One step of a path with scope=all: settings that differ in cost alone, ascending.
FittedPath<SvmModel> fit_whole(SharedWork& work, Tasks tasks, Path<SvmSettings> ascending,
                               const RunContext& ctx) {
  const TrainingSet& train = work.train();
  const SvmSettings& first = ascending.front();
  const TreatedKernel treated = treated_kernel(work, first, ctx);
  const std::vector<MachineSettings> machines = machine_settings(ascending);
  const KernelLearner learner{.K = treated.kernel.kernel,
                              .shift = treated.shift,
                              .train = &train,
                              .ascending = machines,
                              .convexity = convexity_of(first.spectrum),
                              .prove = first.prove,
                              .ctx = &ctx};
  FittedPath<SvmModel> fitted;
  for (Fitted<Machines>& one : train_machines(learner, tasks)) {
    if (first.test_treatment != Treatment::kAugmented) {
      one.info.consistency = treated.consistency;
    }
    note_near_cut(treated.near_cut, one.info);
    one.info.kernel = treated.kernel.origin;
    one.info.kernel_words = in_words(treated.kernel.origin, first.spectrum, train.size());
    fitted.push_back(
        svm_model(std::move(one), ascending[fitted.size()], work, treated.kernel.transform));
  }
  return fitted;
}

/// With scope=pair each task has a kernel of its own, made of the similarities of its samples. The
/// coefficients are brought from the kernel to those in the end.
struct OwnKernelLearner {
  struct Machine : LinearMachine {
    double near_cut = 0;
  };
  struct Block {
    std::unique_ptr<TrainingSet> set;  // of the task
    std::unique_ptr<SharedWork> work;
    TreatedKernel treated;
    KernelLearner::Block machines;
  };

  const TrainingSet* train = nullptr;
  Path<SvmSettings> ascending;
  Path<MachineSettings> machines;
  const RunContext* ctx = nullptr;

  [[nodiscard]] KernelLearner on_kernel() const {
    const SvmSettings& first = ascending.front();
    return {.ascending = machines,
            .convexity = convexity_of(first.spectrum),
            .prove = first.prove,
            .ctx = ctx};
  }
  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.child("svm pair", number).stream("svm calibration", 0);
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t number) const {
    Block own;
    own.set = std::make_unique<TrainingSet>();
    const TrainingMatrix& matrix = train->matrices.front();
    own.set->matrices.push_back({matrix.name, select(matrix.block, task.samples, task.samples)});
    own.set->labels = select(train->labels, task.samples);
    if (train->weights.size() > 0) own.set->weights = train->weights(task.samples);
    own.work = std::make_unique<SharedWork>(*own.set);
    RunContext inner = *ctx;
    inner.rng = ctx->rng.child("svm pair", number);
    own.treated = treated_kernel(*own.work, ascending.front(), inner);
    KernelLearner learner = on_kernel();
    learner.K = own.treated.kernel.kernel;
    learner.shift = own.treated.shift;
    learner.train = own.set.get();
    BinaryTask whole{.samples = all_positions(task.size()), .signs = task.signs};
    own.machines = learner.block(whole, 0);
    return own;
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    Block part;
    part.machines = on_kernel().part(whole.machines, samples);
    return part;
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    Machine machine{on_kernel().solve(
        block.machines,
        {.step = request.step, .whole = request.whole, .samples = request.samples})};
    machine.consistency = block.treated.consistency;
    machine.near_cut = block.treated.near_cut;
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const {
    return on_kernel().decisions(whole.machines, machine, rows, trained_on);
  }
  void finish(const Block& whole, Machine& machine) const {
    machine.c = fold(whole.treated.kernel.transform, machine.c);
  }
};

FittedPath<SvmModel> fit_by_task(SharedWork& work, Tasks tasks, Path<SvmSettings> ascending,
                                 const RunContext& ctx) {
  const TrainingSet& train = work.train();
  const SvmSettings& first = ascending.front();
  if (first.test_treatment == Treatment::kAugmented) {
    throw invalid(
        "svm: test-treatment augmented adds a new sample to the whole training block; it "
        "needs scope all");
  }
  const std::vector<MachineSettings> machines = machine_settings(ascending);
  const OwnKernelLearner learner{
      .train = &train, .ascending = ascending, .machines = machines, .ctx = &ctx};
  FittedPath<SvmModel> fitted;
  for (auto& one : fit_tasks(tasks, train.labels, ascending, learner, ctx)) {
    double near_cut = 0;
    for (const auto& machine : one.machines) near_cut = std::max(near_cut, machine.near_cut);
    note_near_cut(near_cut, one.info);
    fitted.push_back(svm_model(put_together(std::move(one), tasks, train.labels, train.size()),
                               ascending[fitted.size()], work, Unchanged{}));
  }
  return fitted;
}

/// What settings share that differ in cost alone. Those with another tolerance stand apart: a loose
/// solution must not be passed on for a tight one.
auto svm_kernel_key(const SvmSettings& s) {
  return std::tuple(s.spectrum, s.test_treatment, s.scope,
                    s.spectrum == Spectrum::kDiffusion ? s.beta : std::nullopt, s.tolerance,
                    s.prove);
}

}  // namespace

void describe(SvmSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field("spectrum", settings.spectrum, "what is done to the eigenvalues before training");
  field("test-treatment", settings.test_treatment,
        {Treatment::kLinear, Treatment::kAugmented, Treatment::kNone, Treatment::kMap},
        "what is done to the similarities of new samples: the same linear map as the training "
        "block's, the modified spectrum of both together, nothing, or linear with K S^+ s for "
        "shift");
  field("scope", settings.scope, "modify the spectrum once for all classes, or for each pair");
  field("beta", settings.beta, above(0.0), "auto",
        "of spectrum diffusion: the kernel is exp(beta S); auto: 1 / max|lambda|");
  field.as(FieldRole::kProof)("prove", settings.prove,
                              "of spectrum none: a Cholesky factorisation proves that the matrix "
                              "is a kernel, or refutes it");
  describe_tasks(settings, field, kGapHelp);
}

FittedPath<SvmModel> fit_path(SharedWork& work, Path<SvmSettings> path, RunContext& ctx) {
  const auto fit_kernel = [&](Tasks tasks, Path<SvmSettings> ascending) {
    return ascending.front().scope == SpectrumScope::kAll
               ? fit_whole(work, tasks, ascending, ctx)
               : fit_by_task(work, tasks, ascending, ctx);
  };
  return fit_with_tasks(work.train().labels, path, svm_kernel_key, by_cost, fit_kernel);
}

DenseBlock machine_rows(const SvmModel& model, const QueryBlock& queries, const RunContext& ctx) {
  const QueryMatrix& query = queries.matrices.front();
  check_columns(query, std::ssize(model.columns));
  DenseBlock rows = query_rows(query, model.spectrum);
  if (model.test_treatment != Treatment::kAugmented) return rows;
  if (!query.self) {
    throw invalid(
        "svm: test-treatment augmented needs the self-similarity of each new sample "
        "([[self]])");
  }
  return augmented_rows(model, rows, *query.self, ctx);
}

std::vector<Explanation> explain(const SvmModel& model, const QueryBlock& queries,
                                 std::span<const int> labels, RunContext& ctx) {
  if (model.test_treatment == Treatment::kAugmented) {
    throw invalid(
        "svm: with test-treatment augmented the kernel is another for each new sample, and no part "
        "of it belongs to one training sample; the other treatments can be explained");
  }
  const ColumnMachines& machines = model;
  return explain(machines, machine_rows(model, queries, ctx), labels);
}

}  // namespace kith
