// SPDX-License-Identifier: Apache-2.0
#include "kith/data/folds.hpp"

#include <algorithm>

namespace kith {

std::vector<int> stratified_folds(std::span<const int> class_ids, int folds, Rng& rng) {
  // Deal the samples, shuffled and then ordered by class, one to each fold in turn: every run of
  // `folds` cards goes to different folds.
  std::vector<Index> order = rng.permutation(static_cast<Index>(class_ids.size()));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return class_ids[static_cast<std::size_t>(a)] < class_ids[static_cast<std::size_t>(b)];
  });
  std::vector<int> fold_of(class_ids.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    fold_of[static_cast<std::size_t>(order[i])] =
        static_cast<int>(i % static_cast<std::size_t>(folds));
  }
  return fold_of;
}

std::vector<int> random_folds(Index samples, int folds, Rng& rng) {
  const std::vector<int> one_class(static_cast<std::size_t>(samples), 0);
  return stratified_folds(one_class, folds, rng);
}

FoldSplit split_fold(std::span<const int> fold_of, int fold) {
  FoldSplit split;
  for (std::size_t i = 0; i < fold_of.size(); ++i) {
    (fold_of[i] == fold ? split.inside : split.outside).push_back(static_cast<Index>(i));
  }
  return split;
}

}  // namespace kith
