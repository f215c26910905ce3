// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/trace_pairs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/multiclass/fit_tasks.hpp"
#include "kith/learn/path_groups.hpp"
#include "learn/kernel_learning/repeated_eigenvalues.hpp"
#include "learn/kernel_learning/trace_block.hpp"

namespace kith {
namespace {

using detail::TraceBlock;

/// All eigenvalues of a kernel of n samples, those that are 0 included.
Vector with_zeros(const Vector& lambda, Index n) {
  Vector all = Vector::Zero(n);
  all.tail(lambda.size()) = lambda;
  return all;
}

/// What `train --json` shows of one pair's kernels.
Json kernels_json(TraceBlock& block, trace::KernelShape shape, const trace::Solution& solution,
                  const TrainingSet& train) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < solution.kernels.size(); ++i) {
    Json one = Json::object();
    if (shape != trace::KernelShape::kShared) one["matrix"] = train.matrices[i].name;
    if (shape == trace::KernelShape::kSpectral) {
      block.decompose();
      one["similarity_eigenvalues"] = real(block.eigen[i].lambda);
    }
    one["eigenvalues"] = real(with_zeros(solution.kernels[i].lambda, block.y.size()));
    kernels.push_back(std::move(one));
  }
  return kernels;
}

/// The matrices with repeated eigenvalues for which different ones were learned.
std::vector<std::string> repeated_in(const TraceBlock& block, trace::KernelShape shape,
                                     const trace::Solution& solution, const TrainingSet& train) {
  std::vector<std::string> names;
  if (shape != trace::KernelShape::kSpectral) return names;
  for (std::size_t i = 0; i < solution.kernels.size(); ++i) {
    const Vector learned = with_zeros(solution.kernels[i].lambda, block.y.size());
    if (!detail::differ_where_repeated(block.eigen[i].lambda, learned)) continue;
    names.push_back(fmt::format("matrix {}", in_quotes(train.matrices[i].name)));
  }
  return names;
}

/// Settings whose problems differ in nothing but the cost have the same.
auto trace_problem_key(const TraceSettings& s) {
  return std::tuple(s.loss, s.own_loss.get(), s.solver, s.update, s.iterations, s.trace,
                    s.tolerance, s.rho);
}

/// For fit_tasks; costs ascend among settings of the same problem.
struct TraceLearner {
  struct Machine : BinaryMachine {
    std::vector<LearnedMachine> machines;
    double trace = 0;
    Index samples = 0;  // of the task
    Json kernels;
    std::vector<std::string> repeated;  // matrices whose repeated eigenvalues matter
  };
  struct Block {
    TraceBlock block;
    double own_trace = 0;  // of a whole task, or what the part has of it
    std::optional<TraceSettings> found_for{};
    trace::Solution found{};  // in the unit of its trace
    Vector found_cost{};      // in the same, what it is proved for
  };

  SharedWork* work = nullptr;
  trace::KernelShape shape = trace::KernelShape::kShared;
  Path<TraceSettings> steps;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("trace kernel calibration", number);
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t /*number*/) const {
    Block whole{.block = detail::trace_block(*work, task, shape)};
    whole.own_trace = detail::own_trace(whole.block);
    return whole;
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    return {.block = detail::part_of(whole.block, samples)};
  }
  [[nodiscard]] Machine solve(Block& path, const Request<Machine>& request) const {
    return request.calibrates() ? solve_part(path.block, request)
                                : solve_whole(path, steps[request.step]);
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const {
    Vector values = Vector::Zero(std::ssize(rows));
    for (std::size_t i = 0; i < machine.machines.size(); ++i) {
      const Matrix& S = whole.block.seen()[i];
      const Vector self = S.diagonal()(rows);
      values += kith::decisions(machine.machines[i], S(rows, trained_on), self);
    }
    return values;
  }

 private:
  [[nodiscard]] Machine solve_whole(Block& path, const TraceSettings& settings) const {
    TraceBlock& block = path.block;
    const double trace = settings.trace.value_or(path.own_trace);
    const double unit = detail::unit_of(settings, trace, block.y.size());
    trace::Problem problem = detail::problem_of(block, shape, settings, trace, unit);
    if (!serves(path, problem, settings)) {
      path.found = detail::solve(problem, settings, *ctx);
      path.found_cost = problem.cost;
    }
    path.found_for = settings;
    const trace::Solution shown = detail::in_data_unit(path.found, unit);
    Machine result;
    result.machines = detail::machines_of(block, shown, settings.test_treatment);
    result.evidence.info = shown.info;
    if (!detail::descends(settings) && settings.loss == trace::KernelLoss::kSquared) {
      result.evidence.objective_offset = shown.offset;
    }
    if (shape != trace::KernelShape::kShared) {
      const Vector weights = detail::weights_of(shown);
      for (Index i = 0; i < weights.size(); ++i) {
        const std::string& name = work->train().matrices[static_cast<std::size_t>(i)].name;
        result.evidence.kernel_weights.push_back({name, weights(i)});
      }
    }
    result.trace = trace;
    result.samples = block.y.size();
    result.consistency = detail::worst_consistency(block, shown, settings.test_treatment);
    result.kernels = kernels_json(block, shape, shown, work->train());
    result.repeated = repeated_in(block, shape, shown, work->train());
    return result;
  }

  /// Exactly, with a kernel as large per sample as the whole one.
  [[nodiscard]] Machine solve_part(TraceBlock& part, const Request<Machine>& request) const {
    TraceSettings own = steps[request.step];
    own.solver = TraceSolver::kExact;
    own.update = papers::MirrorUpdate::kCorrect;
    // The splitting method of l1 takes ten times the steps for one more digit.
    own.tolerance = own.loss == trace::KernelLoss::kAbsolute ? 10 * kCalibrationTolerance
                                                             : kCalibrationTolerance;
    const auto whole_size = static_cast<double>(request.whole->samples);
    const double share = static_cast<double>(part.y.size()) / whole_size;
    const double trace = share * request.whole->trace;
    const double unit = detail::unit_of(own, trace, part.y.size());
    trace::Problem problem = detail::problem_of(part, shape, own, trace, unit);
    const trace::Solution found = detail::in_data_unit(detail::solve(problem, own, *ctx), unit);
    Machine result;
    result.machines = detail::machines_of(part, found, own.test_treatment);
    return result;
  }

  /// Whether the last solution, of a smaller cost at which no coefficient stood, is proved for this
  /// problem too. Nothing else is taken over: over the grid, interior points that begin near the
  /// last solution take as many iterations as others, give or take a fifth.
  [[nodiscard]] static bool serves(Block& path, const trace::Problem& problem,
                                   const TraceSettings& settings) {
    constexpr double kInside = 1 - 1e-6;
    trace::Solution& found = path.found;
    const bool candidate = path.found_for && !detail::descends(settings) &&
                           trace_problem_key(*path.found_for) == trace_problem_key(settings) &&
                           found.info.status == SolveStatus::kSolved &&
                           path.found_for->cost <= settings.cost;
    if (!candidate) return false;
    if (!(found.alpha.array() < kInside * path.found_cost.array()).all()) return false;
    trace::update_evidence(problem, found);
    if (!(found.info.gap <= detail::tolerance_of(settings, problem.shape))) return false;
    found.info.iterations = 0;
    return true;
  }
};

std::vector<double> constant_selves(SharedWork& work, trace::KernelShape shape) {
  const Index matrices = std::ssize(work.train().matrices);
  std::vector<double> selves;
  Vector sum = Vector::Zero(work.train().size());
  for (Index i = 0; i < matrices; ++i) {
    const Vector own = work.symmetric(i).diagonal();
    selves.push_back(constant_of(own));
    sum += own;
  }
  if (shape == trace::KernelShape::kShared)
    return {constant_of(sum / static_cast<double>(matrices))};
  return selves;
}

/// The machines of all tasks at one step, side by side.
Fitted<LearnedPairsModel> put_together(FittedTasks<TraceLearner::Machine>&& solved, Tasks tasks,
                                       const TrainingSet& train, const std::vector<double>& self) {
  Fitted<LearnedPairsModel> fitted{.model = {}, .info = std::move(solved.info)};
  LearnedPairsModel& model = fitted.model;
  model.samples = train.size();
  model.matrices = std::ssize(train.matrices);
  model.tasks = task_table(tasks, train.labels);
  model.self = self;
  model.sigmoids = std::move(solved.sigmoids);
  fitted.info.learned = Json::array();
  std::vector<std::string> repeated;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    TraceLearner::Machine& machine = solved.machines[t];
    const std::string& name = fitted.info.subproblems[t].name;
    model.members.push_back(tasks[t].samples);
    model.machines.push_back(std::move(machine.machines));
    Json learned = {{"name", name}, {"trace", machine.trace}};
    learned["kernels"] = std::move(machine.kernels);
    fitted.info.learned.push_back(std::move(learned));
    for (const std::string& matrix : machine.repeated) {
      repeated.push_back(tasks.size() > 1 ? fmt::format("{} of {}", matrix, name) : matrix);
    }
  }
  if (!repeated.empty()) fitted.info.notes.push_back(detail::repeated_note(repeated));
  return fitted;
}

}  // namespace

void describe(TraceSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field.as(FieldRole::kKernelCost)("rho", settings.rho, above(0.0),
                                   "penalty on the distance between a kernel and the matrices");
  field(
      "loss", settings.loss,
      "the distance: sum of absolute differences (l1), root of the sum of their squares (l2), sum "
      "of their squares (l3), or a function that is given in C++ or Python (own)");
  field("trace", settings.trace, above(0.0), "auto",
        "trace of a kernel learned for a pair of classes; auto: that of the mean of its matrices, "
        "of the positive part of the mean where that is not positive");
  field("solver", settings.solver, "exact, or [KTBB]'s mirror descent, whose gap closes slowly");
  field("update", settings.update,
        "of mirror descent: correct, or as printed in [KTBB], which stalls; printed takes solver "
        "mirror-descent");
  field("iterations", settings.iterations, at_least(1), "auto",
        "most iterations of mirror descent; auto: 20000, and 100 of the printed update");
  field("test-treatment", settings.test_treatment,
        {Treatment::kSample, Treatment::kProject, Treatment::kMap, Treatment::kNone},
        "what is done to the similarities of new samples: the nearest completion of the kernel, "
        "the projection on its range, the map from matrix to kernel, or nothing");
  describe_tasks(settings, field,
                 "relative duality gap accepted; auto: 1e-6, 1e-3 for loss l1, 1e-4 for own, 0.05 "
                 "for mirror descent");
}

Grid trace_grid() { return {decades("cost", -3, 3), decades("rho", -3, 3, Simpler::kLarger)}; }

FittedPath<LearnedPairsModel> fit_trace_pairs(SharedWork& work, trace::KernelShape shape,
                                              Path<TraceSettings> steps, const RunContext& ctx) {
  for (const TraceSettings& step : steps) {
    if (step.loss != trace::KernelLoss::kOwn || step.own_loss) continue;
    throw invalid(
        "loss own is a function with its gradient, which C++ and Python can give and texts cannot; "
        "[[set=loss=l1]], l2 and l3 need none");
  }
  const TrainingSet& train = work.train();
  const std::vector<double> self = constant_selves(work, shape);
  const auto order = [](const TraceSettings& s) {
    return std::tuple_cat(trace_problem_key(s), std::tuple(s.cost));
  };
  const auto fit_ordered = [&](Tasks tasks, Path<TraceSettings> ordered) {
    const TraceLearner learner{.work = &work, .shape = shape, .steps = ordered, .ctx = &ctx};
    return fit_tasks(tasks, train.labels, ordered, learner, ctx, [&](auto solved) {
      return put_together(std::move(solved), tasks, train, self);
    });
  };
  return fit_with_tasks(train.labels, steps, as_given, order, fit_ordered);
}

}  // namespace kith
