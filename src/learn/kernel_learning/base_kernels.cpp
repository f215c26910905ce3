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

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/learn/kernel_learning/mkl.hpp"
#include "kith/optim/mkl/radius.hpp"

namespace kith {
namespace {

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
  for (const BaseKernel& one : kBaseKernels) {
    kernels.push_back(
        kernel_of_table(one.rule, one.rule.kernel == VectorKernel::kRbf ? distances : products));
  }
  return kernels;
}

Prediction predict_sum(const BaseKernelModel& model, const QueryBlock& queries,
                       const RunContext& ctx) {
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
void archive_sum(Archived<A, BaseKernelModel>& model, A& archiver) {
  archive(model.scale, archiver);
  archiver("samples_under_kernels", model.samples);
  archive(model.sum, archiver);
  if (model.samples.cols() == model.scale.size() &&
      model.samples.rows() == std::ssize(model.sum.columns) &&
      model.sum.coefficients.size() == kBaseKernels.size()) {
    return;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} samples of {} features for {} columns and {} kernels; there must be "
                          "one sample per column, of {} features, and {} kernels",
                          model.samples.rows(), model.samples.cols(), model.sum.columns.size(),
                          model.sum.coefficients.size(), model.scale.size(), kBaseKernels.size()));
}

/// Positions of the path by their scaling.
template <class Settings>
std::map<FeatureScaling, std::vector<std::size_t>> by_scaling(std::span<const Settings> path) {
  std::map<FeatureScaling, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < path.size(); ++i) {
    validate(path[i], MethodTraits<Settings>::name);
    groups[path[i].scaling].push_back(i);
  }
  return groups;
}

/// One pair of classes, kernels of trace n.
struct PairProblem {
  mkl::RadiusProblem program;  // its cost: the weights of the samples
  Vector unit;                 // what each kernel was multiplied by
};

PairProblem pair_problem(const TrainingSet& set, const ClassPair& pair) {
  PairProblem problem;
  const auto n = static_cast<Index>(pair.samples.size());
  problem.unit = Vector::Ones(std::ssize(set.matrices));
  for (std::size_t m = 0; m < set.matrices.size(); ++m) {
    const auto& block = std::get<DenseBlock>(set.matrices[m].block);
    Matrix K = block.values()(pair.samples, pair.samples);
    const double trace = K.trace();
    if (trace > 0) problem.unit(static_cast<Index>(m)) = static_cast<double>(n) / trace;
    K *= problem.unit(static_cast<Index>(m));
    problem.program.kernels.push_back(std::move(K));
  }
  problem.program.y.resize(n);
  for (Index i = 0; i < n; ++i) problem.program.y(i) = pair.signs[static_cast<std::size_t>(i)];
  problem.program.cost =
      set.weights.size() > 0 ? Vector(set.weights(pair.samples)) : Vector::Ones(n);
  return problem;
}

/// The machine of one pair: coefficients over the kernels of the problem.
struct RadiusMachine {
  Matrix c;  // samples x kernels
  double b = 0;
  mkl::RadiusSolution solution;
};

RadiusMachine solve(mkl::RadiusProblem program, double cost, double tolerance,
                    const RunContext& ctx) {
  program.cost *= cost;
  RadiusMachine machine;
  machine.solution = mkl::solve_radius(program, {.tolerance = tolerance}, ctx);
  const mkl::RadiusPoint& point = machine.solution.point;
  const double R2 = point.ball.squared > 0 ? point.ball.squared : 1;
  machine.c = program.y.cwiseProduct(point.alpha) * machine.solution.theta.transpose() / R2;
  machine.b = point.b;
  return machine;
}

Vector decisions(const mkl::RadiusProblem& program, const RadiusMachine& machine,
                 std::span<const Index> rows, std::span<const Index> columns) {
  Vector f = Vector::Constant(std::ssize(rows), machine.b);
  for (std::size_t m = 0; m < program.kernels.size(); ++m) {
    const Matrix block = program.kernels[m](rows, columns);
    f += block * machine.c.col(static_cast<Index>(m));
  }
  return f;
}

Sigmoid sigmoid_of(const mkl::RadiusProblem& program, const ClassPair& pair, double cost,
                   const RadiusMachine& whole, const Rng& stream, const RunContext& ctx) {
  const auto held_out = [&](const FoldSplit& split) -> Vector {
    mkl::RadiusProblem part{
        .kernels = {}, .y = program.y(split.outside), .cost = program.cost(split.outside)};
    for (const Matrix& K : program.kernels) {
      part.kernels.emplace_back(K(split.outside, split.outside));
    }
    const RadiusMachine machine = solve(std::move(part), cost, kCalibrationTolerance, ctx);
    return decisions(program, machine, split.inside, split.outside);
  };
  const auto own = [&]() -> Vector {
    std::vector<Index> all(pair.samples.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    return decisions(program, whole, all, all);
  };
  return cross_fitted_sigmoid(pair.signs, stream, held_out, own);
}

Fitted<KernelSumModel> fit_radius(const TrainingSet& set, const RklSettings& settings,
                                  const RunContext& ctx) {
  const std::vector<ClassPair> pairs = class_pairs(set.labels);
  std::vector<PairProblem> problems(pairs.size());
  std::vector<RadiusMachine> machines(pairs.size());
  std::vector<Sigmoid> sigmoids(pairs.size());
  parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
    problems[p] = pair_problem(set, pairs[p]);
    machines[p] = solve(problems[p].program, settings.cost, settings.tolerance, ctx);
    if (!settings.probability) return;
    sigmoids[p] = sigmoid_of(problems[p].program, pairs[p], settings.cost, machines[p],
                             ctx.rng.stream("rkl calibration", p), ctx);
  });
  const auto count = std::ssize(pairs);
  Fitted<KernelSumModel> fitted;
  KernelSumModel& model = fitted.model;
  model.samples = set.size();
  model.pairs = pair_table(pairs, set.labels);
  model.intercepts.resize(count);
  model.weights = Matrix::Zero(std::ssize(kBaseKernels), count);
  if (settings.probability) model.sigmoids.resize(2, count);
  std::vector<Matrix> coefficients(kBaseKernels.size(), Matrix::Zero(set.size(), count));
  for (Index p = 0; p < count; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const RadiusMachine& machine = machines[at];
    Subproblem evidence{pair_name(pairs[at], set.labels), machine.solution.info};
    for (Index m = 0; m < model.weights.rows(); ++m) {
      const double unit = problems[at].unit(m);
      const auto kernel = static_cast<std::size_t>(m);
      coefficients[kernel].col(p)(pairs[at].samples) = unit * machine.c.col(m);
      model.weights(m, p) = unit * machine.solution.theta(m);
      evidence.kernel_weights.push_back({set.matrices[kernel].name, model.weights(m, p)});
    }
    model.intercepts(p) = machine.b;
    if (settings.probability) model.sigmoids.col(p) << sigmoids[at].slope, sigmoids[at].offset;
    fitted.info.subproblems.push_back(std::move(evidence));
  }
  keep_columns(model, coefficients);
  return fitted;
}

}  // namespace

std::span<const BaseKernel> base_kernels() { return kBaseKernels; }

std::vector<Matrix> base_kernel_rows(const MatrixRef& X, const MatrixRef& Z, int threads) {
  return kernels_of_tables(kernel_table(VectorKernel::kRbf, X, Z, threads),
                           kernel_table(VectorKernel::kPolynomial, X, Z, threads));
}

void describe(SimpleMklSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field("scaling", settings.scaling, kScalingHelp);
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0), "relative duality gap accepted");
}

void describe(RklSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field("scaling", settings.scaling, kScalingHelp);
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0),
        "largest KKT violation of the machine, and the relative decrease that ends the descent");
}

std::vector<GridAxis> MethodTraits<SimpleMklSettings>::grid(const SimpleMklSettings& /*unused*/) {
  return {{.field = "cost", .values = powers_of_ten(-3, 3), .simpler = Simpler::kSmaller}};
}
std::vector<GridAxis> MethodTraits<RklSettings>::grid(const RklSettings& /*unused*/) {
  return {{.field = "cost", .values = powers_of_ten(-3, 3), .simpler = Simpler::kSmaller}};
}

std::vector<Fitted<SimpleMklModel>> fit_path(SharedWork& work,
                                             std::span<const SimpleMklSettings> path,
                                             RunContext& ctx) {
  std::vector<Fitted<SimpleMklModel>> fitted(path.size());
  for (const auto& [scaling, members] : by_scaling(path)) {
    const KernelSet kernels = kernel_set(work, scaling, ctx.threads);
    std::vector<MklSettings> settings;
    for (const std::size_t i : members) {
      MklSettings one;
      one.cost = path[i].cost;
      one.trace = 1;
      one.probability = path[i].probability;
      one.tolerance = path[i].tolerance;
      settings.push_back(one);
    }
    SharedWork on_kernels(kernels.set);
    std::vector<Fitted<MklModel>> solved = fit_path(on_kernels, settings, TraceOf::kSample, ctx);
    for (std::size_t k = 0; k < members.size(); ++k) {
      fitted[members[k]] = {{model_with_kernels(kernels, std::move(solved[k].model.sum))},
                            std::move(solved[k].info)};
    }
  }
  return fitted;
}
Fitted<SimpleMklModel> fit(SharedWork& work, const SimpleMklSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}
Prediction predict(const SimpleMklModel& model, const QueryBlock& queries, RunContext& ctx) {
  return predict_sum(model.kernels, queries, ctx);
}
std::vector<Index> needed_columns(const SimpleMklModel& /*model*/) { return {}; }
template <class A>
void archive(Archived<A, SimpleMklModel>& model, A& archiver) {
  archive_sum(model.kernels, archiver);
}
template void archive(const SimpleMklModel&, SavingArchive&);
template void archive(SimpleMklModel&, LoadingArchive&);

std::vector<Fitted<RklModel>> fit_path(SharedWork& work, std::span<const RklSettings> path,
                                       RunContext& ctx) {
  std::vector<Fitted<RklModel>> fitted(path.size());
  for (const auto& [scaling, members] : by_scaling(path)) {
    const KernelSet kernels = kernel_set(work, scaling, ctx.threads);
    for (const std::size_t i : members) {
      Fitted<KernelSumModel> solved = fit_radius(kernels.set, path[i], ctx);
      fitted[i] = {{model_with_kernels(kernels, std::move(solved.model))}, std::move(solved.info)};
    }
  }
  return fitted;
}
Fitted<RklModel> fit(SharedWork& work, const RklSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}
Prediction predict(const RklModel& model, const QueryBlock& queries, RunContext& ctx) {
  return predict_sum(model.kernels, queries, ctx);
}
std::vector<Index> needed_columns(const RklModel& /*model*/) { return {}; }
template <class A>
void archive(Archived<A, RklModel>& model, A& archiver) {
  archive_sum(model.kernels, archiver);
}
template void archive(const RklModel&, SavingArchive&);
template void archive(RklModel&, LoadingArchive&);

}  // namespace kith
