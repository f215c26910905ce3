// SPDX-License-Identifier: Apache-2.0
// Methods whose scores are linear in the raw row: one column of coefficients per class.
#pragma once

#include "kith/learn/learner.hpp"

namespace kith {

/// Which similarities a row is made of.
enum class RowKind {
  kToTraining,  ///< of the query to the training samples, as they are: features
  kMean,        ///< the mean of both directions where both are known: geometry
};
constexpr auto enum_names(RowKind /*of*/) { return named("to-training", "mean"); }

/// score_c(s) = s'W_c + b_c; classes without training samples have b_c = -infinity.
struct LinearScores {
  RowKind rows = RowKind::kToTraining;
  bool posteriors = false;  ///< scores are log-posteriors up to a constant per query
  Matrix W;                 ///< training samples x classes
  Vector b;
};

/// The queries' rows, checked to have `samples` columns.
[[nodiscard]] DenseBlock raw_rows(const QueryBlock& queries, RowKind kind, Index samples);

/// The class of the largest score (the first among equals), and probabilities where the scores are
/// log-posteriors.
[[nodiscard]] Prediction predict(const LinearScores& model, const QueryBlock& queries,
                                 const RunContext& ctx);
[[nodiscard]] Prediction from_scores(Matrix scores, bool posteriors);
template <class A>
void archive(Archived<A, LinearScores>& model, A& archiver) {
  archiver("rows", model.rows);
  archiver("posteriors", model.posteriors);
  archiver("coefficients", model.W);
  archiver("intercepts", model.b);
}

}  // namespace kith
