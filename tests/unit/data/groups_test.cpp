// SPDX-License-Identifier: Apache-2.0
#include "kith/data/groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kith/data/folds.hpp"
#include "kith/data/labels.hpp"
#include "support/files.hpp"

namespace kith::groups_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Case {
  std::vector<int> classes;
  std::vector<int> groups;
};

/// Groups of random sizes and numbers; a group has one class, or samples of any.
Case random_case(Rng& rng, bool pure) {
  Case made;
  const auto count = static_cast<int>(12 + rng.below(30));
  const auto classes = static_cast<int>(2 + rng.below(4));
  for (int g = 0; g < count; ++g) {
    const int own = static_cast<int>(rng.below(static_cast<std::uint64_t>(classes)));
    for (std::uint64_t k = 0; k < 1 + rng.below(6); ++k) {
      made.groups.push_back(1000 - 7 * g);
      made.classes.push_back(
          pure ? own : static_cast<int>(rng.below(static_cast<std::uint64_t>(classes))));
    }
  }
  const std::vector<Index> order = rng.permutation(std::ssize(made.groups));
  Case shuffled;
  for (const Index i : order) {
    shuffled.classes.push_back(made.classes[static_cast<std::size_t>(i)]);
    shuffled.groups.push_back(made.groups[static_cast<std::size_t>(i)]);
  }
  return shuffled;
}

/// Of each class its groups.
std::map<int, std::set<int>> groups_of_classes(const Case& one) {
  std::map<int, std::set<int>> of_class;
  for (std::size_t i = 0; i < one.classes.size(); ++i) {
    of_class[one.classes[i]].insert(one.groups[i]);
  }
  return of_class;
}

void expect_whole(const Case& one, const std::vector<int>& fold_of, int folds) {
  std::map<int, std::set<int>> places;
  std::set<int> used;
  for (std::size_t i = 0; i < fold_of.size(); ++i) {
    places[one.groups[i]].insert(fold_of[i]);
    used.insert(fold_of[i]);
  }
  for (const auto& [group, folds_of_group] : places) {
    EXPECT_EQ(folds_of_group.size(), 1U) << "group " << group;
  }
  EXPECT_EQ(std::ssize(used), folds) << "a fold is empty";
  EXPECT_LT(*used.rbegin(), folds);
}

/// Squared distances of the shares of classes in folds from one fold's share, summed.
double unevenness(const Case& one, const std::vector<int>& fold_of, int folds) {
  std::map<int, std::vector<double>> counts;
  std::map<int, double> sizes;
  for (std::size_t i = 0; i < fold_of.size(); ++i) {
    std::vector<double>& own = counts[one.classes[i]];
    own.resize(static_cast<std::size_t>(folds));
    ++own[static_cast<std::size_t>(fold_of[i])];
    ++sizes[one.classes[i]];
  }
  double sum = 0;
  for (const auto& [c, own] : counts) {
    for (const double count : own) sum += std::pow(count / sizes[c] - 1.0 / folds, 2);
  }
  return sum;
}

TEST(GroupedFolds, NeverPartAGroup) {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const Case one = random_case(rng, round % 2 == 0);
    const int folds = static_cast<int>(2 + rng.below(9));
    expect_whole(one, stratified_folds(one.classes, one.groups, folds, rng), folds);
    expect_whole(one, random_folds(std::ssize(one.groups), one.groups, folds, rng), folds);
  }
}

TEST(GroupedFolds, LeaveEveryClassOfSeveralGroupsOutsideEachFold) {
  Rng rng(2);
  for (int round = 0; round < 300; ++round) {
    const Case one = random_case(rng, round % 2 == 0);
    const int folds = static_cast<int>(2 + rng.below(9));
    const std::vector<int> fold_of = stratified_folds(one.classes, one.groups, folds, rng);
    for (const auto& [c, groups] : groups_of_classes(one)) {
      if (groups.size() < 2) continue;
      std::set<int> used;
      for (std::size_t i = 0; i < fold_of.size(); ++i) {
        if (one.classes[i] == c) used.insert(fold_of[i]);
      }
      EXPECT_GE(used.size(), 2U) << "class " << c << " of " << groups.size() << " groups";
    }
  }
}

TEST(GroupedFolds, KeepTheSharesOfTheClassesCloserThanChance) {
  Rng rng(3);
  double stratified = 0, random = 0;
  for (int round = 0; round < 200; ++round) {
    const Case one = random_case(rng, round % 2 == 0);
    stratified += unevenness(one, stratified_folds(one.classes, one.groups, 4, rng), 4);
    random += unevenness(one, random_folds(std::ssize(one.groups), one.groups, 4, rng), 4);
  }
  EXPECT_LT(stratified, 0.4 * random);
}

TEST(GroupedFolds, OfEqualPureGroupsAreAsEvenAsThoseOfSamples) {
  Case one;
  for (int g = 0; g < 46; ++g) {
    for (int k = 0; k < 3; ++k) {
      one.groups.push_back(g);
      one.classes.push_back(g % 3 == 0 ? 1 : 0);
    }
  }
  Rng rng(4);
  const std::vector<int> fold_of = stratified_folds(one.classes, one.groups, 5, rng);
  for (const int c : {0, 1}) {
    std::vector<int> counts(5);
    for (std::size_t i = 0; i < fold_of.size(); ++i) {
      counts[static_cast<std::size_t>(fold_of[i])] += one.classes[i] == c;
    }
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    EXPECT_LE(*most - *least, 3) << "more than a group apart";
  }
}

TEST(GroupedFolds, OfSingleSamplesAreThoseWithoutGroups) {
  std::vector<int> classes, alone;
  for (int i = 0; i < 53; ++i) {
    classes.push_back(i % 7 == 0 ? 1 : 0);
    alone.push_back(90 - i);
  }
  Rng one(5), two(5), three(5), four(5);
  EXPECT_EQ(stratified_folds(classes, alone, 5, one), stratified_folds(classes, {}, 5, two));
  EXPECT_EQ(random_folds(53, alone, 5, three), random_folds(53, {}, 5, four));
}

TEST(GroupedFolds, FollowTheirStreamAndNotTheNumbersOfGroups) {
  Rng rng(6);
  const Case one = random_case(rng, true);
  std::vector<int> renumbered = one.groups;
  for (int& group : renumbered) group = 5000 - group;
  Rng first(7), second(7), third(8);
  const std::vector<int> fold_of = stratified_folds(one.classes, one.groups, 3, first);
  EXPECT_EQ(stratified_folds(one.classes, renumbered, 3, second), fold_of);
  EXPECT_NE(stratified_folds(one.classes, one.groups, 3, third), fold_of);
}

TEST(GroupedFolds, NeedAGroupForEachFold) {
  const std::vector<int> classes = {0, 0, 1, 1, 0, 1};
  const std::vector<int> groups = {0, 0, 1, 1, 2, 2};
  Rng rng(9);
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [&] { (void)stratified_folds(classes, groups, 4, rng); }),
              HasSubstr("4 folds of 3 groups"));
}

TEST(TwoClassFolds, HoldOutWholeGroupsAndLeaveBothClassesOrNothing) {
  Rng rng(10);
  int divided = 0;
  for (int round = 0; round < 300; ++round) {
    Case one = random_case(rng, round % 3 != 0);
    std::vector<int> signs;
    for (const int c : one.classes) signs.push_back(c == 0 ? 1 : -1);
    const std::vector<FoldSplit> splits = two_class_folds(signs, one.groups, 5, rng);
    std::vector<int> held(signs.size(), 0);
    for (const FoldSplit& split : splits) {
      std::set<int> inside, signs_left;
      for (const Index i : split.inside) {
        inside.insert(one.groups[static_cast<std::size_t>(i)]);
        ++held[static_cast<std::size_t>(i)];
      }
      for (const Index i : split.outside) {
        EXPECT_FALSE(inside.contains(one.groups[static_cast<std::size_t>(i)]));
        signs_left.insert(signs[static_cast<std::size_t>(i)]);
      }
      EXPECT_EQ(signs_left.size(), 2U);
    }
    if (splits.empty()) continue;
    ++divided;
    EXPECT_THAT(held, testing::Each(1));
  }
  EXPECT_GT(divided, 250);
}

TEST(TwoClassFolds, AreNoneWhereOneGroupHasAClass) {
  const std::vector<int> signs = {1, 1, 1, -1, -1, -1};
  Rng rng(11);
  EXPECT_THAT(two_class_folds(signs, std::vector<int>{0, 0, 0, 1, 2, 3}, 5, rng), IsEmpty());
  EXPECT_EQ(two_class_folds(signs, std::vector<int>{0, 4, 0, 1, 2, 3}, 5, rng).size(), 2U);
  EXPECT_EQ(two_class_folds(signs, {}, 5, rng).size(), 3U);
}

Labels labelled(std::initializer_list<const char*> classes,
                std::initializer_list<const char*> groups) {
  Labels labels = make_labels(std::vector<std::string>(classes.begin(), classes.end()));
  set_groups(labels, make_groups(std::vector<std::string>(groups.begin(), groups.end())), "g.txt");
  return labels;
}

TEST(Groups, GoWithTheSamplesThatAreSelected) {
  const Labels labels = labelled({"a", "b", "a", "b"}, {"p2", "p10", "p2", "p1"});
  const std::vector<Index> chosen = {2, 1};
  const Labels part = select(labels, chosen);
  EXPECT_EQ(part.groups.name_of(0), "p2");
  EXPECT_EQ(part.groups.name_of(1), "p10");
  EXPECT_EQ(count_groups(part.groups.ids), 2);
  EXPECT_EQ(count_pieces(labels), 3);
  EXPECT_EQ(count_pieces(part), 2);
}

TEST(Groups, AreRefusedWhereNothingCouldBeHeldOutOrTheirNumberDiffers) {
  EXPECT_THAT(error_of(ErrorCode::kBadInput,
                       [] {
                         (void)labelled({"a", "b", "a"}, {"p", "p", "p"});
                       }),
              testing::AllOf(HasSubstr("g.txt"), HasSubstr("one group"), HasSubstr("\"p\"")));
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument,
                       [] {
                         (void)labelled({"a", "b"}, {"p", "q", "r"});
                       }),
              HasSubstr("3 groups for 2 samples"));
}

TEST(Groups, NoteWhatChangesNothingAndClassesThatCannotBeHeldOut) {
  EXPECT_THAT(notes_on_groups(labelled({"a", "b", "a"}, {"p", "q", "r"}), "g.txt"),
              ElementsAre(HasSubstr("change nothing")));
  EXPECT_THAT(notes_on_groups(labelled({"a", "a", "b", "b"}, {"p", "p", "q", "r"}), "g.txt"),
              ElementsAre(HasSubstr("class \"a\"")));
  EXPECT_THAT(notes_on_groups(labelled({"a", "a", "b", "b"}, {"p", "q", "q", "p"}), "g.txt"),
              IsEmpty());
  EXPECT_THAT(notes_on_groups(make_labels(std::vector<std::string>{"a", "b"}), "g.txt"), IsEmpty());
}

class Messages final : public ProgressSink {
 public:
  void progress(std::string_view, double, double, std::string_view) override {}
  void message(std::string_view text) override { texts.emplace_back(text); }
  std::vector<std::string> texts;
};

/// Files of groups are read and matched by the code of labels; messages say group.
TEST(GroupFiles, AreReadAndMatchedAsLabelsAre) {
  const TempFolder folder;
  Messages sink;
  RunContext ctx;
  ctx.sink = &sink;
  const std::vector<std::string> ids = {"a", "b", "c"};
  const LabelFile file =
      read_labels(folder.file("g.tsv", "id\tgroup\nc\tp1\na\tp2\nd\tp3\nb\tp1\n"), "group");
  EXPECT_THAT(join_texts(file, ids, 3, ctx).texts, ElementsAre("p2", "p1", "p1"));
  EXPECT_THAT(sink.texts, ElementsAre(HasSubstr("1 of 4 ids are not among the samples")));
  EXPECT_THAT(join_texts(read_labels(folder.file("l.txt", "x\ny\nx\n"), "group"), {}, 3, ctx).texts,
              ElementsAre("x", "y", "x"));
  const auto refusal = [&](const char* text) {
    return error_of(ErrorCode::kBadInput, [&] {
      (void)join_texts(read_labels(folder.file("bad.tsv", text), "group"), ids, 3, ctx);
    });
  };
  EXPECT_THAT(refusal("a\tp\nb\tq\n"), HasSubstr("1 of 3 samples have no group"));
  EXPECT_THAT(refusal("a\tp\nb\t\n"), HasSubstr("an empty group"));
  EXPECT_THAT(refusal("p\nq\n"), HasSubstr("2 groups for 3 samples"));
  EXPECT_THAT(refusal("a\tp\nb\tq\tr\n"), HasSubstr("an id and a group"));
}

}  // namespace
}  // namespace kith::groups_test
