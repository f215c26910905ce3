// SPDX-License-Identifier: Apache-2.0
#include "kith/data/folds.hpp"

#include <algorithm>
#include <tuple>

#include "core/errors.hpp"
#include "data/bundles.hpp"
#include "kith/data/groups.hpp"

namespace kith {
namespace {

using detail::Bundle;
using detail::Bundles;

constexpr int kDeals = 20;

/// Deals the samples, shuffled and then ordered by class, one to each fold in turn: every run of
/// `folds` cards goes to different folds.
std::vector<int> deal_samples(std::span<const int> class_ids, int folds, Rng& rng) {
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

/// One deal of groups.
class Deal {
 public:
  Deal(const Bundles& bundles, int folds)
      : bundles_(bundles),
        sizes_(static_cast<std::size_t>(folds), 0),
        of_class_(bundles.class_sizes.size(), std::vector<Index>(sizes_.size(), 0)),
        left_(bundles.of_class),
        only_(bundles.of_class.size(), kNone),
        fold_of_(static_cast<std::size_t>(bundles.samples)) {}

  void run(Rng& rng) {
    for (const Index b : order(rng)) put(bundles_.all[static_cast<std::size_t>(b)]);
  }

  /// Classes of several groups that are all in one fold.
  [[nodiscard]] Index lost() const {
    Index count = 0;
    for (std::size_t c = 0; c < only_.size(); ++c) {
      count += bundles_.of_class[c] > 1 && only_[c] >= 0 ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] std::vector<int> fold_of() && { return std::move(fold_of_); }

 private:
  static constexpr int kNone = -1;    // no group of a class has been put anywhere
  static constexpr int kSpread = -2;  // two folds have some

  [[nodiscard]] double share(std::size_t c, Index count) const {
    return static_cast<double>(count) / static_cast<double>(bundles_.class_sizes[c]);
  }
  [[nodiscard]] double share(Index count) const {
    return static_cast<double>(count) / static_cast<double>(bundles_.samples);
  }

  [[nodiscard]] std::vector<Index> order(Rng& rng) const {
    std::vector<double> weight;
    for (const Bundle& bundle : bundles_.all) {
      weight.push_back(0);
      for (const auto& [c, count] : bundle.classes) {
        weight.back() += share(static_cast<std::size_t>(c), count);
      }
    }
    std::vector<Index> order = rng.permutation(bundles_.size());
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return weight[static_cast<std::size_t>(a)] > weight[static_cast<std::size_t>(b)];
    });
    return order;
  }

  /// Whether this is the last group of a class, whose others are all in this fold; of how many
  /// classes.
  [[nodiscard]] int loses(const Bundle& bundle, int fold) const {
    int lost = 0;
    for (const auto& one : bundle.classes) {
      const auto c = static_cast<std::size_t>(one.first);
      lost += left_[c] == 1 && only_[c] == fold ? 1 : 0;
    }
    return lost;
  }

  [[nodiscard]] double crowding(const Bundle& bundle, std::size_t fold) const {
    double sum = static_cast<double>(bundles_.class_sizes.size()) * share(sizes_[fold]) *
                 share(bundle.size());
    for (const auto& [id, count] : bundle.classes) {
      const auto c = static_cast<std::size_t>(id);
      sum += share(c, of_class_[c][fold]) * share(c, count);
    }
    return sum;
  }

  void put(const Bundle& bundle) {
    using Rank = std::tuple<int, double, Index>;
    std::size_t best = 0;
    Rank least;
    for (std::size_t f = 0; f < sizes_.size(); ++f) {
      const Rank rank(loses(bundle, static_cast<int>(f)), crowding(bundle, f), sizes_[f]);
      if (f > 0 && !(rank < least)) continue;
      best = f;
      least = rank;
    }
    sizes_[best] += bundle.size();
    for (const auto& [id, count] : bundle.classes) {
      const auto c = static_cast<std::size_t>(id);
      of_class_[c][best] += count;
      --left_[c];
      const int fold = static_cast<int>(best);
      only_[c] = only_[c] == kNone || only_[c] == fold ? fold : kSpread;
    }
    for (const Index i : bundle.members) {
      fold_of_[static_cast<std::size_t>(i)] = static_cast<int>(best);
    }
  }

  const Bundles& bundles_;
  std::vector<Index> sizes_;                  // of the folds
  std::vector<std::vector<Index>> of_class_;  // samples of each class in each fold
  std::vector<Index> left_;                   // groups of each class that are not put anywhere
  std::vector<int> only_;  // of each class the one fold that has any, kNone or kSpread
  std::vector<int> fold_of_;
};

std::vector<int> deal_groups(std::span<const int> class_ids, std::span<const int> groups, int folds,
                             Rng& rng) {
  const Bundles bundles = detail::bundles_of(class_ids, groups);
  if (bundles.size() < folds) {
    throw invalid("{} folds of {} groups; a fold needs at least one", folds, bundles.size());
  }
  std::vector<int> best;
  Index least = 0;
  for (int k = 0; k < kDeals; ++k) {
    Deal deal(bundles, folds);
    deal.run(rng);
    const Index lost = deal.lost();
    if (k == 0 || lost < least) {
      least = lost;
      best = std::move(deal).fold_of();
    }
    if (least == 0) break;
  }
  return best;
}

}  // namespace

std::vector<int> stratified_folds(std::span<const int> class_ids, std::span<const int> groups,
                                  int folds, Rng& rng) {
  return ties_samples(groups) ? deal_groups(class_ids, groups, folds, rng)
                              : deal_samples(class_ids, folds, rng);
}

std::vector<int> random_folds(Index samples, std::span<const int> groups, int folds, Rng& rng) {
  const std::vector<int> one_class(static_cast<std::size_t>(samples), 0);
  return stratified_folds(one_class, groups, folds, rng);
}

FoldSplit split_fold(std::span<const int> fold_of, int fold) {
  FoldSplit split;
  for (std::size_t i = 0; i < fold_of.size(); ++i) {
    (fold_of[i] == fold ? split.inside : split.outside).push_back(static_cast<Index>(i));
  }
  return split;
}

std::optional<int> class_without_folds(const Labels& labels) {
  const std::vector<Index> counts = labels.counts();
  if (std::ranges::count_if(counts, [](Index count) { return count > 0; }) != 2)
    return std::nullopt;
  const auto single = std::ranges::find(counts, Index{1});
  if (single == counts.end()) return std::nullopt;
  return static_cast<int>(single - counts.begin());
}

std::optional<int> class_inside_a_fold(const Labels& labels, std::span<const int> fold_of) {
  const int folds = fold_of.empty() ? 0 : 1 + *std::max_element(fold_of.begin(), fold_of.end());
  for (int fold = 0; fold < folds; ++fold) {
    const FoldSplit split = split_fold(fold_of, fold);
    const Labels outside = select(labels, split.outside);
    if (outside.has_two_classes()) continue;
    const std::vector<Index> rest = outside.counts();
    for (const Index i : split.inside) {
      const int own = labels.ids[static_cast<std::size_t>(i)];
      if (rest[static_cast<std::size_t>(own)] == 0) return own;
    }
    return labels.ids.front();
  }
  return std::nullopt;
}

namespace {

/// Samples of one sign, or their groups.
Index pieces_of(int sign, std::span<const int> signs, std::span<const int> groups) {
  if (groups.empty()) return std::count(signs.begin(), signs.end(), sign);
  std::vector<int> own;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    if (signs[i] == sign) own.push_back(groups[i]);
  }
  return count_groups(own);
}

}  // namespace

std::vector<FoldSplit> two_class_folds(std::span<const int> signs, std::span<const int> groups,
                                       int most, Rng& rng) {
  const auto folds = static_cast<int>(
      std::min({Index{most}, pieces_of(1, signs, groups), pieces_of(-1, signs, groups)}));
  if (folds < 2) return {};
  std::vector<int> sides;  // classes are counted from 0
  for (const int sign : signs) sides.push_back(sign > 0 ? 1 : 0);
  const std::vector<int> fold_of = stratified_folds(sides, groups, folds, rng);
  std::vector<FoldSplit> splits;
  for (int fold = 0; fold < folds; ++fold) {
    splits.push_back(split_fold(fold_of, fold));
    const auto left = [&](int sign) {
      return std::ranges::any_of(splits.back().outside, [&](Index i) {
        return signs[static_cast<std::size_t>(i)] == sign;
      });
    };
    if (!left(1) || !left(-1)) return {};
  }
  return splits;
}

}  // namespace kith
