// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/embedding/discriminant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kith/condition/spectrum.hpp"

namespace kith {
namespace {

/// Samples centred for one BLAS call: wide enough for its full speed, a small part of n^2.
constexpr Index kBlock = 256;

/// In the lower triangle.
Matrix pooled_covariance(const SampleRows& X, const Labels& labels, const ClassMeans& means) {
  Matrix covariance = Matrix::Zero(X.cols(), X.cols());
  Matrix centred;
  for (Index begin = 0; begin < X.rows(); begin += kBlock) {
    const Index count = std::min(kBlock, X.rows() - begin);
    centred = X.middleRows(begin, count).transpose();
    for (Index i = 0; i < count; ++i) {
      const int own = labels.ids[static_cast<std::size_t>(begin + i)];
      centred.col(i) -= means.means.row(own).transpose();
    }
    covariance.selfadjointView<Eigen::Lower>().rankUpdate(centred,
                                                          1 / static_cast<double>(X.rows()));
  }
  return covariance;
}

}  // namespace

ClassMeans class_means(const SampleRows& X, const Labels& labels) {
  const std::vector<Index> counts = labels.counts();
  ClassMeans result{Matrix::Zero(labels.class_count(), X.cols()), Vector(labels.class_count())};
  for (Index i = 0; i < X.rows(); ++i) {
    result.means.row(labels.ids[static_cast<std::size_t>(i)]) += X.row(i);
  }
  for (Index c = 0; c < result.means.rows(); ++c) {
    const auto count = static_cast<double>(counts[static_cast<std::size_t>(c)]);
    if (count > 0) result.means.row(c) /= count;
    result.log_prior(c) = count > 0 ? std::log(count / static_cast<double>(labels.size()))
                                    : -std::numeric_limits<double>::infinity();
  }
  return result;
}

Matrix within_class(const MatrixRef& X, const Labels& labels, const ClassMeans& means) {
  Matrix centred = X;
  for (Index i = 0; i < X.rows(); ++i) {
    centred.row(i) -= means.means.row(labels.ids[static_cast<std::size_t>(i)]);
  }
  return centred;
}

PooledCovariance::PooledCovariance(const SampleRows& X, const Labels& labels)
    : means_(class_means(X, labels)),
      eigen_(symmetric_eigen(pooled_covariance(X, labels, means_))) {
  eigen_.lambda = eigen_.lambda.cwiseMax(0.0);
}

PooledCovariance::Rule PooledCovariance::rule(double ridge) const {
  const auto dimensions = static_cast<double>(eigen_.lambda.size());
  double added = ridge * eigen_.lambda.sum() / dimensions;
  if (!(added > 0)) added = 1;  // no spread within classes: plain distances to the means
  const Vector inverse = (eigen_.lambda.array() + added).inverse();
  Rule rule;
  rule.W = eigen_.U * (inverse.asDiagonal() * (eigen_.U.transpose() * means_.means.transpose()));
  rule.b = means_.log_prior - 0.5 * means_.means.cwiseProduct(rule.W.transpose()).rowwise().sum();
  return rule;
}

}  // namespace kith
