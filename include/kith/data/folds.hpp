// SPDX-License-Identifier: Apache-2.0
// Folds for everything that holds samples out: cross-validation, calibration, ridge=auto. Whoever
// draws them says the groups of the samples (none: an empty span), which stay whole.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/core/types.hpp"
#include "kith/data/labels.hpp"

namespace kith {

/// The fold 0 .. folds-1 of each sample. Where no two samples are of one group, fold sizes differ
/// by at most one, and so do the numbers of each class in any two folds. `folds` at least 2.
///
/// Groups are dealt one after the other, in random order but those with the largest shares of their
/// classes first, to the fold in which sum_c n_fc g_c / N_c^2 + C n_f g / n^2 is least: n_fc of the
/// N_c samples of class c are there already and g_c would come, n_f and g count all n samples, C is
/// the number of classes. No fold gets all groups of a class that has two, where that can be: of 20
/// deals the first is taken that loses no class so, else the one that loses the fewest. Throws
/// Error(kInvalidArgument) where there are fewer groups than folds; each fold has at least one.
[[nodiscard]] std::vector<int> stratified_folds(std::span<const int> class_ids,
                                                std::span<const int> groups, int folds, Rng& rng);

/// The same without regard to classes.
[[nodiscard]] std::vector<int> random_folds(Index samples, std::span<const int> groups, int folds,
                                            Rng& rng);

/// Positions inside and outside one fold, ascending.
struct FoldSplit {
  std::vector<Index> inside;
  std::vector<Index> outside;
};
[[nodiscard]] FoldSplit split_fold(std::span<const int> fold_of, int fold);

/// Where samples are all of one class outside some fold: a class that this fold holds whole, or the
/// only one there is.
[[nodiscard]] std::optional<int> class_inside_a_fold(const Labels& labels,
                                                     std::span<const int> fold_of);

/// Of two classes, one with a single sample: no folds leave both classes outside each of them.
[[nodiscard]] std::optional<int> class_without_folds(const Labels& labels);

/// At most `most` stratified folds of samples of two classes, +1 and -1, outside each of which both
/// are left; none where that cannot be: a class has one sample, or one group has all of it.
[[nodiscard]] std::vector<FoldSplit> two_class_folds(std::span<const int> signs,
                                                     std::span<const int> groups, int most,
                                                     Rng& rng);

}  // namespace kith
