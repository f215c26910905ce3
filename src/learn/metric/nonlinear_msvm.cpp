// SPDX-License-Identifier: Apache-2.0
// `nonlinear-msvm`: [ZGZZ] Algorithm 2. With L = H [phi(x_1), ..., phi(x_n)]' the map of a sample
// is H z, z the column of its kernel values with the training samples, so that Algorithm 1 is
// applied to the columns z_i of the kernel matrix. A pair of classes sees the rows and columns of
// its own samples.
//
// With a kernel matrix of full rank every labelling is fitted with equal margins by the global
// optimum of (5), whatever the labels: `solver=convex` then learns nothing, and only the printed
// descent, stopped early, makes sense.
//
// Cost: one n x n table for all kernels; per kernel and pair the principal axes, O(n^3); then
// O(n^2) per step of the descent.
#include "kith/learn/metric/nonlinear_msvm.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "kith/core/error.hpp"

namespace kith {
namespace {

/// What the settings of one group share: the scaling and the kind of kernel; then its numbers.
using TableKey = std::pair<FeatureScaling, VectorKernel>;
using KernelKey = std::pair<double, Index>;
using Groups = std::map<TableKey, std::map<KernelKey, std::vector<std::size_t>>>;

Groups groups_of(std::span<const NonlinearMsvmSettings> path) {
  Groups groups;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const KernelRule& rule = path[i].kernel;
    const double gamma = rule.kernel == VectorKernel::kRbf ? rule.gamma : 0;
    const Index degree = rule.kernel == VectorKernel::kPolynomial ? rule.degree : 0;
    groups[{path[i].scaling, rule.kernel}][{gamma, degree}].push_back(i);
  }
  return groups;
}

Matrix kernel_rows(const NonlinearMsvmModel& model, const Block& vectors, int threads) {
  return kernel_of_table(model.kernel, kernel_table(model.kernel.kernel, model.scale, vectors,
                                                    model.samples, threads));
}

}  // namespace

void describe(NonlinearMsvmSettings& settings, FieldVisitor& field) {
  describe(settings.metric, field);
  field("kernel", settings.kernel.kernel, "how two vectors are compared");
  field("gamma", settings.kernel.gamma, above(0.0), "of kernel rbf: exp(-gamma |x - z|^2)");
  field("degree", settings.kernel.degree, kDegreeRange, "of kernel polynomial: (1 + x'z)^degree");
  field("scaling", settings.scaling, kScalingHelp);
}

std::vector<GridAxis> MethodTraits<NonlinearMsvmSettings>::grid(
    const NonlinearMsvmSettings& settings) {
  return machine_axes(settings.kernel);
}

std::vector<Fitted<NonlinearMsvmModel>> fit_path(SharedWork& work,
                                                 std::span<const NonlinearMsvmSettings> path,
                                                 RunContext& ctx) {
  for (const NonlinearMsvmSettings& settings : path) {
    validate(settings, "nonlinear-msvm");
    (void)parse_dimensions("nonlinear-msvm", settings.metric.dimensions);
  }
  std::vector<Fitted<NonlinearMsvmModel>> fitted(path.size());
  for (const auto& [key, kernels] : groups_of(path)) {
    const FeatureScale scale = learn_scale(work.vectors(), key.first);
    const Matrix samples = scaled(scale, work.vectors());
    const Matrix table =
        kernel_table(key.second, ScaledVectors(scale, work.vectors()), ctx.threads);
    std::optional<VectorSpan> span;  // of a linear kernel: the directions that its matrix may lose
    if (key.second == VectorKernel::kLinear) {
      span.emplace(ScaledVectors(scale, work.vectors()), ctx.threads, SpanDirections::kAll);
    }
    for (const auto& [numbers, members] : kernels) {
      const KernelRule& rule = path[members.front()].kernel;
      const Matrix K = kernel_of_table(rule, table);
      std::vector<MetricSettings> settings;
      for (const std::size_t i : members) settings.push_back(path[i].metric);
      std::vector<Fitted<MetricPairs>> solved =
          train_metric({.rows = &K,
                        .columns_are_samples = true,
                        .features = span ? &span->Z() : nullptr,
                        .whole = !span || span->whole()},
                       work.train(), settings, ctx);
      for (std::size_t k = 0; k < members.size(); ++k) {
        fitted[members[k]] = {{scale, rule, samples, std::move(solved[k].model)},
                              std::move(solved[k].info)};
      }
    }
  }
  return fitted;
}

Fitted<NonlinearMsvmModel> fit(SharedWork& work, const NonlinearMsvmSettings& settings,
                               RunContext& ctx) {
  return std::move(fit_path(work, std::span(&settings, 1), ctx).front());
}

Prediction predict(const NonlinearMsvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  const Matrix rows = kernel_rows(model, queries.vectors, ctx.threads);
  return predict_metric(model.pairs, [&](const MatrixRef& B) -> Matrix { return rows * B; });
}

std::vector<Index> needed_columns(const NonlinearMsvmModel& /*model*/) { return {}; }

Matrix learned_similarity(const NonlinearMsvmModel& model, const Block& vectors,
                          const RunContext& ctx) {
  const Matrix rows = kernel_rows(model, vectors, ctx.threads);
  return metric_similarity(model.pairs, [&](const MatrixRef& B) -> Matrix { return rows * B; });
}

template <class A>
void archive(Archived<A, NonlinearMsvmModel>& model, A& archiver) {
  archive(model.scale, archiver);
  archiver("kernel", model.kernel.kernel);
  archiver("gamma", model.kernel.gamma);
  archiver("degree", model.kernel.degree);
  archiver("samples", model.samples);
  archive(model.pairs, archiver);
  check_columns(model.pairs, model.samples.rows());
  if (model.samples.cols() != model.scale.size()) {
    throw Error(ErrorCode::kBadInput, fmt::format("samples of {} features, scaled as if of {}",
                                                  model.samples.cols(), model.scale.size()));
  }
}
template void archive(const NonlinearMsvmModel&, SavingArchive&);
template void archive(NonlinearMsvmModel&, LoadingArchive&);

}  // namespace kith
