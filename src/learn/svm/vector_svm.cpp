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
// Cost: one table of products or distances; then one solution per pair and setting, O(n r^2) for
// p = 2 and a kernel of rank r.
#include "kith/learn/svm/vector_svm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"
#include "kith/learn/svm/pair_machines.hpp"
#include "kith/numerics/pivoted_cholesky.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/linear/squared_hinge.hpp"
#include "kith/vectors/scaled_vectors.hpp"

namespace kith {
namespace {

constexpr double kExpansion = 1e-9;  // of |w|: what coefficients may miss of it
constexpr int kMostIntercepts = 100;

double weight_of(const TrainingSet& train, Index sample) {
  return train.weights.size() > 0 ? train.weights(sample) : 1;
}

/// Signs and costs of a pair, without vectors.
linear::SignedSamples signed_pair(const ClassPair& pair, const TrainingSet& train, double cost) {
  const Index n = std::ssize(pair.samples);
  linear::SignedSamples samples{.X = {}, .y = Vector(n), .cost = Vector(n)};
  for (Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    samples.y(i) = pair.signs[at];
    samples.cost(i) = cost * weight_of(train, pair.samples[at]);
  }
  return samples;
}

/// The machine with squared hinge of one pair.
struct SquaredMachine {
  Vector c;
  double b = 0;
  SolveInfo info;
  Sigmoid sigmoid;
};

SquaredMachine squared_machine(const Matrix& K, const ClassPair& pair, const TrainingSet& train,
                               const MachineSettings& settings, const Rng& folds,
                               const RunContext& ctx) {
  const PivotedFactor factor = pivoted_cholesky(K(pair.samples, pair.samples));
  const Matrix& Z = factor.X;
  linear::SignedSamples samples = signed_pair(pair, train, settings.cost);
  samples.X = Z;
  const linear::SquaredHingeSolution solution =
      linear::squared_hinge_svm(samples, ctx, settings.tolerance);
  const Vector f = (Z * solution.w).array() + solution.b;
  SquaredMachine machine{.c = {}, .b = solution.b, .info = solution.info, .sigmoid = {}};
  machine.c =
      2 * samples.cost.array() * samples.y.array() * (1 - samples.y.array() * f.array()).max(0);
  const Vector missing = solution.w - Z.transpose() * machine.c;
  if (missing.norm() > kExpansion * solution.w.norm()) machine.c += over_pivots(factor, missing);
  if (!settings.probability) return machine;
  const auto held_out = [&](const FoldSplit& split) -> Vector {
    const linear::SignedSamples rest{.X = Z(split.outside, Eigen::all),
                                     .y = samples.y(split.outside),
                                     .cost = samples.cost(split.outside)};
    const linear::SquaredHingeSolution part =
        linear::squared_hinge_svm(rest, ctx, kCalibrationTolerance);
    return (Z(split.inside, Eigen::all) * part.w).array() + part.b;
  };
  machine.sigmoid = cross_fitted_sigmoid(pair.signs, folds, held_out, [&] { return f; });
  return machine;
}

MachineTable squared_pairs(const Matrix& K, const TrainingSet& train,
                           std::span<const ClassPair> pairs, const MachineSettings& settings,
                           const RunContext& ctx) {
  std::vector<SquaredMachine> machines(pairs.size());
  parallel_for(pairs.size(), ctx.threads, [&](std::size_t p) {
    machines[p] =
        squared_machine(K, pairs[p], train, settings, ctx.rng.stream("svm calibration", p), ctx);
  });
  const auto count = static_cast<Index>(pairs.size());
  MachineTable table{.coefficients = Matrix::Zero(train.size(), count),
                     .intercepts = Vector(count),
                     .sigmoids = settings.probability ? Matrix(2, count) : Matrix(),
                     .info = {}};
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto column = static_cast<Index>(p);
    table.coefficients.col(column)(pairs[p].samples) = machines[p].c;
    table.intercepts(column) = machines[p].b;
    if (settings.probability) {
      table.sigmoids.col(column) << machines[p].sigmoid.slope, machines[p].sigmoid.offset;
    }
    table.info.subproblems.push_back({pair_name(pairs[p], train.labels), machines[p].info});
  }
  return table;
}

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

/// The objectives by what the kept machines say of their samples, `decisions` without b, and how
/// far these are from the bounds.
void measure_by(const Matrix& decisions, std::span<const ClassPair> pairs, const TrainingSet& train,
                const MachineSettings& settings, MachineTable& table) {
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const auto column = static_cast<Index>(p);
    const linear::SignedSamples samples = signed_pair(pairs[p], train, settings.cost);
    const Vector F = decisions.col(column)(pairs[p].samples);
    const double margin = 0.5 * table.coefficients.col(column)(pairs[p].samples).dot(F);
    SolveInfo& info = table.info.subproblems[p].info;
    const double bound = info.objective * (1 - info.gap);
    double& b = table.intercepts(column);
    const auto objective = [&] {
      return margin + linear::squared_hinge_loss(samples, Vector(F.array() + b));
    };
    info.objective = objective();
    if (dual::relative_gap(bound, info.objective) > settings.tolerance) {
      b = best_intercept(samples, F, b);
      info.objective = objective();
    }
    const double gap = std::abs(dual::relative_gap(bound, info.objective));
    info.gap = std::max(info.gap, gap);
    if (gap > settings.tolerance && info.status == SolveStatus::kSolved) {
      info.status = SolveStatus::kReducedAccuracy;
    }
  }
}

/// What the settings of one group have in common.
struct Shared {
  const TrainingSet* train = nullptr;
  FeatureScale scale;
  ScaledVectors samples;
  std::vector<ClassPair> pairs;
};

Fitted<VectorSvmModel> machine_model(const Shared& shared, const KernelRule& rule,
                                     MachineTable table) {
  VectorSvmModel model{.scale = shared.scale,
                       .kernel = rule,
                       .pairs = pair_table(shared.pairs, shared.train->labels),
                       .supports = {},
                       .coefficients = {},
                       .intercepts = std::move(table.intercepts),
                       .sigmoids = std::move(table.sigmoids)};
  if (rule.kernel == VectorKernel::kLinear) {
    model.coefficients = shared.samples.transposed_times(table.coefficients);
  } else {
    std::vector<Index> supports;
    for (Index i = 0; i < table.coefficients.rows(); ++i) {
      if ((table.coefficients.row(i).array() != 0).any()) supports.push_back(i);
    }
    model.supports = scaled(shared.scale, select_rows(shared.train->vectors, supports));
    model.coefficients = table.coefficients(supports, Eigen::all);
  }
  return {std::move(model), std::move(table.info)};
}

/// Settings on the same kernel, of the same loss and tolerance, ascending in cost.
std::vector<Fitted<VectorSvmModel>> fit_kernel(const Shared& shared, const Matrix& K,
                                               std::span<const VectorSvmSettings> ascending,
                                               const RunContext& ctx) {
  std::vector<MachineSettings> machines;
  for (const VectorSvmSettings& s : ascending) {
    machines.push_back({s.cost, s.probability, s.tolerance});
  }
  std::vector<MachineTable> tables;
  if (ascending.front().loss == MarginLoss::kHinge) {
    tables = train_pairs(K, *shared.train, shared.pairs, machines, /*convex=*/true, ctx);
    for (std::size_t step = 0; step < tables.size(); ++step) {
      state_primal(tables[step], shared.pairs, *shared.train, K * tables[step].coefficients,
                   ascending[step].cost);
    }
  } else {
    const bool linear = ascending.front().kernel.kernel == VectorKernel::kLinear;
    for (const MachineSettings& one : machines) {
      MachineTable& table =
          tables.emplace_back(squared_pairs(K, *shared.train, shared.pairs, one, ctx));
      const Matrix& c = table.coefficients;
      const Matrix decisions =
          linear ? shared.samples.times(shared.samples.transposed_times(c)) : Matrix(K * c);
      measure_by(decisions, shared.pairs, *shared.train, one, table);
    }
  }
  std::vector<Fitted<VectorSvmModel>> fitted;
  for (MachineTable& table : tables) {
    fitted.push_back(machine_model(shared, ascending.front().kernel, std::move(table)));
  }
  return fitted;
}

using TableKey = std::pair<FeatureScaling, VectorKernel>;
using KernelKey = std::tuple<double, Index, MarginLoss, double>;
using Groups = std::map<TableKey, std::map<KernelKey, std::vector<std::size_t>>>;

Groups groups_of(std::span<const VectorSvmSettings> path) {
  Groups groups;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const KernelRule& rule = path[i].kernel;
    const double gamma = rule.kernel == VectorKernel::kRbf ? rule.gamma : 0;
    const Index degree = rule.kernel == VectorKernel::kPolynomial ? rule.degree : 0;
    groups[{path[i].scaling, rule.kernel}][{gamma, degree, path[i].loss, path[i].tolerance}]
        .push_back(i);
  }
  for (auto& [table, kernels] : groups) {
    for (auto& [kernel, members] : kernels) {
      std::stable_sort(members.begin(), members.end(),
                       [&](std::size_t a, std::size_t b) { return path[a].cost < path[b].cost; });
    }
  }
  return groups;
}

}  // namespace

void describe(VectorSvmSettings& settings, FieldVisitor& field) {
  field("kernel", settings.kernel.kernel, "how two vectors are compared");
  field("loss", settings.loss, "of a margin violation: itself or its square");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field("gamma", settings.kernel.gamma, above(0.0), "of kernel rbf: exp(-gamma |x - z|^2)");
  field("degree", settings.kernel.degree, kDegreeRange, "of kernel polynomial: (1 + x'z)^degree");
  field("scaling", settings.scaling, kScalingHelp);
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0),
        "largest KKT violation and relative gap accepted");
}

std::vector<GridAxis> MethodTraits<VectorSvmSettings>::grid(const VectorSvmSettings& settings) {
  return machine_axes(settings.kernel);
}

std::vector<Fitted<VectorSvmModel>> fit_path(SharedWork& work,
                                             std::span<const VectorSvmSettings> path,
                                             RunContext& ctx) {
  for (const VectorSvmSettings& settings : path) validate(settings, "vector-svm");
  std::vector<Fitted<VectorSvmModel>> fitted(path.size());
  for (const auto& [key, kernels] : groups_of(path)) {
    const FeatureScale scale = learn_scale(work.vectors(), key.first);
    const Shared shared{.train = &work.train(),
                        .scale = scale,
                        .samples = ScaledVectors(scale, work.vectors()),
                        .pairs = class_pairs(work.train().labels)};
    const Matrix table = kernel_table(key.second, shared.samples, ctx.threads);
    for (const auto& [numbers, members] : kernels) {
      std::vector<VectorSvmSettings> ascending;
      for (const std::size_t i : members) ascending.push_back(path[i]);
      const Matrix K = kernel_of_table(ascending.front().kernel, table);
      std::vector<Fitted<VectorSvmModel>> solved = fit_kernel(shared, K, ascending, ctx);
      for (std::size_t k = 0; k < members.size(); ++k) fitted[members[k]] = std::move(solved[k]);
    }
  }
  return fitted;
}

Fitted<VectorSvmModel> fit(SharedWork& work, const VectorSvmSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const VectorSvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  Matrix decisions;
  if (model.kernel.kernel == VectorKernel::kLinear) {
    decisions = ScaledVectors(model.scale, queries.vectors).times(model.coefficients);
  } else {
    const Matrix table = kernel_table(model.kernel.kernel, model.scale, queries.vectors,
                                      model.supports, ctx.threads);
    decisions.noalias() = kernel_of_table(model.kernel, table) * model.coefficients;
  }
  decisions.rowwise() += model.intercepts.transpose();
  return vote(model.pairs, decisions, sigmoids_of(model.sigmoids));
}

std::vector<Index> needed_columns(const VectorSvmModel& /*model*/) { return {}; }

template <class A>
void archive(Archived<A, VectorSvmModel>& model, A& archiver) {
  archive(model.scale, archiver);
  archiver("kernel", model.kernel.kernel);
  archiver("gamma", model.kernel.gamma);
  archiver("degree", model.kernel.degree);
  archive(model.pairs, archiver);
  archiver("supports", model.supports);
  archiver("coefficients", model.coefficients);
  archiver("intercepts", model.intercepts);
  archiver("sigmoids", model.sigmoids);
  if (!A::kLoading) return;
  const bool linear = model.kernel.kernel == VectorKernel::kLinear;
  const auto count = static_cast<Index>(model.pairs.first.size());
  const Index features = model.scale.size();
  const Index rows = linear ? features : model.supports.rows();
  if (model.coefficients.rows() == rows && model.coefficients.cols() == count &&
      model.intercepts.size() == count && (linear || model.supports.cols() == features)) {
    return;
  }
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} x {} coefficients for {} rows and {} pairs of classes",
                          model.coefficients.rows(), model.coefficients.cols(), rows, count));
}
template void archive(const VectorSvmModel&, SavingArchive&);
template void archive(VectorSvmModel&, LoadingArchive&);

}  // namespace kith
