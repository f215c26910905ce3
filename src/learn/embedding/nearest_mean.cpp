// SPDX-License-Identifier: Apache-2.0
// Squared pseudo-Euclidean distance of a sample to the mean of class c with members C:
//
//   d^2 = s(x,x) - 2 mean_{i in C} s(x, x_i) + mean_{i,j in C} s(x_i, x_j),
//
// from similarities alone; s(x,x) is common to all classes and left out. It may be negative: the
// space is not Euclidean. Score: -d^2 up to that constant. Cost: O(n^2), and O(n) per query.
#include "kith/learn/embedding/nearest_mean.hpp"

#include <limits>

namespace kith {

void describe(NearestMeanSettings& /*settings*/, FieldVisitor& /*field*/) {}

Fitted<NearestMeanModel> fit(SharedWork& work, const NearestMeanSettings& /*settings*/,
                             RunContext& ctx) {
  ctx.check_stop();
  const Labels& labels = work.train().labels;
  const std::vector<Index> counts = labels.counts();
  Matrix members = Matrix::Zero(labels.size(), labels.class_count());  // 1/|C| for each member
  for (Index i = 0; i < labels.size(); ++i) {
    const int c = labels.ids[static_cast<std::size_t>(i)];
    members(i, c) = 1 / static_cast<double>(counts[static_cast<std::size_t>(c)]);
  }
  const Matrix means = work.symmetric() * members;
  Fitted<NearestMeanModel> fitted;
  fitted.model.linear = {.rows = RowKind::kMean,
                         .posteriors = false,
                         .W = 2 * members,
                         .b = -members.cwiseProduct(means).colwise().sum().transpose()};
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) {
      fitted.model.linear.b(static_cast<Index>(c)) = -std::numeric_limits<double>::infinity();
    }
  }
  return fitted;
}

std::vector<Fitted<NearestMeanModel>> fit_path(SharedWork& work,
                                               std::span<const NearestMeanSettings> path,
                                               RunContext& ctx) {
  std::vector<Fitted<NearestMeanModel>> fitted;
  for (const NearestMeanSettings& settings : path) fitted.push_back(fit(work, settings, ctx));
  return fitted;
}

Prediction predict(const NearestMeanModel& model, const QueryBlock& queries, RunContext& ctx) {
  ctx.check_stop();
  return predict(model.linear, queries);
}

std::vector<Index> needed_columns(const NearestMeanModel& model) {
  return needed_columns(model.linear);
}

template <class A>
void archive(Archived<A, NearestMeanModel>& model, A& archiver) {
  archive(model.linear, archiver);
}
template void archive(const NearestMeanModel&, SavingArchive&);
template void archive(NearestMeanModel&, LoadingArchive&);

}  // namespace kith
