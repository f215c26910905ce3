// SPDX-License-Identifier: Apache-2.0
// With class means m_c and covariances Sigma_c of the rows of S, delta = ridge (tr of the pooled
// covariance) / n and Sigma_c' = Sigma_c + delta I,
//
//   score_c(s) = -1/2 (s - m_c)' Sigma_c'^-1 (s - m_c) - 1/2 log det Sigma_c' + log prior_c.
//
// Sigma_c = V diag(lambda) V' has rank r below the class's size, so that with d = s - m_c
//
//   d' Sigma_c'^-1 d = (|d|^2 - sum_k (v_k'd)^2 lambda_k / (lambda_k + delta)) / delta,
//   log det Sigma_c' = sum_k log(1 + lambda_k / delta) + n log delta,
//
// and n log delta, common to all classes, is left out. Cost: one decomposition of size n_c per
// class, and O(n r) per query and class.
#include "kith/learn/embedding/features_quadratic.hpp"

#include <fmt/format.h>

#include "kith/core/parallel.hpp"
#include "kith/learn/embedding/discriminant.hpp"

namespace kith {
namespace {

/// The nonzero part of the covariance of the rows of Z (already centred), through the smaller Gram
/// matrix.
struct LowRank {
  Matrix V;
  Vector lambda;
};

LowRank decompose(const Matrix& Z) {
  Matrix gram = Matrix::Zero(Z.rows(), Z.rows());
  gram.selfadjointView<Eigen::Lower>().rankUpdate(Z, 1 / static_cast<double>(Z.rows()));
  const SymmetricEigen eigen = symmetric_eigen(std::move(gram));
  const double cut = zero_threshold(eigen.lambda);
  Index rank = 0;
  while (rank < eigen.lambda.size() && eigen.lambda(eigen.lambda.size() - 1 - rank) > cut) ++rank;
  LowRank result;
  result.lambda = eigen.lambda.tail(rank);
  const Vector scale = (result.lambda * static_cast<double>(Z.rows())).cwiseSqrt().cwiseInverse();
  result.V = Z.transpose() * eigen.U.rightCols(rank) * scale.asDiagonal();
  return result;
}

}  // namespace

void describe(FeaturesQuadraticSettings& settings, FieldVisitor& field) {
  field("ridge", settings.ridge, above(0.0),
        "identity added to each covariance, in units of the pooled covariance's mean eigenvalue");
}

FittedPath<FeaturesQuadraticModel> fit_path(SharedWork& work, Path<FeaturesQuadraticSettings> path,
                                            RunContext& ctx) {
  const Labels& labels = work.train().labels;
  const Matrix X = work.dense().values();
  const ClassMeans means = class_means(X, labels);
  const Matrix centred = within_class(X, labels, means);
  const double mean_eigenvalue = centred.squaredNorm() / static_cast<double>(X.rows() * X.cols());
  FeaturesQuadraticModel shared{
      .means = means.means, .log_prior = means.log_prior, .added = 1, .V = {}, .lambda = {}};
  shared.V.resize(static_cast<std::size_t>(labels.class_count()));
  shared.lambda.resize(shared.V.size());
  const std::vector<std::vector<Index>> members = labels.members(all_positions(labels.size()));
  parallel_for(shared.V.size(), ctx.threads, [&](std::size_t c) {
    ctx.check_stop();
    const Matrix own = centred(members[c], Eigen::all);
    if (own.rows() == 0) {
      shared.V[c].resize(X.cols(), 0);
      return;
    }
    LowRank part = decompose(own);
    shared.V[c] = std::move(part.V);
    shared.lambda[c] = std::move(part.lambda);
  });
  FittedPath<FeaturesQuadraticModel> fitted;
  for (const FeaturesQuadraticSettings& settings : path) {
    Fitted<FeaturesQuadraticModel> one;
    one.model = shared;
    // No spread within classes: plain distances to the means.
    one.model.added = mean_eigenvalue > 0 ? settings.ridge * mean_eigenvalue : 1;
    fitted.push_back(std::move(one));
  }
  return fitted;
}

Prediction predict(const FeaturesQuadraticModel& model, const QueryBlock& queries,
                   RunContext& ctx) {
  const DenseBlock block = raw_rows(queries, RowKind::kToTraining, model.means.cols());
  Matrix scores(block.rows(), model.means.rows());
  if (scores.rows() == 0)
    return from_scores(std::move(scores), true);  // BLAS takes no empty matrix
  parallel_for(model.V.size(), ctx.threads, [&](std::size_t c) {
    ctx.check_stop();
    const auto column = static_cast<Index>(c);
    const Matrix d = Matrix(block.values()).rowwise() - model.means.row(column);
    const Vector& lambda = model.lambda[c];
    const Vector share = lambda.array() / (lambda.array() + model.added);
    const Vector inside = (d * model.V[c]).array().square().matrix() * share;
    const Vector distance = (d.rowwise().squaredNorm() - inside) / model.added;
    const double log_determinant = (lambda.array() / model.added).log1p().sum();
    scores.col(column) = -0.5 * (distance.array() + log_determinant) + model.log_prior(column);
  });
  return from_scores(std::move(scores), true);
}

template <class A>
void archive(Archived<A, FeaturesQuadraticModel>& model, A& archiver) {
  archiver("means", model.means);
  archiver("log_prior", model.log_prior);
  archiver("added", model.added);
  if constexpr (A::kLoading) {
    model.V.resize(static_cast<std::size_t>(model.means.rows()));
    model.lambda.resize(model.V.size());
  }
  for (std::size_t c = 0; c < model.V.size(); ++c) {
    archiver(fmt::format("vectors_{}", c), model.V[c]);
    archiver(fmt::format("values_{}", c), model.lambda[c]);
  }
}
template void archive(const FeaturesQuadraticModel&, SavingArchive&);
template void archive(FeaturesQuadraticModel&, LoadingArchive&);

}  // namespace kith
