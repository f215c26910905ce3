// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// The fold 0 .. folds-1 of each sample. Fold sizes differ by at most one, and so do the numbers of
/// each class in any two folds. `folds` at least 2.
[[nodiscard]] std::vector<int> stratified_folds(std::span<const int> class_ids, int folds,
                                                Rng& rng);

/// The same without regard to classes.
[[nodiscard]] std::vector<int> random_folds(Index samples, int folds, Rng& rng);

/// Positions inside and outside one fold, ascending.
struct FoldSplit {
  std::vector<Index> inside;
  std::vector<Index> outside;
};
[[nodiscard]] FoldSplit split_fold(std::span<const int> fold_of, int fold);

}  // namespace kith
