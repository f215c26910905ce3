// SPDX-License-Identifier: Apache-2.0
// The problem in ASCII mathematics, with the equation numbers of the paper:
//
//   score_c(x) = mean_{i in C} s(x, x_i) - spread/2 mean_{i,j in C} s(x_i, x_j).
//
// With spread 1 this is the nearest mean in pseudo-Euclidean space. Cost: O(n^2), and O(n) a query.
// Deviations from the paper stand here, each with its reason: none.
#include "skeleton.hpp"

#include <limits>

#include "kith/learn/embedding/linear_scores.hpp"

namespace kith {

void describe(SkeletonSettings& settings, FieldVisitor& field) {
  field("spread", settings.spread, between(0, 1),
        "how much the mean similarity inside a class counts against it");
}

namespace {

Fitted<SkeletonModel> fit_one(SharedWork& work, const SkeletonSettings& settings) {
  const Labels& labels = work.train().labels;
  const std::vector<Index> counts = labels.counts();
  Fitted<SkeletonModel> fitted;
  Matrix& members = fitted.model.members;
  members = Matrix::Zero(labels.size(), labels.class_count());
  for (Index i = 0; i < labels.size(); ++i) {
    const int c = labels.ids[static_cast<std::size_t>(i)];
    members(i, c) = 1 / static_cast<double>(counts[static_cast<std::size_t>(c)]);
  }
  const Matrix means = work.symmetric() * members;
  fitted.model.offsets =
      -settings.spread / 2 * members.cwiseProduct(means).colwise().sum().transpose();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) {  // a class without samples is never named
      fitted.model.offsets(static_cast<Index>(c)) = -std::numeric_limits<double>::infinity();
    }
  }
  return fitted;
}

}  // namespace

FittedPath<SkeletonModel> fit_path(SharedWork& work, Path<SkeletonSettings> path, RunContext& ctx) {
  FittedPath<SkeletonModel> fitted;
  for (const SkeletonSettings& settings : path) {
    ctx.check_stop();
    fitted.push_back(fit_one(work, settings));
  }
  return fitted;
}

Prediction predict(const SkeletonModel& model, const QueryBlock& queries, RunContext& ctx) {
  ctx.check_stop();
  const DenseBlock rows = raw_rows(queries, RowKind::kMean, model.members.rows());
  Matrix scores = rows.values() * model.members;
  scores.rowwise() += model.offsets.transpose();
  return from_scores(std::move(scores), false);
}

}  // namespace kith
