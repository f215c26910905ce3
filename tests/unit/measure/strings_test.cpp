// SPDX-License-Identifier: Apache-2.0
#include "measure/readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "kith/core/error.hpp"

namespace kith::strings_test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

/// A file of the running test with this content.
std::string file_with(const std::string& content, const std::string& ending = ".tsv") {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string path =
      testing::TempDir() + "kith_" + test->test_suite_name() + "_" + test->name() + ending;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

StringData strings_of(const std::string& content) {
  return detail::read_strings(file_with(content), RunContext{});
}

std::string refusal(const std::string& content) {
  try {
    static_cast<void>(strings_of(content));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.what();
  }
  return "nothing was refused";
}

TEST(Strings, AreReadWithIds) {
  const StringData data = strings_of("a\tgr\xc3\xbcn\nb b\t\nc\tx y\n");
  EXPECT_THAT(data.ids, ElementsAre("a", "b b", "c"));
  EXPECT_THAT(data.values, ElementsAre("gr\xc3\xbcn", "", "x y"));
}

TEST(Strings, AreReadOnePerLine) {
  const StringData data = strings_of("one\ntwo words\none");
  EXPECT_THAT(data.ids, IsEmpty());
  EXPECT_THAT(data.values, ElementsAre("one", "two words", "one"));
}

TEST(Strings, LoseByteOrderMarkAndWindowsLineEnds) {
  const StringData data = strings_of(
      "\xef\xbb\xbf"
      "a\tx\r\nb\ty\r\n");
  EXPECT_THAT(data.ids, ElementsAre("a", "b"));
  EXPECT_THAT(data.values, ElementsAre("x", "y"));
}

TEST(Strings, AreReadFromGzip) {
  const std::string path = file_with("", ".tsv.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, "a\tx\nb\ty\n", 8), 8);
  gzclose(file);
  EXPECT_THAT(detail::read_strings(path, RunContext{}).values, ElementsAre("x", "y"));
}

TEST(Strings, NameFileAndLineOfBytesThatAreNotUtf8) {
  const std::string message = refusal("a\tfine\nb\tcaf\xe9\n");
  EXPECT_THAT(message, HasSubstr("NameFileAndLineOfBytesThatAreNotUtf8.tsv:2:"));
  EXPECT_THAT(message, HasSubstr("is not UTF-8"));
}

TEST(Strings, RefuseLinesWithAndWithoutIds) {
  EXPECT_THAT(refusal("a\tx\ny\n"), HasSubstr(".tsv:2: \"y\" has no tab"));
  EXPECT_THAT(refusal("x\nb\ty\n"), HasSubstr(".tsv:2: \"b\\ty\" has a tab"));
  EXPECT_THAT(refusal("a\tx\ty\n"), HasSubstr("second tab"));
}

TEST(Strings, RefuseDuplicateAndEmptyIds) {
  EXPECT_THAT(refusal("a\tx\nb\ty\na\tz\n"),
              AllOf(HasSubstr(".tsv:3:1:"), HasSubstr("\"a\" is already on line 1")));
  EXPECT_THAT(refusal("a\tx\n\ty\n"), HasSubstr(".tsv:2:1: the id before the tab is empty"));
}

TEST(Strings, RefuseEmptyLinesAndFiles) {
  EXPECT_THAT(refusal("x\n\ny\n"), HasSubstr(".tsv:2: the line is empty"));
  EXPECT_THAT(refusal(""), EndsWith("the file has no lines; it must hold strings"));
}

TEST(Strings, RefuseAMissingFile) {
  try {
    static_cast<void>(detail::read_strings(testing::TempDir() + "kith_none.tsv", RunContext{}));
    FAIL() << "a missing file was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_THAT(error.what(), HasSubstr("kith_none.tsv"));
  }
}

}  // namespace
}  // namespace kith::strings_test
