// SPDX-License-Identifier: Apache-2.0
// Normal class densities in a space of coordinates: with one covariance for all classes (linear) or
// one for each (quadratic), both regularised by a multiple of the identity.
#pragma once

#include "kith/core/types.hpp"
#include "kith/data/labels.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith {

/// Samples x dimensions, of any strides: row after row or column after column.
using SampleStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
using SampleRows = Eigen::Ref<const Matrix, 0, SampleStride>;

struct ClassMeans {
  Matrix means;      ///< classes x dimensions; 0 for a class without samples
  Vector log_prior;  ///< -infinity for a class without samples
};
[[nodiscard]] ClassMeans class_means(const SampleRows& X, const Labels& labels);

/// X minus the mean of each sample's class.
[[nodiscard]] Matrix within_class(const MatrixRef& X, const Labels& labels,
                                  const ClassMeans& means);

/// The pooled covariance of X (samples x dimensions), decomposed once for every ridge. X is read in
/// place, a few samples at a time: the decomposition is all the memory that is needed.
class PooledCovariance {
 public:
  PooledCovariance(const SampleRows& X, const Labels& labels);

  /// score_c(x) = x'W_c + b_c, the log-posterior up to a constant, with covariance
  /// Sigma + ridge (tr Sigma / dimensions) I.
  struct Rule {
    Matrix W;
    Vector b;
  };
  [[nodiscard]] Rule rule(double ridge) const;

 private:
  ClassMeans means_;
  SymmetricEigen eigen_;
};

}  // namespace kith
