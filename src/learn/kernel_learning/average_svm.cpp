// SPDX-License-Identifier: Apache-2.0
// `average-svm`: `svm` (learn/svm/kernel_svm) on the mean of the matrices S_1 ... S_m,
//
//   max_a 1'a - 1/2 a' Y K Y a   s.t.  0 <= a <= C,  y'a = 0,   K from (S_1 + ... + S_m) / m
//
// by a change of its spectrum. A new sample has the mean of its rows. This is how [KTBB] 4.3 brings
// methods for one matrix to several, and what the methods that weigh the matrices have to beat.
// Cost: m passes over the matrices, then as `svm`.
#include "kith/learn/kernel_learning/average_svm.hpp"

#include <algorithm>
#include <utility>

#include "kith/learn/kernel_learning/kernel_sum.hpp"

namespace kith {
namespace {

SvmSettings on_the_mean(const AverageSvmSettings& settings) {
  return {.cost = settings.cost,
          .spectrum = settings.spectrum,
          .multiclass = settings.multiclass,
          .beta = settings.beta,
          .probability = settings.probability,
          .tolerance = settings.tolerance};
}

/// The mean of what `rows` picks from each matrix.
template <class Rows>
DenseBlock mean_rows(const std::vector<QueryMatrix>& all, const Rows& rows) {
  RowMatrix sum = to_dense(rows(all.front())).values();
  for (std::size_t m = 1; m < all.size(); ++m) sum += to_dense(rows(all[m])).values();
  sum /= static_cast<double>(all.size());
  return DenseBlock(std::move(sum));
}

}  // namespace

void describe(AverageSvmSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field("spectrum", settings.spectrum,
        "what is done to the eigenvalues of the mean before training");
  field("beta", settings.beta, above(0.0), "auto",
        "of spectrum diffusion: the kernel is exp(beta S); auto: 1 / max|lambda|");
  describe_tasks(settings, field, kGapHelp);
}

QueryMatrix average(const QueryBlock& queries) {
  const std::vector<QueryMatrix>& all = queries.matrices;
  const auto has_from = [](const QueryMatrix& one) { return one.from_training.has_value(); };
  const auto has_self = [](const QueryMatrix& one) { return one.self.has_value(); };
  QueryMatrix mean;
  mean.to_training = mean_rows(all, [](const QueryMatrix& one) { return one.to_training; });
  if (std::any_of(all.begin(), all.end(), has_from)) {
    mean.from_training = mean_rows(all, [](const QueryMatrix& one) {
      return one.from_training ? *one.from_training : one.to_training;
    });
  }
  if (std::all_of(all.begin(), all.end(), has_self)) {
    Vector sum = *all.front().self;
    for (std::size_t m = 1; m < all.size(); ++m) sum += *all[m].self;
    mean.self = sum / static_cast<double>(all.size());
  }
  return mean;
}

FittedPath<AverageSvmModel> fit_path(SharedWork& work, Path<AverageSvmSettings> path,
                                     RunContext& ctx) {
  std::vector<SvmSettings> machines;
  for (const AverageSvmSettings& one : path) machines.push_back(on_the_mean(one));
  return map_models(fit_path(work.average(), machines, ctx), [&](SvmModel model) {
    return AverageSvmModel{std::ssize(work.train().matrices), std::move(model)};
  });
}

Prediction predict(const AverageSvmModel& model, const QueryBlock& queries, RunContext& ctx) {
  check_query_matrices(queries, model.matrices);
  if (model.matrices == 1) return predict(model.machine, queries, ctx);
  return predict(model.machine, QueryBlock{{average(queries)}}, ctx);
}

std::vector<Index> needed_columns(const AverageSvmModel& model) {
  return needed_columns(model.machine);
}

}  // namespace kith
