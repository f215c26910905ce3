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

#include <tuple>
#include <utility>

#include "core/errors.hpp"
#include "kith/condition/spectrum.hpp"
#include "kith/core/parallel.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/learn/svm/kernel_learner.hpp"
#include "kith/learn/svm/prototypes.hpp"
#include "numerics/distances.hpp"

namespace kith {
namespace {

Matrix rbf(const MatrixRef& squared_distance, double gamma) {
  return (-gamma * squared_distance.array()).exp();
}

/// What the settings of one group have in common.
struct Shared {
  const TrainingSet* train = nullptr;
  std::vector<Index> columns;
  DenseBlock features;
  TrainedOn trained;
};

FeatureSvmModel machine_model(const Shared& shared, const FeatureSvmSettings& settings,
                              Machines machines) {
  const Index samples = shared.train->size();
  const Eigen::Map<const RowMatrix> F = shared.features.values();
  FeatureSvmModel model;
  ColumnMachines& columns = model;
  model.kernel = settings.kernel;
  if (settings.kernel == FeatureKernel::kLinear) {
    columns = column_machines(std::move(machines), samples, shared.columns,
                              [&](const MatrixRef& c) -> Matrix { return F.transpose() * c; });
    return model;
  }
  const std::vector<Index> supports = machines.coefficients.used_rows();
  machines.coefficients = machines.coefficients.with_rows(supports);
  columns = {{std::move(machines)}, samples, shared.columns, {}};
  model.gamma = settings.gamma;
  model.supports = F(supports, Eigen::all);
  return model;
}

/// Settings that differ in cost and probability alone, ascending in cost; K is theirs.
FittedPath<FeatureSvmModel> fit_kernel(const Shared& shared, const SymmetricMatrix& K,
                                       Path<FeatureSvmSettings> ascending, const RunContext& ctx) {
  const std::vector<MachineSettings> machines = machine_settings(ascending);
  const KernelLearner learner{.K = K,
                              .train = shared.train,
                              .ascending = machines,
                              .objective = MachineObjective::kPrimal,
                              .ctx = &ctx};
  return map_models(train_machines(learner, shared.trained.tasks), [&](Machines model) {
    return machine_model(shared, ascending.front(), std::move(model));
  });
}

/// What settings share: the features; then the kernel, at one tolerance (a loose solution must not
/// be passed on for a tight one).
auto feature_key(const FeatureSvmSettings& s) {
  return std::tuple(s.prototypes, s.train_on, s.kernel);
}
auto feature_kernel_key(const FeatureSvmSettings& s) {
  return std::pair(s.kernel == FeatureKernel::kRbf ? s.gamma : 0, s.tolerance);
}

}  // namespace

Grid MethodTraits<FeatureSvmSettings>::grid(const FeatureSvmSettings& settings) {
  if (settings.kernel == FeatureKernel::kLinear) {
    return {decades("cost", -3, 5)};
  }
  return {decades("cost", -3, 1), decades("gamma", -5, 1)};
}

void describe(FeatureSvmSettings& settings, FieldVisitor& field) {
  field("kernel", settings.kernel, "how the vectors of similarities are compared");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field("gamma", settings.gamma, above(0.0),
        "of kernel rbf: exp(-gamma |f - g|^2) for vectors of similarities f and g");
  describe_prototypes(settings, field);
  describe_tasks(settings, field, kGapHelp);
}

FittedPath<FeatureSvmModel> fit_path(SharedWork& work, Path<FeatureSvmSettings> path,
                                     RunContext& ctx) {
  const TrainingSet& train = work.train();
  const auto fit_features = [&](Tasks tasks, Path<FeatureSvmSettings> same_features) {
    const FeatureSvmSettings& first = same_features.front();
    Shared shared{.train = &train,
                  .columns = choose_prototypes(first.prototypes, train.size(), ctx),
                  .features = {},
                  .trained = {}};
    shared.trained = trained_on(tasks, first.train_on, shared.columns, train.labels);
    shared.features = columns_of(work.dense(), shared.columns);
    const bool linear = first.kernel == FeatureKernel::kLinear;
    const SymmetricMatrix products =
        linear ? squared_kernel(shared.features).kernel
               : SymmetricMatrix(squared_distances(shared.features.values(), ctx.threads));
    const auto fit_costs = [&](Path<FeatureSvmSettings> ascending) {
      return linear ? fit_kernel(shared, products, ascending, ctx)
                    : fit_kernel(shared, rbf(products, ascending.front().gamma), ascending, ctx);
    };
    FittedPath<FeatureSvmModel> fitted =
        fit_in_groups(same_features, feature_kernel_key, by_cost, fit_costs);
    for (Fitted<FeatureSvmModel>& one : fitted) note_kept(shared.trained, one.info);
    return fitted;
  };
  return fit_with_tasks(train.labels, path, feature_key, as_given, fit_features);
}

Prediction predict(const FeatureSvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  const DenseBlock rows = to_dense(queries.matrices.front().to_training);
  const ColumnMachines& columns = model;
  if (model.kernel == FeatureKernel::kLinear) return predict(columns, rows);
  const Machines& machines = model;
  check_columns(rows.cols(), std::ssize(model.columns));
  if (model.supports.rows() == 0) return predict(machines, RowMatrix(rows.rows(), 0));
  const Matrix distances = squared_distances(rows.values(), model.supports, ctx.threads);
  return predict(machines, RowMatrix(rbf(distances, model.gamma)));
}

std::vector<Explanation> explain(const FeatureSvmModel& model, const QueryBlock& queries,
                                 std::span<const int> labels, RunContext& /*ctx*/) {
  if (model.kernel == FeatureKernel::kRbf) {
    throw invalid(
        "features-svm: with kernel rbf no part of a decision belongs to one training sample; "
        "kernel linear can be explained");
  }
  const ColumnMachines& columns = model;
  return explain(columns, to_dense(queries.matrices.front().to_training), labels);
}

}  // namespace kith
