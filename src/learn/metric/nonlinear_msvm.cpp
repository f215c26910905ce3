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

#include <optional>
#include <utility>

#include "core/errors.hpp"
#include "kith/learn/path_groups.hpp"

namespace kith {
namespace {

/// What settings share: the scaling and the kind of kernel; then its numbers.
auto metric_table_key(const NonlinearMsvmSettings& s) {
  return std::pair(s.scaling, s.kernel.kernel);
}
auto metric_kernel_key(const NonlinearMsvmSettings& s) { return kernel_numbers(s.kernel); }

Matrix kernel_rows(const NonlinearMsvmModel& model, const Block& vectors, int threads) {
  return kernel_of_table(model.kernel, kernel_table(model.kernel.kernel, model.scale, vectors,
                                                    model.samples, threads));
}

}  // namespace

void describe(NonlinearMsvmSettings& settings, FieldVisitor& field) {
  describe(settings.metric, field);
  describe_kernel(settings.kernel.kernel, field);
  describe_kernel_numbers(settings.kernel, field);
  field("scaling", settings.scaling, kScalingHelp);
}

FittedPath<NonlinearMsvmModel> fit_path(SharedWork& work, Path<NonlinearMsvmSettings> path,
                                        RunContext& ctx) {
  for (const NonlinearMsvmSettings& settings : path) {
    (void)parse_dimensions("nonlinear-msvm", settings.metric.dimensions);
  }
  return fit_in_groups(path, metric_table_key, as_given, [&](Path<NonlinearMsvmSettings> own) {
    const FeatureScale scale = learn_scale(work.vectors(), own.front().scaling);
    const VectorKernel kernel = own.front().kernel.kernel;
    const Matrix samples = scaled(scale, work.vectors());
    const Matrix table = kernel_table(kernel, ScaledVectors(scale, work.vectors()), ctx.threads);
    std::optional<VectorSpan> span;  // of a linear kernel: the directions that its matrix may lose
    if (kernel == VectorKernel::kLinear) {
      span.emplace(ScaledVectors(scale, work.vectors()), ctx.threads, SpanDirections::kAll);
    }
    const auto fit_kernel = [&](Path<NonlinearMsvmSettings> same_kernel) {
      const KernelRule& rule = same_kernel.front().kernel;
      const Matrix K = kernel_of_table(rule, table);
      std::vector<MetricSettings> settings;
      for (const NonlinearMsvmSettings& one : same_kernel) settings.push_back(one.metric);
      const MetricRows source{.rows = &K,
                              .columns_are_samples = true,
                              .features = span ? &span->Z() : nullptr,
                              .whole = !span || span->whole()};
      return map_models(train_metric(source, work.train(), settings, ctx), [&](MetricPairs pairs) {
        return NonlinearMsvmModel{scale, rule, samples, std::move(pairs)};
      });
    };
    return fit_in_groups(own, metric_kernel_key, as_given, fit_kernel);
  });
}

Prediction predict(const NonlinearMsvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  const Matrix rows = kernel_rows(model, queries.vectors, ctx.threads);
  return predict_metric(model.pairs, [&](const MatrixRef& B) -> Matrix { return rows * B; });
}

Matrix learned_similarity(const NonlinearMsvmModel& model, const Block& vectors,
                          const RunContext& ctx) {
  const Matrix rows = kernel_rows(model, vectors, ctx.threads);
  return metric_similarity(model.pairs, [&](const MatrixRef& B) -> Matrix { return rows * B; });
}

template <class A>
void archive(Archived<A, NonlinearMsvmModel>& model, A& archiver) {
  archive(model.scale, archiver);
  archive(model.kernel, archiver);
  archiver("samples", model.samples);
  archive(model.pairs, archiver);
  check_columns(model.pairs, model.samples.rows());
  if (model.samples.cols() != model.scale.size()) {
    throw broken("samples of {} features, scaled as if of {}", model.samples.cols(),
                 model.scale.size());
  }
}
template void archive(const NonlinearMsvmModel&, SavingArchive&);
template void archive(NonlinearMsvmModel&, LoadingArchive&);

}  // namespace kith
