// SPDX-License-Identifier: Apache-2.0
#include "kith/data/classes_note.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kith/core/error.hpp"

namespace kith::classes_note_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

ClassesNote note_on(const std::vector<std::string>& per_sample) {
  return note_on_classes(make_labels(per_sample), "l.txt");
}

TEST(ClassesNote, RefusesAClassForEachSample) {
  const ClassesNote note = note_on({"p1", "p2", "p3"});
  EXPECT_TRUE(note.nothing_to_learn);
  EXPECT_THAT(note.text, HasSubstr("l.txt: each of the 3 samples has a class of its own"));
  EXPECT_THAT(note.text, HasSubstr("at least two samples"));
  EXPECT_THROW(check_classes(make_labels(std::vector<std::string>{"p1", "p2", "p3"}), "l.txt", {}),
               Error);
}

TEST(ClassesNote, LetsTwoSamplesBeToldApart) { EXPECT_FALSE(note_on({"a", "b"}).nothing_to_learn); }

TEST(ClassesNote, SaysHowIdsAndLabelsAreSeparated) {
  EXPECT_THAT(note_on({"p1 a", "p2 b", "p3 a"}).text, HasSubstr("separated by a tab"));
  EXPECT_THAT(note_on({"p1", "p2 b", "p3 a"}).text, testing::Not(HasSubstr("tab")));
}

TEST(ClassesNote, IsSaidWhereMoreThanHalfOfTheClassesHaveOneSample) {
  const ClassesNote note = note_on({"a", "a", "b", "c"});
  EXPECT_FALSE(note.nothing_to_learn);
  EXPECT_THAT(note.text, HasSubstr("l.txt: 2 of 3 classes have a single sample, such as \"b\""));
  EXPECT_NO_THROW(check_classes(make_labels(std::vector<std::string>{"a", "a", "b"}), "l.txt", {}));
}

TEST(ClassesNote, IsNotSaidOfHalfOfThem) {
  for (const std::vector<std::string>& fine :
       {std::vector<std::string>{"a", "a", "b"}, {"a", "a", "b", "b", "c"}, {"a", "a"}}) {
    EXPECT_THAT(note_on(fine).text, IsEmpty());
  }
}

TEST(ClassesNote, CountsClassesThatHaveSamples) {
  const Labels labels{.ids = {0, 0, 1}, .names = {"a", "b", "c", "d"}};
  EXPECT_THAT(note_on_classes(labels, "l.txt").text, IsEmpty());
}

}  // namespace
}  // namespace kith::classes_note_test
