// SPDX-License-Identifier: Apache-2.0
// `vector-svm`: [ZGZZ] (1) for each pair of classes, over scaled vectors x_i,
//
//   min_{w, b} 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w'phi(x_i) + b))^p,   p = 1 (hinge) or 2
//   (squared),
//
// phi the map of the kernel. p = 1 is solved through its dual (optim/dual/smo); p = 2 by Newton's
// method in the coordinates of a factor K = Z Z' (optim/linear/squared_hinge), where w = Z'c gives
// the coefficients c_i = 2 C y_i max(0, 1 - y_i f_i) of the kernel expansion. Where C times the
// kernel is so large that rounding of f_i decides them, what they miss of w is added over the
// pivots of the factor. The objective is (1) itself, by the decision values of the model that is
// kept: those of kernels with many digits before the point are not what the factor has.
//
// Newton's method for the intercept b stands alone: pieces of one variable, over in microseconds.
//
// Cost: one table of products or distances; then one solution per pair and setting, O(n r^2) for
// p = 2 and a kernel of rank r.
#include "kith/learn/svm/vector_svm.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/errors.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/learn/svm/kernel_learner.hpp"
#include "kith/numerics/pivoted_cholesky.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/linear/squared_hinge.hpp"
#include "kith/vectors/scaled_vectors.hpp"

namespace kith {
namespace {

constexpr double kExpansion = 1e-9;  // of |w|: what coefficients may miss of it
constexpr int kMostIntercepts = 100;

/// The b of least loss on F + b: Newton's steps on a function of one variable, whose pieces are
/// squares.
double best_intercept(const linear::SignedSamples& samples, const Vector& F, double b) {
  for (int step = 0; step < kMostIntercepts; ++step) {
    const Vector slack = (1 - samples.y.array() * (F.array() + b)).max(0);
    const double curvature = (slack.array() > 0).select(samples.cost, 0).sum();
    const double pull = samples.cost.cwiseProduct(samples.y).dot(slack);
    if (!(curvature > 0) || b + pull / curvature == b) break;
    b += pull / curvature;
  }
  return b;
}

/// The machine with squared hinge, for fit_tasks.
struct SquaredLearner {
  struct Machine : LinearMachine {
    Vector w;            // in the coordinates of the factor
    double w_intercept;  // of w, where that of the coefficients is another
  };
  struct Block {
    PivotedFactor factor;
    Matrix K{};                    // of a whole task
    std::vector<Index> samples{};  // likewise
    Vector y;
    Vector weights;

    [[nodiscard]] linear::SignedSamples problem(double cost) const {
      return {.X = factor.X, .y = y, .cost = cost * weights};
    }
  };

  const Matrix* K = nullptr;
  const ScaledVectors* linear = nullptr;  // the samples, where the kernel is theirs
  const TrainingSet* train = nullptr;
  Path<MachineSettings> path;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("svm calibration", number);
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t /*number*/) const {
    Matrix own = (*K)(task.samples, task.samples);
    PivotedFactor factor = pivoted_cholesky(own);
    return {.factor = std::move(factor),
            .K = std::move(own),
            .samples = task.samples,
            .y = task.y(),
            .weights = weights_of(*train, task)};
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    Block part{.factor = {}, .y = whole.y(samples), .weights = whole.weights(samples)};
    part.factor.X = whole.factor.X(samples, Eigen::all);
    return part;
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    const MachineSettings& settings = path[request.step];
    const linear::SignedSamples problem = block.problem(settings.cost);
    const linear::SquaredHingeSolution solution =
        linear::squared_hinge_svm(problem, *ctx, request.tolerance(settings.tolerance));
    Machine machine;
    machine.evidence.info = solution.info;
    machine.b = machine.w_intercept = solution.b;
    machine.w = solution.w;
    if (request.calibrates()) return machine;
    const Matrix& Z = block.factor.X;
    const Vector f = (Z * solution.w).array() + solution.b;
    machine.c =
        2 * problem.cost.array() * problem.y.array() * (1 - problem.y.array() * f.array()).max(0);
    const Vector missing = solution.w - Z.transpose() * machine.c;
    if (missing.norm() > kExpansion * solution.w.norm()) {
      machine.c += over_pivots(block.factor, missing);
    }
    measure(block, problem, settings.tolerance, machine);
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> /*trained_on*/) const {
    return (whole.factor.X(rows, Eigen::all) * machine.w).array() + machine.w_intercept;
  }
  void finish(const Block& /*whole*/, Machine& machine) const { machine.w = {}; }

 private:
  /// What the coefficients say of the samples of the task, without b.
  [[nodiscard]] Vector sums(const Block& block, const Vector& c) const {
    if (linear == nullptr) return block.K * c;
    Vector all = Vector::Zero(train->size());
    all(block.samples) = c;
    const Matrix values = linear->times(linear->transposed_times(all));
    return values.col(0)(block.samples);
  }
  /// The objective by what the kept machine says of its samples, and how far that is from the
  /// bound.
  void measure(const Block& block, const linear::SignedSamples& problem, double tolerance,
               Machine& machine) const {
    const Vector F = sums(block, machine.c);
    const double margin = 0.5 * machine.c.dot(F);
    SolveInfo& info = machine.evidence.info;
    const double bound = info.objective * (1 - info.gap);
    const auto objective = [&] {
      return margin + linear::squared_hinge_loss(problem, Vector(F.array() + machine.b));
    };
    info.objective = objective();
    if (dual::relative_gap(bound, info.objective) > tolerance) {
      machine.b = best_intercept(problem, F, machine.b);
      info.objective = objective();
    }
    info.gap = std::max(info.gap, std::abs(dual::relative_gap(bound, info.objective)));
    info.status = measured_status(info.status, info.gap <= tolerance);
  }
};

/// What the settings of one group have in common.
struct Shared {
  const TrainingSet* train = nullptr;
  FeatureScale scale;
  ScaledVectors samples;
  Tasks tasks;
};

VectorSvmModel machine_model(const Shared& shared, const KernelRule& rule, Machines machines) {
  VectorSvmModel model{{std::move(machines)}, shared.scale, rule, {}};
  const std::vector<Index> supports = model.coefficients.used_rows();
  if (rule.kernel == VectorKernel::kLinear &&
      (supports.empty() || model.tasks.size() <= std::ssize(supports))) {
    model.coefficients = SparseColumns(shared.samples.transposed_times(model.coefficients.dense()));
  } else {
    model.supports = scaled(shared.scale, select_rows(shared.train->vectors, supports));
    model.coefficients = model.coefficients.with_rows(supports);
  }
  return model;
}

/// Settings on the same kernel, of the same loss and tolerance, ascending in cost.
FittedPath<VectorSvmModel> fit_kernel(const Shared& shared, const Matrix& K,
                                      Path<VectorSvmSettings> ascending, const RunContext& ctx) {
  const std::vector<MachineSettings> machines = machine_settings(ascending);
  const VectorSvmSettings& first = ascending.front();
  const Labels& labels = shared.train->labels;
  FittedPath<Machines> trained;
  if (first.loss == MarginLoss::kHinge) {
    trained = train_machines({.K = SymmetricMatrix::View(K.data(), K.rows(), K.cols()),
                              .train = shared.train,
                              .ascending = machines,
                              .objective = MachineObjective::kPrimal,
                              .ctx = &ctx},
                             shared.tasks);
  } else {
    const bool linear = first.kernel.kernel == VectorKernel::kLinear;
    const SquaredLearner learner{.K = &K,
                                 .linear = linear ? &shared.samples : nullptr,
                                 .train = shared.train,
                                 .path = machines,
                                 .ctx = &ctx};
    trained = fit_tasks(shared.tasks, labels, learner.path, learner, ctx, [&](auto solved) {
      return put_together(std::move(solved), shared.tasks, labels, labels.size());
    });
  }
  return map_models(std::move(trained), [&](Machines model) {
    return machine_model(shared, first.kernel, std::move(model));
  });
}

/// What settings share: a table of products or distances, then a kernel with a loss.
auto vector_table_key(const VectorSvmSettings& s) { return std::pair(s.scaling, s.kernel.kernel); }
auto vector_kernel_key(const VectorSvmSettings& s) {
  return std::tuple(kernel_numbers(s.kernel), s.loss, s.tolerance);
}

}  // namespace

void describe(VectorSvmSettings& settings, FieldVisitor& field) {
  describe_kernel(settings.kernel.kernel, field);
  field("loss", settings.loss, "of a margin violation: itself or its square");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  describe_kernel_numbers(settings.kernel, field);
  field("scaling", settings.scaling, kScalingHelp);
  describe_tasks(settings, field, kGapHelp);
}

FittedPath<VectorSvmModel> fit_path(SharedWork& work, Path<VectorSvmSettings> path,
                                    RunContext& ctx) {
  const auto fit_table = [&](Tasks tasks, Path<VectorSvmSettings> same_table) {
    const VectorSvmSettings& first = same_table.front();
    const FeatureScale scale = learn_scale(work.vectors(), first.scaling);
    const Shared shared{.train = &work.train(),
                        .scale = scale,
                        .samples = ScaledVectors(scale, work.vectors()),
                        .tasks = tasks};
    const Matrix table = kernel_table(first.kernel.kernel, shared.samples, ctx.threads);
    const auto fit_costs = [&](Path<VectorSvmSettings> ascending) {
      return fit_kernel(shared, kernel_of_table(ascending.front().kernel, table), ascending, ctx);
    };
    return fit_in_groups(same_table, vector_kernel_key, by_cost, fit_costs);
  };
  return fit_with_tasks(work.train().labels, path, vector_table_key, as_given, fit_table);
}

Prediction predict(const VectorSvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  if (model.kernel.kernel == VectorKernel::kLinear && model.supports.size() == 0) {
    Matrix decisions =
        ScaledVectors(model.scale, queries.vectors).times(model.coefficients.dense());
    decisions.rowwise() += model.intercepts.transpose();
    return decide(model.tasks, decisions, model.sigmoids);
  }
  const Matrix table =
      kernel_table(model.kernel.kernel, model.scale, queries.vectors, model.supports, ctx.threads);
  const Machines& machines = model;
  return predict(machines, RowMatrix(kernel_of_table(model.kernel, table)));
}

template <class A>
void archive(Archived<A, VectorSvmModel>& model, A& archiver) {
  archive(model.scale, archiver);
  archive(model.kernel, archiver);
  archiver("supports", model.supports);
  Archived<A, Machines>& machines = model;
  archive(machines, archiver);
  if (!A::kLoading) return;
  const bool over_features =
      model.kernel.kernel == VectorKernel::kLinear && model.supports.size() == 0;
  const Index features = model.scale.size();
  const Index rows = over_features ? features : model.supports.rows();
  if (model.coefficients.rows == rows && (over_features || model.supports.cols() == features)) {
    return;
  }
  throw broken("coefficients over {} numbers; there must be {}", model.coefficients.rows, rows);
}
template void archive(const VectorSvmModel&, SavingArchive&);
template void archive(VectorSvmModel&, LoadingArchive&);

}  // namespace kith
