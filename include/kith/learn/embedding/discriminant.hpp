// SPDX-License-Identifier: Apache-2.0
// Normal class densities in a space of coordinates: with one covariance for all classes (linear) or
// one for each (quadratic), both regularised by a multiple of the identity.
#pragma once

#include "kith/core/types.hpp"
#include "kith/data/labels.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith {

struct ClassMeans {
  Matrix means;      ///< classes x dimensions; 0 for a class without samples
  Vector log_prior;  ///< -infinity for a class without samples
};
[[nodiscard]] ClassMeans class_means(const MatrixRef& X, const Labels& labels);

/// X minus the mean of each sample's class.
[[nodiscard]] Matrix within_class(const MatrixRef& X, const Labels& labels,
                                  const ClassMeans& means);

/// The pooled covariance of X (samples x dimensions), decomposed once for every ridge.
class PooledCovariance {
 public:
  PooledCovariance(const MatrixRef& X, const Labels& labels);

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
