// SPDX-License-Identifier: Apache-2.0
#include "kith/data/folds.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kith::folds_test {
namespace {

TEST(StratifiedFolds, SpreadEveryClassEvenly) {
  std::vector<int> classes(53);
  for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = i % 7 == 0 ? 1 : 0;
  Rng rng(1);
  const std::vector<int> fold_of = stratified_folds(classes, {}, 5, rng);
  for (const int c : {0, 1}) {
    std::vector<int> counts(5);
    for (std::size_t i = 0; i < classes.size(); ++i)
      counts[static_cast<std::size_t>(fold_of[i])] += classes[i] == c;
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    EXPECT_LE(*most - *least, 1);
  }
}

TEST(RandomFolds, AreEqualInSizeAndFollowTheirStream) {
  Rng one(3);
  Rng two(3);
  const std::vector<int> fold_of = random_folds(20, {}, 4, one);
  EXPECT_EQ(fold_of, random_folds(20, {}, 4, two));
  for (int fold = 0; fold < 4; ++fold)
    EXPECT_EQ(std::count(fold_of.begin(), fold_of.end(), fold), 5);
}

TEST(SplitFold, PutsEverySampleOnOneSide) {
  const std::vector<int> fold_of = {0, 1, 2, 1, 0};
  const FoldSplit split = split_fold(fold_of, 1);
  EXPECT_EQ(split.inside, (std::vector<Index>{1, 3}));
  EXPECT_EQ(split.outside, (std::vector<Index>{0, 2, 4}));
}

TEST(ClassInsideAFold, IsTheOneWithoutWhichOthersAreOfOneClass) {
  const Labels labels = make_labels(std::vector<std::string>{"a", "b", "b", "a", "c", "b"});
  const auto found = [&](const std::vector<int>& fold_of) {
    const std::optional<int> held = class_inside_a_fold(labels, fold_of);
    return held ? labels.names[static_cast<std::size_t>(*held)] : "none";
  };
  EXPECT_EQ(found({0, 1, 0, 1, 0, 1}), "none");
  EXPECT_EQ(found({0, 1, 2, 0, 1, 2}), "none");  // without c and without both of a there are two
  EXPECT_EQ(found({0, 1, 1, 1, 1, 1}), "b");     // a alone is left
  EXPECT_EQ(found({1, 0, 0, 1, 1, 0}), "a");     // b alone is left; a and c are held out
  EXPECT_EQ(class_inside_a_fold(make_labels(std::vector<std::string>{"a", "a"}), std::vector{0, 1}),
            0);  // the only class there is
}

}  // namespace
}  // namespace kith::folds_test
