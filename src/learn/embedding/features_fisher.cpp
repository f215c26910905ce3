// SPDX-License-Identifier: Apache-2.0
// Feature vector of a sample: its similarities to the n training samples. With class means m_c,
// pooled covariance Sigma and Sigma' = Sigma + ridge (tr Sigma / n) I,
//
//   score_c(s) = s' Sigma'^-1 m_c - 1/2 m_c' Sigma'^-1 m_c + log prior_c,
//
// the log-posterior up to a constant. Asymmetric S is used as it is. Cost: one n x n decomposition.
#include "kith/learn/embedding/features_fisher.hpp"

#include "kith/learn/embedding/discriminant.hpp"

namespace kith {

void describe(FeaturesFisherSettings& settings, FieldVisitor& field) {
  field("ridge", settings.ridge, above(0.0),
        "identity added to the covariance, in units of its mean eigenvalue");
}

FittedPath<FeaturesFisherModel> fit_path(SharedWork& work, Path<FeaturesFisherSettings> path,
                                         RunContext& ctx) {
  const DenseBlock& S = work.dense();
  // As it lies there, row after row.
  const Eigen::Map<const Matrix, 0, SampleStride> rows(S.values().data(), S.rows(), S.cols(),
                                                       SampleStride(1, S.cols()));
  const PooledCovariance covariance(rows, work.train().labels);
  ctx.check_stop();
  FittedPath<FeaturesFisherModel> fitted;
  for (const FeaturesFisherSettings& settings : path) {
    PooledCovariance::Rule rule = covariance.rule(settings.ridge);
    const LinearScores scores{.rows = RowKind::kToTraining,
                              .posteriors = true,
                              .W = std::move(rule.W),
                              .b = std::move(rule.b)};
    fitted.push_back({{scores}, {}});
  }
  return fitted;
}

}  // namespace kith
