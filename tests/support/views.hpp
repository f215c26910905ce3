// SPDX-License-Identifier: Apache-2.0
// Several matrices over the same samples, for the tests of methods that learn from all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/rng.hpp"
#include "kith/learn/shared_work.hpp"
#include "support/training_sets.hpp"

namespace kith::test {

/// Several matrices over the same samples, and the rows of new ones under each.
struct Views {
  std::vector<Matrix> matrices;
  std::vector<Matrix> rows;
  std::vector<int> classes;
  std::vector<Vector> self;  ///< of the new ones; or none

  [[nodiscard]] TrainingSet set() const {
    TrainingSet set;
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      set.matrices.push_back({"m" + std::to_string(i), DenseBlock(RowMatrix(matrices[i]))});
    }
    set.labels = numbered_labels(classes);
    return set;
  }
  [[nodiscard]] QueryBlock queries() const {
    QueryBlock block;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::optional<Vector> own;
      if (i < self.size()) own = self[i];
      block.matrices.push_back(query_block(rows[i], own).matrices[0]);
    }
    return block;
  }
};

/// A Gaussian kernel, an indefinite similarity of other points, and noise.
inline Views make_views(Index n, int classes, std::uint64_t seed) {
  const Sample one = make_sample(n, 12, classes, seed, Likeness::kGaussian, 1.5);
  const Sample two = make_sample(n, 12, classes, seed + 1, Likeness::kIndefinite, 2);
  Views views{{one.S, two.S}, {one.rows, two.rows}, one.classes, {one.self, two.self}};
  Rng rng(seed);
  Matrix points(n + 12, 3);
  for (Index i = 0; i < points.size(); ++i) points.data()[i] = rng.normal();
  const Matrix noise = points * points.transpose();
  views.matrices.emplace_back(noise.topLeftCorner(n, n));
  views.rows.emplace_back(noise.bottomLeftCorner(12, n));
  views.self.emplace_back(noise.diagonal().tail(12));
  return views;
}

template <class Settings>
auto fit_views(const Views& views, const Settings& settings) {
  const TrainingSet set = views.set();
  RunContext ctx;
  SharedWork work(set);
  return fit(work, settings, ctx);
}

}  // namespace kith::test
