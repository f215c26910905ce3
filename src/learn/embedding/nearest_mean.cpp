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

FittedPath<NearestMeanModel> fit_path(SharedWork& work, Path<NearestMeanSettings> path,
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
  LinearScores scores{.rows = RowKind::kMean,
                      .posteriors = false,
                      .W = 2 * members,
                      .b = -members.cwiseProduct(means).colwise().sum().transpose()};
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] == 0) {
      scores.b(static_cast<Index>(c)) = -std::numeric_limits<double>::infinity();
    }
  }
  return FittedPath<NearestMeanModel>(path.size(), {{scores}, {}});
}

}  // namespace kith
