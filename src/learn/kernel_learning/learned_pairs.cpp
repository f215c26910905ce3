// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/learned_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "kith/core/error.hpp"
#include "numerics/unit.hpp"

namespace kith {
namespace {

/// The block as its solver sees it; none where that is the block itself.
std::optional<LearnedBlock> in_own_unit(const LearnedBlock& block) {
  const double unit = own_unit(block.eigen->lambda.cwiseAbs().maxCoeff(), kOrdinarySimilarities);
  if (unit == 1) return std::nullopt;
  LearnedBlock own = block;
  own.unit = unit;
  own.S /= unit;
  own.eigen = std::make_shared<const SymmetricEigen>(
      SymmetricEigen{block.eigen->lambda / unit, block.eigen->U});
  return own;
}

/// What a treatment needs of the kernel: its positive eigenpairs, or for treatment augmented all
/// those of M = S + u u' / (4 rho).
SymmetricEigen basis_of(const LearnedBlock& block, robust::Solution& solution,
                        Treatment treatment) {
  if (treatment != Treatment::kAugmented) return std::move(solution.kernel);
  const Vector u = block.y.cwiseProduct(solution.alpha);
  Matrix M = block.S;
  M.noalias() += u * (u / (4 * solution.rho)).transpose();
  return symmetric_eigen(std::move(M));
}

bool is_finite(const LearnedMachine& machine) {
  return std::isfinite(machine.b) && machine.coefficients.allFinite() &&
         machine.values.allFinite() && machine.vectors.allFinite() && machine.rotated.allFinite();
}

/// For fit_tasks.
struct LearnedLearner {
  struct Machine : BinaryMachine {
    LearnedMachine machine;
  };
  /// Decomposed once for the whole path.
  struct Block {
    LearnedBlock block;
    std::optional<LearnedBlock> scaled;  // what the solver sees where that is not the block
    std::vector<Vector> known{};         // alpha of each step, of what the solver saw
  };

  SharedWork* work = nullptr;
  std::span<const LearnedStep> steps;
  const KernelProblem* learn = nullptr;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("learned kernel calibration", number);
  }
  [[nodiscard]] static Block of(LearnedBlock block) {
    std::optional<LearnedBlock> scaled = in_own_unit(block);
    return {.block = std::move(block), .scaled = std::move(scaled)};
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t /*number*/) const {
    LearnedBlock whole;
    if (task.size() == work->train().size()) {
      whole.S = work->symmetric();
      whole.eigen = work->eigen();
    } else {
      whole.S = work->symmetric()(task.samples, task.samples);
      whole.eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(whole.S));
    }
    whole.y = task.y();
    whole.weights = weights_of(work->train(), task);
    return of(std::move(whole));
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    LearnedBlock part;
    part.S = whole.block.S(samples, samples);
    part.y = whole.block.y(samples);
    part.weights = whole.block.weights(samples);
    part.eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(part.S));
    return of(std::move(part));
  }
  [[nodiscard]] Machine solve(Block& path, const Request<Machine>& request) const {
    const LearnedStep& step = steps[request.step];
    const LearnedBlock& seen = path.scaled ? *path.scaled : path.block;
    path.known.resize(request.step);  // a step without probabilities left none
    robust::Solution found = (*learn)({.block = seen,
                                       .step = request.step,
                                       .tolerance = request.tolerance(step.tolerance),
                                       .for_sigmoid = request.calibrates(),
                                       .known = path.known});
    path.known.push_back(found.alpha);
    SymmetricEigen basis = basis_of(seen, found, step.treatment);
    basis.lambda *= seen.unit;
    found.alpha /= seen.unit;
    const LearnedBlock& block = path.block;
    Machine result;
    result.machine = learned_machine(step.treatment, basis, *block.eigen,
                                     block.y.cwiseProduct(found.alpha), found.b);
    result.evidence.info = found.info;
    if (request.calibrates()) return result;
    if (!is_finite(result.machine)) result.evidence.info.status = SolveStatus::kNumericalFailure;
    result.evidence.objective_offset = found.offset;
    result.evidence.trace = std::move(found.trace);
    for (BoundsStep& bounds : result.evidence.trace) {
      bounds.lower += found.offset;
      bounds.upper += found.offset;
    }
    result.consistency = consistency(step.treatment, basis, *block.eigen, block.S);
    return result;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const {
    const Matrix& S = whole.block.S;
    return kith::decisions(machine.machine, S(rows, trained_on), Vector(S.diagonal()(rows)));
  }
};

}  // namespace

void check_range(std::string_view what, double value, double unit) {
  constexpr double kMost = 1e150;
  if (value >= 1 / kMost && value <= kMost) return;
  constexpr double kOrdinary = 1e6;
  std::string message =
      fmt::format("{} is {:.0e}, which is beyond what can be computed with ({:.0e} to {:.0e})",
                  what, value, 1 / kMost, kMost);
  if (!(unit <= kOrdinary && unit >= 1 / kOrdinary)) {
    message += fmt::format("; the similarities are near {:.0e}: divide them by that", unit);
  }
  throw Error(ErrorCode::kInvalidArgument, message);
}

std::vector<Fitted<LearnedPairsModel>> fit_learned(SharedWork& work,
                                                   std::span<const LearnedStep> steps,
                                                   const KernelProblem& learn,
                                                   const RunContext& ctx) {
  const Labels& labels = work.train().labels;
  const std::vector<BinaryTask> tasks = binary_tasks(labels);
  const LearnedLearner learner{.work = &work, .steps = steps, .learn = &learn, .ctx = &ctx};
  std::vector<Fitted<LearnedPairsModel>> fitted;
  for (auto& one : fit_tasks(tasks, labels, steps, learner, ctx)) {
    LearnedPairsModel model;
    model.samples = labels.size();
    model.tasks = task_table(tasks, labels);
    model.self = constant_of(work.symmetric().diagonal());
    model.sigmoids = std::move(one.sigmoids);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      model.members.push_back(tasks[t].samples);
      model.machines.push_back(std::move(one.machines[t].machine));
    }
    fitted.push_back({std::move(model), std::move(one.info)});
  }
  return fitted;
}

Prediction predict(const LearnedPairsModel& model, const QueryBlock& queries,
                   const RunContext& ctx) {
  const QueryMatrix& query = queries.matrices.front();
  const DenseBlock rows = learned_rows(query, model.samples);
  Matrix values(rows.rows(), std::ssize(model.machines));
  for (std::size_t p = 0; p < model.machines.size(); ++p) {
    ctx.check_stop();
    const Matrix own = rows.values()(Eigen::all, model.members[p]);
    const LearnedMachine& machine = model.machines[p];
    const Vector self = self_similarities(query, machine.treatment, model.self, rows.rows());
    values.col(static_cast<Index>(p)) = decisions(machine, own, self);
  }
  return decide(model.tasks, values, model.sigmoids);
}

double constant_of(const VectorRef& values) {
  const double first = values(0);
  const double most = values.cwiseAbs().maxCoeff();
  const bool constant = (values.array() - first).abs().maxCoeff() <= 1e-12 * most;
  return constant ? first : std::numeric_limits<double>::quiet_NaN();
}

DenseBlock learned_rows(const QueryMatrix& query, Index samples) {
  const DenseBlock to = to_dense(query.to_training);
  if (to.cols() != samples) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("queries have {} columns; the model needs its {} training samples",
                            to.cols(), samples));
  }
  if (!query.from_training) return to;
  return DenseBlock(0.5 * (to.values() + to_dense(*query.from_training).values()));
}

Vector self_similarities(const QueryMatrix& query, Treatment treatment, double constant,
                         Index count) {
  if (query.self) return *query.self;
  if (needs_self(treatment) && std::isnan(constant)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("test-treatment {} needs the self-similarity of each new sample "
                            "([[self]]): the training matrix has no constant diagonal to take it "
                            "from",
                            enum_name(treatment)));
  }
  return Vector::Constant(count, constant);
}

template <class A>
void archive(Archived<A, LearnedMachine>& machine, std::string_view suffix, A& archiver) {
  const auto named = [&](const char* part) { return fmt::format("{}_{}", part, suffix); };
  archiver(named("treatment"), machine.treatment);
  archiver(named("coefficients"), machine.coefficients);
  archiver(named("values"), machine.values);
  archiver(named("vectors"), machine.vectors);
  archiver(named("rotated"), machine.rotated);
  archiver(named("intercept"), machine.b);
}
template void archive(const LearnedMachine&, std::string_view, SavingArchive&);
template void archive(LearnedMachine&, std::string_view, LoadingArchive&);

void check_loaded(const LearnedMachine& machine, std::span<const Index> members, Index samples,
                  std::size_t pair) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kBadInput, fmt::format("the machine of pair {}: {}", pair + 1, what));
  };
  for (const Index member : members) {
    if (member < 0 || member >= samples) {
      refuse(fmt::format("member {}; members are positions below {}, the number of samples", member,
                         samples));
    }
  }
  const Index count = std::ssize(members);
  const bool fits = needs_self(machine.treatment)
                        ? machine.vectors.rows() == count &&
                              machine.vectors.cols() == machine.values.size() &&
                              machine.rotated.size() == machine.values.size()
                        : machine.coefficients.size() == count;
  if (!fits) refuse(fmt::format("its arrays do not fit its {} members", count));
}

template <class A>
void archive(Archived<A, LearnedPairsModel>& model, A& archiver) {
  archiver("samples", model.samples);
  archive(model.tasks, archiver);
  archiver("sigmoids", model.sigmoids);
  archiver("self", model.self);
  if constexpr (A::kLoading) {
    model.members.resize(model.tasks.first.size());
    model.machines.resize(model.tasks.first.size());
  }
  for (std::size_t p = 0; p < model.machines.size(); ++p) {
    archiver(fmt::format("members_{}", p), model.members[p]);
    archive(model.machines[p], std::to_string(p), archiver);
    if constexpr (A::kLoading) check_loaded(model.machines[p], model.members[p], model.samples, p);
  }
}
template void archive(const LearnedPairsModel&, SavingArchive&);
template void archive(LearnedPairsModel&, LoadingArchive&);

bool needs_self(const LearnedPairsModel& model) {
  return std::isnan(model.self) &&
         std::any_of(model.machines.begin(), model.machines.end(),
                     [](const LearnedMachine& one) { return needs_self(one.treatment); });
}

}  // namespace kith
