// SPDX-License-Identifier: Apache-2.0
// `features-svm`: sample i is the vector f_i of its similarities to the prototypes, and for each
// pair of classes [TR] (3)
//
//   min_{w, b} 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w'f_i + b))
//
// is solved through its dual over K = F F', or K_ij = exp(-gamma |f_i - f_j|^2) in place of it. The
// rows are those of the pair, the columns those of all classes. Linear machines are kept as w.
//
// Cost: one product F F' for every cost, or one table of distances for every cost and gamma; then
// one dual solution per pair, cost and gamma.
#include "kith/learn/svm/feature_svm.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "kith/learn/svm/pair_machines.hpp"
#include "kith/learn/svm/prototypes.hpp"
#include "numerics/distances.hpp"

namespace kith {
namespace {

/// F F' for the rows F of the features.
Matrix inner_products(const DenseBlock& features) {
  Matrix K = Matrix::Zero(features.rows(), features.rows());
  K.selfadjointView<Eigen::Lower>().rankUpdate(features.values());
  K.triangularView<Eigen::StrictlyUpper>() = K.transpose();
  return K;
}

Matrix rbf(const Matrix& squared_distance, double gamma) {
  return (-gamma * squared_distance.array()).exp();
}

void keep_supports(FeatureSvmModel& model, const DenseBlock& features, const Matrix& coefficients) {
  std::vector<Index> supports;
  for (Index i = 0; i < coefficients.rows(); ++i) {
    if ((coefficients.row(i).array() != 0).any()) supports.push_back(i);
  }
  model.supports = features.values()(supports, Eigen::all);
  model.coefficients = coefficients(supports, Eigen::all);
}

/// What the settings of one group have in common.
struct Shared {
  SharedWork* work = nullptr;
  std::vector<Index> columns;
  DenseBlock features;
  std::vector<ClassPair> pairs;
};

/// Settings that differ in cost and probability alone, ascending in cost; K is theirs.
std::vector<Fitted<FeatureSvmModel>> fit_kernel(const Shared& shared, const Matrix& K,
                                                std::span<const FeatureSvmSettings> ascending,
                                                const RunContext& ctx) {
  const TrainingSet& train = shared.work->train();
  std::vector<MachineSettings> machines;
  for (const FeatureSvmSettings& s : ascending) {
    machines.push_back({s.cost, s.probability, s.tolerance});
  }
  std::vector<MachineTable> tables =
      train_pairs(K, train, shared.pairs, machines, /*convex=*/true, ctx);
  std::vector<Fitted<FeatureSvmModel>> fitted;
  for (std::size_t step = 0; step < ascending.size(); ++step) {
    MachineTable& table = tables[step];
    const FeatureSvmSettings& settings = ascending[step];
    FeatureSvmModel model;
    model.columns = shared.columns;
    model.pairs = pair_table(shared.pairs, train.labels);
    model.kernel = settings.kernel;
    model.intercepts = table.intercepts;
    model.sigmoids = table.sigmoids;
    Matrix decisions;
    if (settings.kernel == FeatureKernel::kLinear) {
      model.coefficients.noalias() = shared.features.values().transpose() * table.coefficients;
      decisions.noalias() = shared.features.values() * model.coefficients;
    } else {
      model.gamma = settings.gamma;
      keep_supports(model, shared.features, table.coefficients);
      decisions.noalias() = K * table.coefficients;
    }
    state_primal(table, shared.pairs, train, decisions, settings.cost);
    fitted.push_back({std::move(model), std::move(table.info)});
  }
  return fitted;
}

/// Positions in the path by what they share: the features, then gamma and the tolerance (a loose
/// solution must not be passed on for a tight one). Each list is in order of cost.
using KernelGroups = std::map<std::pair<double, double>, std::vector<std::size_t>>;
using FeatureGroups = std::map<std::pair<std::optional<Index>, FeatureKernel>, KernelGroups>;

FeatureGroups groups_of(std::span<const FeatureSvmSettings> path) {
  FeatureGroups groups;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const double gamma = path[i].kernel == FeatureKernel::kRbf ? path[i].gamma : 0;
    groups[{path[i].prototypes, path[i].kernel}][{gamma, path[i].tolerance}].push_back(i);
  }
  for (auto& [key, kernels] : groups) {
    for (auto& [same, members] : kernels) {
      std::stable_sort(members.begin(), members.end(),
                       [&](std::size_t a, std::size_t b) { return path[a].cost < path[b].cost; });
    }
  }
  return groups;
}

Matrix decision_values(const FeatureSvmModel& model, const QueryBlock& queries,
                       const RunContext& ctx) {
  const QueryMatrix& query = queries.matrices.front();
  check_columns(query, std::ssize(model.columns));
  const DenseBlock rows = to_dense(query.to_training);
  Matrix decisions;
  if (model.kernel == FeatureKernel::kLinear) {
    decisions.noalias() = rows.values() * model.coefficients;
  } else if (model.supports.rows() == 0) {
    decisions = Matrix::Zero(rows.rows(), model.coefficients.cols());
  } else {
    const Matrix distances = squared_distances(rows.values(), model.supports, ctx.threads);
    decisions.noalias() = rbf(distances, model.gamma) * model.coefficients;
  }
  decisions.rowwise() += model.intercepts.transpose();
  return decisions;
}

}  // namespace

std::vector<GridAxis> MethodTraits<FeatureSvmSettings>::grid(const FeatureSvmSettings& settings) {
  if (settings.kernel == FeatureKernel::kLinear) {
    return {{.field = "cost", .values = powers_of_ten(-3, 5), .simpler = Simpler::kSmaller}};
  }
  return {{.field = "cost", .values = powers_of_ten(-3, 1), .simpler = Simpler::kSmaller},
          {.field = "gamma", .values = powers_of_ten(-5, 1), .simpler = Simpler::kSmaller}};
}

void describe(FeatureSvmSettings& settings, FieldVisitor& field) {
  field("kernel", settings.kernel, "how the vectors of similarities are compared");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), "penalty C on margin violations");
  field("gamma", settings.gamma, above(0.0),
        "of kernel rbf: exp(-gamma |f - g|^2) for vectors of similarities f and g");
  field("prototypes", settings.prototypes, at_least(1), "all",
        "how many random training samples the similarities are taken to");
  field.as(FieldRole::kProbability)("probability", settings.probability,
                                    "fit probabilities by cross-fitted sigmoids");
  field("tolerance", settings.tolerance, above(0.0),
        "largest KKT violation and relative gap accepted");
}

std::vector<Fitted<FeatureSvmModel>> fit_path(SharedWork& work,
                                              std::span<const FeatureSvmSettings> path,
                                              RunContext& ctx) {
  for (const FeatureSvmSettings& settings : path) validate(settings, "features-svm");
  std::vector<Fitted<FeatureSvmModel>> fitted(path.size());
  for (const auto& [key, kernels] : groups_of(path)) {
    const auto& [prototypes, kernel] = key;
    Shared shared{.work = &work,
                  .columns = choose_prototypes(prototypes, work.train().size(), ctx),
                  .features = {},
                  .pairs = class_pairs(work.train().labels)};
    shared.features = columns_of(work.dense(), shared.columns);
    const Matrix products = kernel == FeatureKernel::kLinear
                                ? inner_products(shared.features)
                                : squared_distances(shared.features.values(), ctx.threads);
    for (const auto& [same, members] : kernels) {
      std::vector<FeatureSvmSettings> ascending;
      for (const std::size_t i : members) ascending.push_back(path[i]);
      std::vector<Fitted<FeatureSvmModel>> solved =
          kernel == FeatureKernel::kLinear
              ? fit_kernel(shared, products, ascending, ctx)
              : fit_kernel(shared, rbf(products, same.first), ascending, ctx);
      for (std::size_t i = 0; i < members.size(); ++i) fitted[members[i]] = std::move(solved[i]);
    }
  }
  return fitted;
}

Fitted<FeatureSvmModel> fit(SharedWork& work, const FeatureSvmSettings& settings, RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const FeatureSvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  return vote(model.pairs, decision_values(model, queries, ctx), sigmoids_of(model.sigmoids));
}

std::vector<Index> needed_columns(const FeatureSvmModel& model) { return model.columns; }

template <class A>
void archive(Archived<A, FeatureSvmModel>& model, A& archiver) {
  archiver("columns", model.columns);
  archive(model.pairs, archiver);
  archiver("kernel", model.kernel);
  archiver("gamma", model.gamma);
  archiver("supports", model.supports);
  archiver("coefficients", model.coefficients);
  archiver("intercepts", model.intercepts);
  archiver("sigmoids", model.sigmoids);
}
template void archive(const FeatureSvmModel&, SavingArchive&);
template void archive(FeatureSvmModel&, LoadingArchive&);

}  // namespace kith
