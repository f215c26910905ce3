// SPDX-License-Identifier: Apache-2.0
// Classical scaling: with H = I - 11'/n, B = H S H = U diag(lambda) U'. The d largest positive
// eigenvalues give coordinates X = U_d Lambda_d^(1/2); negative ones have no place in a Euclidean
// space and are left out. A linear machine on X is the machine of kernel K = U_d Lambda_d U_d'. A
// new row s, centred like a row of B, is H (s - r) with r the row means of S, and its kernel row is
// U_d U_d' times that: both maps are folded into the coefficients,
//
//   c_raw = H U_d U_d' c,   b_raw = b - c_raw' r,
//
// so that a prediction is one product with the raw row. Cost: one n x n decomposition, and one dual
// solution per pair of classes, number of dimensions and cost.
#include "kith/learn/embedding/embed_svm.hpp"

#include <utility>

#include "kith/condition/spectrum.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/learn/svm/kernel_learner.hpp"
#include "kith/learn/svm/spectrum_kernel.hpp"
#include "kith/numerics/psd.hpp"

namespace kith {
namespace {

/// B, its decomposition, and what centring needs.
struct ClassicalScaling {
  Matrix B;
  SharedDecomposition eigen;
  Vector row_means;
};

ClassicalScaling classical_scaling(SharedWork& work) {
  ClassicalScaling scaling;
  const auto S = work.symmetric();
  scaling.row_means = S.rowwise().mean();
  const double grand_mean = scaling.row_means.mean();
  scaling.B = S;
  scaling.B.colwise() -= scaling.row_means;
  scaling.B.rowwise() -= scaling.row_means.transpose();
  scaling.B.array() += grand_mean;
  scaling.eigen = std::make_shared<const SymmetricEigen>(symmetric_eigen(scaling.B));
  return scaling;
}

/// 1 for the kept eigenvalues, 0 for the others.
Vector kept(const Vector& lambda, const std::optional<Index>& dimensions) {
  Vector multipliers = clip_multipliers(lambda);
  Index left = dimensions.value_or(lambda.size());
  for (Index i = lambda.size() - 1; i >= 0; --i) {  // the largest stand last
    if (multipliers(i) != 0 && left-- <= 0) multipliers(i) = 0;
  }
  return multipliers;
}

/// All settings have the same dimensions and ascend in cost.
FittedPath<EmbedSvmModel> fit_space(const ClassicalScaling& scaling, SharedWork& work, Tasks tasks,
                                    Path<EmbedSvmSettings> ascending, const RunContext& ctx) {
  const TrainingSet& train = work.train();
  const Vector multipliers = kept(scaling.eigen->lambda, ascending.front().dimensions);
  Conditioned space{
      .kernel = reconstruct(scaling.eigen->U, multipliers.cwiseProduct(scaling.eigen->lambda)),
      .transform = SpectralMap{scaling.eigen, multipliers}};
  const double consistent =
      consistency(space, DenseBlock(scaling.B.data(), scaling.B.rows(), scaling.B.cols(), nullptr));
  // H U_d U_d' X
  const auto times_map = [&](const MatrixRef& X) -> Matrix {
    Matrix mapped = fold(space.transform, X);
    mapped.rowwise() -= mapped.colwise().mean().eval();
    return mapped;
  };
  const std::vector<MachineSettings> machines = machine_settings(ascending);
  const KernelLearner learner{
      .K = space.kernel, .train = &train, .ascending = machines, .ctx = &ctx};
  FittedPath<EmbedSvmModel> fitted;
  for (Fitted<Machines>& one : train_machines(learner, tasks)) {
    EmbedSvmModel model{column_machines(std::move(one.model), train.size(),
                                        all_positions(train.size()), times_map)};
    const DenseBlock means(RowMatrix(scaling.row_means(model.columns).transpose()));
    const Vector b = std::exchange(model.intercepts, Vector::Zero(model.tasks.size()));
    model.intercepts = b - decision_values(model, means).row(0).transpose();
    one.info.consistency = consistent;
    fitted.push_back({std::move(model), std::move(one.info)});
  }
  return fitted;
}

}  // namespace

void describe(EmbedSvmSettings& settings, FieldVisitor& field) {
  field("dimensions", settings.dimensions, at_least(1), "all",
        "how many axes of largest positive eigenvalue are kept");
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  describe_tasks(settings, field, kGapHelp);
}

FittedPath<EmbedSvmModel> fit_path(SharedWork& work, Path<EmbedSvmSettings> path, RunContext& ctx) {
  const ClassicalScaling scaling = classical_scaling(work);
  const auto dimensions = [](const EmbedSvmSettings& settings) { return settings.dimensions; };
  return fit_with_tasks(work.train().labels, path, dimensions, by_cost,
                        [&](Tasks tasks, Path<EmbedSvmSettings> ascending) {
                          ctx.check_stop();
                          return fit_space(scaling, work, tasks, ascending, ctx);
                        });
}

DenseBlock machine_rows(const EmbedSvmModel& /*model*/, const QueryBlock& queries,
                        const RunContext& /*ctx*/) {
  return query_rows(queries.matrices.front(), Spectrum::kNone);
}

}  // namespace kith
