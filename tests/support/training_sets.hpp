// SPDX-License-Identifier: Apache-2.0
// Training sets and queries for the tests of methods.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/data/views.hpp"

namespace kith::test {

/// Classes "c0", "c1", ... of the samples.
inline Labels numbered_labels(std::span<const int> classes) {
  std::vector<std::string> names;
  for (const int c : classes) names.push_back("c" + std::to_string(c));
  return make_labels(names);
}

inline TrainingSet training_set(const Matrix& S, std::span<const int> classes) {
  TrainingSet set;
  set.matrices.push_back({"S", DenseBlock(RowMatrix(S))});
  set.labels = numbered_labels(classes);
  return set;
}

inline QueryBlock query_block(const Matrix& rows, std::optional<Vector> self = std::nullopt) {
  QueryBlock block;
  block.matrices.push_back({DenseBlock(RowMatrix(rows)), std::nullopt, std::move(self)});
  return block;
}

/// Points around one mean per class, and a similarity of them that is no inner product.
struct Sample {
  Matrix S;                  ///< among the training samples
  std::vector<int> classes;  ///< of the training samples: 0, 1, ..., 0, 1, ...
  Matrix rows;               ///< new samples x training samples
  Vector self;               ///< of the new samples
};

/// What the similarity of two points x, z is.
enum class Likeness {
  kIndefinite,  ///< x' D z with two negative entries in D, and a bounded bump
  kGaussian,    ///< exp(-|x - z|^2 / 8): positive definite
};

inline Sample make_sample(Index n, Index queries, int classes, std::uint64_t seed,
                          Likeness likeness = Likeness::kIndefinite, double spread = 1) {
  constexpr Index kDimensions = 6;
  Rng rng(seed);
  Matrix means(classes, kDimensions);
  for (Index i = 0; i < means.size(); ++i) means.data()[i] = 2 * rng.normal();
  Matrix X(n + queries, kDimensions);
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < kDimensions; ++j) X(i, j) = means(i % classes, j) + spread * rng.normal();
  }
  const auto similarity = [&](Index i, Index j) {
    const double square = (X.row(i) - X.row(j)).squaredNorm();
    if (likeness == Likeness::kGaussian) return std::exp(-square / 8);
    const double inner =
        X.row(i).head(4).dot(X.row(j).head(4)) - X.row(i).tail(2).dot(X.row(j).tail(2));
    return 0.1 * inner + std::tanh(0.5 * X.row(i).dot(X.row(j)) - 1);
  };
  Sample sample;
  sample.S.resize(n, n);
  sample.rows.resize(queries, n);
  sample.self.resize(queries);
  for (Index i = 0; i < n; ++i) {
    sample.classes.push_back(static_cast<int>(i) % classes);
    for (Index j = 0; j < n; ++j) sample.S(i, j) = similarity(i, j);
  }
  for (Index q = 0; q < queries; ++q) {
    for (Index j = 0; j < n; ++j) sample.rows(q, j) = similarity(n + q, j);
    sample.self(q) = similarity(n + q, n + q);
  }
  return sample;
}

inline std::vector<int> picked(std::span<const int> values, std::span<const Index> at) {
  std::vector<int> out;
  for (const Index i : at) out.push_back(values[static_cast<std::size_t>(i)]);
  return out;
}

}  // namespace kith::test
