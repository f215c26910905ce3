// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/kernel_learner.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "kith/core/positions.hpp"
#include "kith/numerics/extreme_eigen.hpp"
#include "kith/optim/dual/convexity.hpp"

namespace kith {
namespace {

/// From here on a part of a task is the whole task with costs of 0 for the samples held out: a copy
/// of their kernel would take longer than the solution. Smaller problems are solved as one block,
/// in which samples that cannot move would only cost time.
constexpr Index kHeldAtZeroFrom = 2048;

Matrix sub_matrix(const MatrixRef& K, std::span<const Index> rows, std::span<const Index> cols) {
  Matrix sub(static_cast<Index>(rows.size()), static_cast<Index>(cols.size()));
  for (std::size_t j = 0; j < cols.size(); ++j) {
    const double* column = K.col(cols[j]).data();
    double* out = sub.col(static_cast<Index>(j)).data();
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = column[rows[i]];
  }
  return sub;
}

/// Samples of a task as rows of its K.
std::vector<Index> at_members(const KernelLearner::Block& block, std::span<const Index> samples) {
  if (block.members.empty()) return {samples.begin(), samples.end()};
  return values_at(block.members, samples);
}

/// Whether the answer serves every cost above its largest coefficient, as far as anybody knows.
bool is_optimal(const SolveInfo& info) {
  return info.status == SolveStatus::kSolved || info.status == SolveStatus::kUnchecked;
}

double primal_objective(const KernelLearner::Block& block, const LinearMachine& machine,
                        double cost) {
  const Vector f = block.kernel.times(machine.c);
  const Vector losses = (1 - block.y.array() * (f.array() + machine.b)).max(0.0);
  return 0.5 * machine.c.dot(f) + block.costs(cost).dot(losses);
}

}  // namespace

Vector KernelLearner::Block::costs(double cost) const {
  return weights.size() > 0 ? Vector(cost * weights) : Vector::Constant(y.size(), cost);
}

Rng KernelLearner::folds(std::size_t number) const {
  return ctx->rng.stream("svm calibration", number);
}

KernelLearner::Block KernelLearner::block_of(const SymmetricMatrix& K, double shift,
                                             std::vector<Index> members) {
  Block block;
  block.K = K;
  block.shift = shift;
  block.kernel = members.empty() ? dual::SymmetricView::dense(K, shift)
                                 : dual::SymmetricView::block(K, members, shift);
  block.members = std::move(members);
  return block;
}

dual::Convexity KernelLearner::judge(const Block& block) const {
  using dual::Convexity;
  if (convexity != Convexity::kUnknown) return convexity;
  if (prove) {
    const bool whole = block.members.empty();
    return is_positive_semidefinite(
               whole ? block.K : SymmetricMatrix(sub_matrix(block.K, block.members, block.members)),
               *ctx)
               ? Convexity::kProved
               : Convexity::kRefuted;
  }
  return dual::sample_refutes(block.kernel) ? Convexity::kRefuted : Convexity::kUnknown;
}

KernelLearner::Block KernelLearner::block(const BinaryTask& task, std::size_t /*number*/) const {
  const bool whole = task.size() == K.rows();
  Block block = block_of(K, shift, whole ? std::vector<Index>() : task.samples);
  block.y = task.y();
  if (train->weights.size() > 0) block.weights = train->weights(task.samples);
  block.convexity = judged ? convexity : judge(block);
  return block;
}

KernelLearner::Block KernelLearner::part(const Block& whole, std::span<const Index> samples) const {
  if (whole.y.size() >= kHeldAtZeroFrom) {
    Block part = block_of(whole.K, whole.shift, whole.members);
    part.y = whole.y;
    part.weights = Vector::Zero(whole.y.size());
    part.weights(samples) = whole.weights.size() > 0 ? Vector(whole.weights(samples))
                                                     : Vector::Ones(std::ssize(samples));
    part.convexity = whole.convexity;
    return part;
  }
  Block part = block_of(whole.K, whole.shift, at_members(whole, samples));
  part.y = whole.y(samples);
  if (whole.weights.size() > 0) part.weights = whole.weights(samples);
  part.convexity = whole.convexity;
  return part;
}

LinearMachine KernelLearner::solve(Block& block, const Request<Machine>& request) const {
  const MachineSettings& settings = ascending[request.step];
  const bool reusable = block.last && !request.calibrates() && is_optimal(block.last->info) &&
                        block.weights.size() == 0 && block.last->largest_alpha < block.last_cost;
  if (!reusable) {
    const dual::SvmDual dual{
        .K = block.kernel, .y = block.y, .cost = block.costs(settings.cost), .linear = {}};
    const double tolerance = request.tolerance(settings.tolerance);
    const dual::SmoSettings solver{
        .tolerance = tolerance,
        .gap_tolerance = request.calibrates() ? std::numeric_limits<double>::infinity() : tolerance,
        .convexity = block.convexity};
    std::optional<Vector> start;
    if (request.calibrates()) {
      const Vector& c = request.whole->c;
      start = block.y.cwiseProduct(c.size() == block.y.size() ? c : Vector(c(request.samples)));
    } else if (block.last && block.last->info.status != SolveStatus::kStationary) {
      start = block.last->alpha;
    }
    block.last = dual::smo(dual, solver, *ctx, start);
    block.last_cost = settings.cost;
  }
  Machine machine;
  machine.evidence.info = block.last->info;
  machine.c = block.y.cwiseProduct(block.last->alpha);
  if (request.calibrates() && machine.c.size() == request.whole->c.size()) {
    machine.c = Vector(machine.c(request.samples));
  }
  machine.b = block.last->b;
  if (objective == MachineObjective::kPrimal && !request.calibrates()) {
    machine.evidence.info.objective = primal_objective(block, machine, settings.cost);
  }
  return machine;
}

Vector KernelLearner::decisions(const Block& whole, const Machine& machine,
                                std::span<const Index> rows,
                                std::span<const Index> trained_on) const {
  std::vector<Index> at;
  std::vector<Index> columns;
  for (Index k = 0; k < machine.c.size(); ++k) {
    if (machine.c(k) == 0) continue;
    at.push_back(k);
    columns.push_back(trained_on[static_cast<std::size_t>(k)]);
  }
  Vector sums =
      sub_matrix(whole.K, at_members(whole, rows), at_members(whole, columns)) * machine.c(at);
  if (whole.shift != 0) {  // of samples among both
    Vector shifted = Vector::Zero(whole.y.size());
    shifted(columns) = whole.shift * machine.c(at);
    sums += shifted(std::vector<Index>(rows.begin(), rows.end()));
  }
  return sums.array() + machine.b;
}

FittedPath<Machines> train_machines(const KernelLearner& learner, Tasks tasks) {
  const Labels& labels = learner.train->labels;
  KernelLearner judging = learner;
  const bool whole = std::ranges::all_of(
      tasks, [&](const BinaryTask& task) { return task.size() == learner.K.rows(); });
  if (learner.convexity == dual::Convexity::kUnknown && (whole || !learner.prove)) {
    const dual::Convexity found =
        learner.judge(KernelLearner::block_of(learner.K, learner.shift, {}));
    // Of a matrix that is refuted some blocks may be convex; of another none is worth a look.
    judging.judged = whole || found == dual::Convexity::kUnknown;
    if (judging.judged) judging.convexity = found;
  }
  return fit_tasks(tasks, labels, learner.ascending, judging, *learner.ctx, [&](auto solved) {
    return put_together(std::move(solved), tasks, labels, labels.size());
  });
}

}  // namespace kith
