// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/embedding/linear_scores.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kith/core/error.hpp"

namespace kith {

DenseBlock raw_rows(const QueryBlock& queries, RowKind kind, Index samples) {
  const QueryMatrix& query = queries.matrices.front();
  const DenseBlock to = to_dense(query.to_training);
  if (to.cols() != samples) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("queries have {} columns; there are {} training samples", to.cols(), samples));
  }
  if (kind == RowKind::kToTraining || !query.from_training) return to;
  return DenseBlock(0.5 * (to.values() + to_dense(*query.from_training).values()));
}

Prediction from_scores(Matrix scores, bool posteriors) {
  Prediction prediction;
  if (posteriors) prediction.probabilities.resize(scores.rows(), scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = 0;
    const double largest = scores.row(i).maxCoeff(&best);
    prediction.labels.push_back(static_cast<int>(best));
    if (!posteriors) continue;
    const Vector shares = (scores.row(i).array() - largest).exp().matrix().transpose();
    prediction.probabilities.row(i) = shares.transpose() / shares.sum();
  }
  // A class nobody was trained on has no finite score; the lowest double keeps files readable.
  prediction.scores = scores.cwiseMax(std::numeric_limits<double>::lowest());
  return prediction;
}

Prediction predict(const LinearScores& model, const QueryBlock& queries, const RunContext& ctx) {
  ctx.check_stop();
  const DenseBlock rows = raw_rows(queries, model.rows, model.W.rows());
  Matrix scores = rows.values() * model.W;
  scores.rowwise() += model.b.transpose();
  return from_scores(std::move(scores), model.posteriors);
}

template <class A>
void archive(Archived<A, LinearScores>& model, A& archiver) {
  archiver("rows", model.rows);
  archiver("posteriors", model.posteriors);
  archiver("coefficients", model.W);
  archiver("intercepts", model.b);
}
template void archive(const LinearScores&, SavingArchive&);
template void archive(LinearScores&, LoadingArchive&);

}  // namespace kith
