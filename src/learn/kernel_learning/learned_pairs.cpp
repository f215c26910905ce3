// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/learned_pairs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/errors.hpp"
#include "kith/learn/kernel_learning/average_svm.hpp"
#include "kith/learn/kernel_learning/kernel_sum.hpp"
#include "numerics/unit.hpp"

namespace kith {
namespace {

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
    return of(learned_block(*work, task));
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

/// Those of the `count` queries, else `constant`. Throws Error where that is NaN and the treatment
/// needs them.
Vector self_similarities(const QueryMatrix& query, Treatment treatment, double constant,
                         Index count) {
  if (query.self) return *query.self;
  if (needs_self(treatment) && std::isnan(constant)) {
    throw invalid(
        "test-treatment {} needs the self-similarity of each new sample "
        "([[self]]): the training matrix has no constant diagonal to take it "
        "from",
        enum_name(treatment));
  }
  return Vector::Constant(count, constant);
}

/// The parts of one machine, each named with `suffix`.
template <class A>
void archive_machine(Archived<A, LearnedMachine>& machine, std::string_view suffix, A& archiver) {
  const auto named = [&](const char* part) { return fmt::format("{}_{}", part, suffix); };
  archiver(named("treatment"), machine.treatment);
  archiver(named("coefficients"), machine.coefficients);
  archiver(named("values"), machine.values);
  archiver(named("vectors"), machine.vectors);
  archiver(named("rotated"), machine.rotated);
  archiver(named("intercept"), machine.b);
}

/// What a prediction of pair `pair` relies on, whoever wrote the file: throws Error unless its
/// members are positions below `samples`, and its machine is of their number.
void check_loaded(const LearnedMachine& machine, std::span<const Index> members, Index samples,
                  std::size_t pair) {
  const auto refuse = [&](const std::string& what) {
    throw broken("the machine of pair {}: {}", pair + 1, what);
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

}  // namespace

void describe_treatment(Treatment& treatment, FieldVisitor& field) {
  field("test-treatment", treatment,
        {Treatment::kSample, Treatment::kProject, Treatment::kMap, Treatment::kNone,
         Treatment::kAugmented},
        "what is done to the similarities of new samples: the nearest completion of the kernel, "
        "the projection on its range, the map from matrix to kernel, nothing, or the rule of [LA]");
}

LearnedBlock learned_block(SharedWork& work, const BinaryTask& task) {
  LearnedBlock block;
  if (task.size() == work.train().size()) {
    block.S = work.symmetric();
    block.eigen = work.eigen();
  } else {
    block.S = work.symmetric()(task.samples, task.samples);
    block.eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(block.S));
  }
  block.y = task.y();
  block.weights = weights_of(work.train(), task);
  return block;
}

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

FittedPath<LearnedPairsModel> fit_learned(SharedWork& work, Tasks tasks,
                                          std::span<const LearnedStep> steps,
                                          const KernelProblem& learn, const RunContext& ctx) {
  const Labels& labels = work.train().labels;
  const LearnedLearner learner{.work = &work, .steps = steps, .learn = &learn, .ctx = &ctx};
  FittedPath<LearnedPairsModel> fitted;
  for (auto& one : fit_tasks(tasks, labels, steps, learner, ctx)) {
    LearnedPairsModel model;
    model.samples = labels.size();
    model.tasks = task_table(tasks, labels);
    model.self = {constant_of(work.symmetric().diagonal())};
    model.sigmoids = std::move(one.sigmoids);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      model.members.push_back(tasks[t].samples);
      model.machines.push_back({std::move(one.machines[t].machine)});
    }
    fitted.push_back({std::move(model), std::move(one.info)});
  }
  return fitted;
}

double constant_of(const VectorRef& values) {
  const double first = values(0);
  const double most = values.cwiseAbs().maxCoeff();
  const bool constant = (values.array() - first).abs().maxCoeff() <= 1e-12 * most;
  return constant ? first : std::numeric_limits<double>::quiet_NaN();
}

Matrix decision_values(const LearnedPairsModel& model, const QueryBlock& queries,
                       const RunContext& ctx) {
  check_query_matrices(queries, model.matrices);
  QueryBlock averaged;
  const bool mean = model.self.size() == 1 && model.matrices > 1;
  if (mean) averaged.matrices.push_back(average(queries));
  const std::vector<QueryMatrix>& seen = mean ? averaged.matrices : queries.matrices;
  Matrix values = Matrix::Zero(queries.size(), std::ssize(model.machines));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    check_columns(seen[i], model.samples);
    const DenseBlock rows = mean_rows(seen[i]);
    for (std::size_t p = 0; p < model.machines.size(); ++p) {
      ctx.check_stop();
      const LearnedMachine& machine = model.machines[p][i];
      const Vector self = self_similarities(seen[i], machine.treatment, model.self[i], rows.rows());
      const Matrix own = rows.values()(Eigen::all, model.members[p]);
      values.col(static_cast<Index>(p)) += decisions(machine, own, self);
    }
  }
  return values;
}

Prediction predict(const LearnedPairsModel& model, const QueryBlock& queries,
                   const RunContext& ctx) {
  return decide(model.tasks, decision_values(model, queries, ctx), model.sigmoids);
}

template <class A>
void archive(Archived<A, LearnedPairsModel>& model, A& archiver) {
  Index machines = std::ssize(model.self);
  archiver("samples", model.samples);
  archiver("matrices", model.matrices);
  archiver("machines", machines);
  archive(model.tasks, archiver);
  archiver("sigmoids", model.sigmoids);
  if constexpr (A::kLoading) {
    const bool known = machines == 1 || machines == model.matrices;
    if (model.matrices < 1 || !known) {
      throw broken("the model is damaged: {} machines per pair for {} matrices", machines,
                   model.matrices);
    }
    model.members.resize(model.tasks.first.size());
    model.machines.resize(model.tasks.first.size());
    model.self.clear();
  }
  for (Index i = 0; i < machines; ++i) {
    // One by one: a wrong count then ends at the first that the file does not have.
    if constexpr (A::kLoading) model.self.push_back(0);
    archiver(fmt::format("self_{}", i), model.self[static_cast<std::size_t>(i)]);
  }
  for (std::size_t p = 0; p < model.machines.size(); ++p) {
    archiver(fmt::format("members_{}", p), model.members[p]);
    if constexpr (A::kLoading) model.machines[p].resize(model.self.size());
    for (std::size_t i = 0; i < model.machines[p].size(); ++i) {
      Archived<A, LearnedMachine>& machine = model.machines[p][i];
      archive_machine<A>(machine, fmt::format("{}_{}", p, i), archiver);
      if constexpr (A::kLoading) check_loaded(machine, model.members[p], model.samples, p);
    }
  }
}
template void archive(const LearnedPairsModel&, SavingArchive&);
template void archive(LearnedPairsModel&, LoadingArchive&);

bool needs_self(const LearnedPairsModel& model) {
  for (const std::vector<LearnedMachine>& machines : model.machines) {
    for (std::size_t i = 0; i < machines.size(); ++i) {
      if (needs_self(machines[i].treatment) && std::isnan(model.self[i])) return true;
    }
  }
  return false;
}

}  // namespace kith
