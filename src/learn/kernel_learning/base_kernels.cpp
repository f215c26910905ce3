// SPDX-License-Identifier: Apache-2.0
// `simple-mkl` and `rkl` on the twelve base kernels K_m of [ZGZZ] IV.A over scaled vectors.
//
// simple-mkl is `mkl` with kind simple and a trace of 1 for each sample of a pair of classes on
// them (mkl.cpp has the program): the kernel learned has the mean diagonal of a Gaussian, and costs
// mean what they mean there. rkl learns the weights theta and the machine of each pair by
// optim/mkl/radius, on kernels that are first scaled to the same trace; with R the radius of the
// samples under K = sum_m theta_m K_m the machine is that on K / R^2, so that f = sum_m k_m'c_m + b
// with c_m = theta_m Y a / R^2.
//
// Deviations: the paper of RKL alternates gradient steps with an exact linear search; here each is
// a projected gradient step with Armijo's rule. Both are local: the program is not convex.
//
// Cost: two tables for all kernels; simple-mkl as mkl on twelve matrices; rkl one machine and one
// ball per trial of a step, O(12 n^2) beside them.
#include "kith/learn/kernel_learning/base_kernels.hpp"

#include <array>
#include <utility>

#include "core/errors.hpp"
#include "kith/learn/kernel_learning/mkl.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/optim/mkl/radius.hpp"

namespace kith {
namespace {

/// The twelve, each with its name.
struct BaseKernel {
  std::string_view name;
  KernelRule rule;
};

constexpr KernelRule gaussian(double gamma) {
  return {.kernel = VectorKernel::kRbf, .gamma = gamma, .degree = 1};
}
constexpr KernelRule polynomial(Index degree) {
  return {.kernel = VectorKernel::kPolynomial, .gamma = 1, .degree = degree};
}
constexpr std::array<BaseKernel, 12> kBaseKernels = {{{"rbf-0.001", gaussian(1e-3)},
                                                      {"rbf-0.01", gaussian(1e-2)},
                                                      {"rbf-0.1", gaussian(1e-1)},
                                                      {"rbf-1", gaussian(1)},
                                                      {"rbf-10", gaussian(10)},
                                                      {"rbf-100", gaussian(100)},
                                                      {"rbf-1000", gaussian(1000)},
                                                      {"polynomial-1", polynomial(1)},
                                                      {"polynomial-2", polynomial(2)},
                                                      {"polynomial-3", polynomial(3)},
                                                      {"polynomial-4", polynomial(4)},
                                                      {"polynomial-5", polynomial(5)}}};

/// The training samples under all kernels.
struct KernelSet {
  FeatureScale scale;
  Matrix samples;
  TrainingSet set;
};

KernelSet kernel_set(SharedWork& work, FeatureScaling scaling, int threads) {
  KernelSet made;
  made.scale = learn_scale(work.vectors(), scaling);
  made.samples = scaled(made.scale, work.vectors());
  made.set.labels = work.train().labels;
  made.set.weights = work.train().weights;
  std::vector<Matrix> kernels = base_kernel_rows(made.samples, made.samples, threads);
  for (std::size_t m = 0; m < kernels.size(); ++m) {
    const Matrix even = 0.5 * (kernels[m] + kernels[m].transpose());
    made.set.matrices.push_back(
        {.name = std::string(kBaseKernels[m].name), .block = DenseBlock(RowMatrix(even))});
  }
  return made;
}

BaseKernelModel model_with_kernels(const KernelSet& kernels, KernelSumModel sum) {
  BaseKernelModel model{.scale = kernels.scale, .samples = {}, .sum = std::move(sum)};
  model.samples = kernels.samples(model.sum.columns, Eigen::all);
  return model;
}

std::vector<Matrix> kernels_of_tables(const Matrix& distances, const Matrix& products) {
  std::vector<Matrix> kernels;
  kernels.reserve(kBaseKernels.size());
  for (const BaseKernel& one : kBaseKernels) {
    kernels.push_back(
        kernel_of_table(one.rule, one.rule.kernel == VectorKernel::kRbf ? distances : products));
  }
  return kernels;
}

template <class Settings>
void describe_machine(Settings& settings, FieldVisitor& field, std::string_view tolerance) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field("scaling", settings.scaling, kScalingHelp);
  describe_tasks(settings, field, tolerance);
}

/// Kernels are made once for the settings of one scaling. `fit` takes them with the settings.
template <class Model, class Settings, class Fit>
FittedPath<Model> fit_on_kernels(SharedWork& work, Path<Settings> path, const RunContext& ctx,
                                 const Fit& fit) {
  const auto scaling = [](const Settings& settings) { return settings.scaling; };
  return fit_in_groups(path, scaling, as_given, [&](Path<Settings> own) {
    const KernelSet kernels = kernel_set(work, own.front().scaling, ctx.threads);
    return map_models(fit(kernels.set, own), [&](KernelSumModel sum) {
      return Model{model_with_kernels(kernels, std::move(sum))};
    });
  });
}

/// The machines of `rkl`, for fit_tasks.
struct RadiusLearner {
  using Machine = SumMachine;
  struct Block {
    mkl::RadiusProblem program;  // kernels of trace n; its cost: the weights of the samples
    Vector unit;                 // what each kernel was multiplied by
  };

  const TrainingSet* set = nullptr;
  Path<RklSettings> path;
  const RunContext* ctx = nullptr;

  [[nodiscard]] Rng folds(std::size_t number) const {
    return ctx->rng.stream("rkl calibration", number);
  }
  [[nodiscard]] Block block(const BinaryTask& task, std::size_t /*number*/) const {
    Block own{.program = {}, .unit = Vector::Ones(std::ssize(set->matrices))};
    for (std::size_t m = 0; m < set->matrices.size(); ++m) {
      const auto& block = std::get<DenseBlock>(set->matrices[m].block);
      Matrix K = block.values()(task.samples, task.samples);
      double& unit = own.unit(static_cast<Index>(m));
      const double trace = K.trace();
      if (trace > 0) unit = static_cast<double>(task.size()) / trace;
      K *= unit;
      own.program.kernels.push_back(std::move(K));
    }
    own.program.y = task.y();
    own.program.cost = weights_of(*set, task);
    return own;
  }
  [[nodiscard]] Block part(const Block& whole, std::span<const Index> samples) const {
    Block part{.program = {}, .unit = whole.unit};
    for (const Matrix& K : whole.program.kernels) {
      part.program.kernels.emplace_back(K(samples, samples));
    }
    part.program.y = whole.program.y(samples);
    part.program.cost = whole.program.cost(samples);
    return part;
  }
  [[nodiscard]] Machine solve(Block& block, const Request<Machine>& request) const {
    const RklSettings& settings = path[request.step];
    mkl::RadiusProblem program = block.program;
    program.cost *= settings.cost;
    const mkl::RadiusSolution solution =
        mkl::solve_radius(program, {.tolerance = request.tolerance(settings.tolerance)}, *ctx);
    const mkl::RadiusPoint& point = solution.point;
    const double R2 = point.ball.squared > 0 ? point.ball.squared : 1;
    Machine machine;
    machine.evidence.info = solution.info;
    machine.c = program.y.cwiseProduct(point.alpha) * solution.theta.transpose() / R2;
    machine.matrix = all_positions(machine.c.cols());
    machine.b = point.b;
    machine.weights = block.unit.cwiseProduct(solution.theta);
    return machine;
  }
  [[nodiscard]] Vector decisions(const Block& whole, const Machine& machine,
                                 std::span<const Index> rows,
                                 std::span<const Index> trained_on) const {
    return sum_decisions(whole.program.kernels, machine.c, machine.b, rows, trained_on);
  }
  void finish(const Block& whole, Machine& machine) const {
    machine.c = Matrix(machine.c * whole.unit.asDiagonal());
  }
};

}  // namespace

std::vector<Matrix> base_kernel_rows(const MatrixRef& X, const MatrixRef& Z, int threads) {
  return kernels_of_tables(kernel_table(VectorKernel::kRbf, X, Z, threads),
                           kernel_table(VectorKernel::kPolynomial, X, Z, threads));
}

void describe(SimpleMklSettings& settings, FieldVisitor& field) {
  describe_machine(settings, field, "relative duality gap accepted");
}

void describe(RklSettings& settings, FieldVisitor& field) {
  describe_machine(
      settings, field,
      "largest KKT violation of the machine, and the relative decrease that ends the descent");
}

FittedPath<SimpleMklModel> fit_path(SharedWork& work, Path<SimpleMklSettings> path,
                                    RunContext& ctx) {
  return fit_on_kernels<SimpleMklModel>(
      work, path, ctx, [&](const TrainingSet& kernels, Path<SimpleMklSettings> own) {
        std::vector<MklSettings> settings;
        for (const SimpleMklSettings& one : own) {
          settings.push_back({.cost = one.cost,
                              .trace = 1,
                              .multiclass = one.multiclass,
                              .probability = one.probability,
                              .tolerance = one.tolerance});
        }
        SharedWork on_kernels(kernels);
        return fit_sums(on_kernels, settings, TraceOf::kSample, ctx);
      });
}
FittedPath<RklModel> fit_path(SharedWork& work, Path<RklSettings> path, RunContext& ctx) {
  const std::vector<TestTransform> unchanged(kBaseKernels.size());
  const auto fit_sums = [&](const TrainingSet& kernels, Path<RklSettings> same_kernels) {
    const auto fit_own = [&](Tasks tasks, Path<RklSettings> own) {
      const RadiusLearner learner{.set = &kernels, .path = own, .ctx = &ctx};
      return fit_tasks(tasks, kernels.labels, own, learner, ctx, [&](auto solved) {
        return kernel_sum(std::move(solved), tasks, kernels, unchanged);
      });
    };
    return fit_with_tasks(kernels.labels, same_kernels, as_given, as_given, fit_own);
  };
  return fit_on_kernels<RklModel>(work, path, ctx, fit_sums);
}

Prediction predict(const BaseKernelModel& model, const QueryBlock& queries, RunContext& ctx) {
  const auto table = [&](VectorKernel kernel) {
    return kernel_table(kernel, model.scale, queries.vectors, model.samples, ctx.threads);
  };
  QueryBlock rows;
  for (const Matrix& K :
       kernels_of_tables(table(VectorKernel::kRbf), table(VectorKernel::kPolynomial))) {
    rows.matrices.push_back({.to_training = DenseBlock(RowMatrix(K)),
                             .from_training = std::nullopt,
                             .self = std::nullopt});
  }
  return predict(model.sum, rows, ctx);
}

template <class A>
void archive(Archived<A, BaseKernelModel>& model, A& archiver) {
  archive(model.scale, archiver);
  archiver("samples_under_kernels", model.samples);
  archive(model.sum, archiver);
  if (model.samples.cols() == model.scale.size() &&
      model.samples.rows() == std::ssize(model.sum.columns) &&
      model.sum.coefficients.size() == kBaseKernels.size()) {
    return;
  }
  throw broken(
      "{} samples of {} features for {} columns and {} kernels; there must be "
      "one sample per column, of {} features, and {} kernels",
      model.samples.rows(), model.samples.cols(), model.sum.columns.size(),
      model.sum.coefficients.size(), model.scale.size(), kBaseKernels.size());
}
template void archive(const BaseKernelModel&, SavingArchive&);
template void archive(BaseKernelModel&, LoadingArchive&);

}  // namespace kith
