// SPDX-License-Identifier: Apache-2.0
// Similarity discriminant analysis, [TR] (14) to (18):
//
//   P(g | x) ~ P(g) prod_m gamma_gm exp(lambda_gm T_m(x)),
//
// T_m(x) the similarity of x to the m-th representative, gamma and lambda such that the mean of
// T_m is its average over the training samples of class g. Cost: n^2 for the means, then one scalar
// root for each class and statistic; a prediction is one product.
#include "kith/learn/generative/sda.hpp"

#include <algorithm>

#include "kith/learn/generative/statistics.hpp"
#include "kith/learn/neighbours/nearest.hpp"

namespace kith {
namespace {

std::vector<Index> class_centroids(const Eigen::Map<const Matrix>& S,
                                   std::span<const std::vector<Index>> members) {
  std::vector<Index> centroids;
  for (const std::vector<Index>& own : members) {
    if (own.empty()) continue;
    centroids.push_back(own[centroid(own, [&](Index i, Index j) { return S(i, j); })]);
  }
  std::sort(centroids.begin(), centroids.end());
  return centroids;
}

/// Columns x classes: the average of each statistic over the samples of each class, in units of
/// the support.
Matrix class_means(const Eigen::Map<const Matrix>& S, std::span<const std::vector<Index>> members,
                   std::span<const Index> columns, const Support& support) {
  Matrix means =
      Matrix::Zero(static_cast<Index>(columns.size()), static_cast<Index>(members.size()));
  for (Index g = 0; g < means.cols(); ++g) {
    const std::vector<Index>& own = members[static_cast<std::size_t>(g)];
    for (Index m = 0; m < means.rows(); ++m) {
      for (const Index z : own) {
        means(m, g) += support.unit(S(z, columns[static_cast<std::size_t>(m)]));
      }
      means(m, g) /= std::max<double>(1, static_cast<double>(own.size()));
    }
  }
  return means;
}

void fit_densities(const Matrix& means, SdaModel& model) {
  model.lambda = Matrix::Zero(means.rows(), means.cols());
  model.log_z = Matrix::Zero(means.rows(), means.cols());
  for (Index g = 0; g < means.cols(); ++g) {
    const Index count = model.counts[static_cast<std::size_t>(g)];
    if (count == 0) continue;
    for (Index m = 0; m < means.rows(); ++m) {
      const Exponential fitted =
          with_mean(model.support, off_the_ends(means(m, g), static_cast<double>(count)));
      model.lambda(m, g) = fitted.lambda;
      model.log_z(m, g) = fitted.log_z;
    }
  }
}

}  // namespace

void describe(SdaSettings& settings, FieldVisitor& field) {
  field("statistics", settings.statistics,
        "which similarities describe a sample: to the class centroids, or to all training samples");
  field("support", settings.support, kSupportHelp);
}

FittedPath<SdaModel> fit_path(SharedWork& work, Path<SdaSettings> path, RunContext& ctx) {
  const TrainingSet& train = work.train();
  const Eigen::Map<const Matrix> S = work.symmetric();
  const TieOrder order = tie_order(train.size(), TieRule::kRandom, ctx);
  const std::vector<std::vector<Index>> members = train.labels.members(order.sample_at);
  const std::vector<Index> centroids = class_centroids(S, members);
  Supports supports(S);
  FittedPath<SdaModel> fitted;
  for (const SdaSettings& settings : path) {
    ctx.check_stop();
    Fitted<SdaModel> one;
    one.model.counts = train.labels.counts();
    one.model.columns =
        settings.statistics == SdaStatistics::kCentroids ? centroids : all_positions(train.size());
    const std::vector<int> classes = values_at(train.labels.ids, one.model.columns);
    one.model.represents.assign(classes.begin(), classes.end());
    one.model.support = supports.of(settings.support);
    fit_densities(class_means(S, members, one.model.columns, one.model.support), one.model);
    fitted.push_back(std::move(one));
  }
  return fitted;
}

Prediction predict(const SdaModel& model, const QueryBlock& queries, RunContext& /*ctx*/) {
  const Matrix T = query_statistics(queries, model.columns);
  const Matrix U = T.unaryExpr([&](double t) { return model.support.unit(t); });
  const Vector constants = log_shares(model.counts) - model.log_z.colwise().sum().transpose();
  Matrix joint = U * model.lambda;
  joint.rowwise() += constants.transpose();
  return predict_by_joint(joint, T, model.represents, model.counts);
}

std::vector<Index> needed_columns(const SdaModel& model) { return model.columns; }

}  // namespace kith
