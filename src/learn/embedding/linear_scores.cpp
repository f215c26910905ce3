// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/embedding/linear_scores.hpp"

namespace kith {

DenseBlock raw_rows(const QueryBlock& queries, RowKind kind, Index samples) {
  const QueryMatrix& query = queries.matrices.front();
  check_columns(query, samples);
  return kind == RowKind::kToTraining ? to_dense(query.to_training) : mean_rows(query);
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

}  // namespace kith
