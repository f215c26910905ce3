// SPDX-License-Identifier: Apache-2.0
#include "data/formats/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "kith/data/atomic_file.hpp"
#include "support/files.hpp"

namespace kith::detail::stream_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string everything(ByteSource& source, std::size_t step = 1000) {
  std::string all;
  std::vector<char> buffer(step);
  while (const std::size_t got = source.read(buffer)) all.append(buffer.data(), got);
  return all;
}

std::string text_of(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i * i) + ",";
  return text;
}

/// `text` as AtomicFile packs it for this ending.
std::string packed(std::string_view text, const std::string& ending) {
  const TempFolder folder;
  AtomicFile file(folder.path("x" + ending));
  file.write(text);
  file.commit();
  return content_of(folder.path("x" + ending));
}

std::vector<std::string> lines_of(std::string_view text) {
  ByteSource source = ByteSource::from_memory(text, "text");
  LineReader reader(source);
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.next(line)) lines.emplace_back(line);
  return lines;
}

class Packed : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Endings, Packed, testing::Values(".gz", ".zst"),
                         [](const auto& ending) { return ending.param.substr(1); });

TEST_P(Packed, ReadsBackWhateverTheNameSays) {
  const std::string text = text_of(3'000'000);
  const TempFolder folder;
  ByteSource source = ByteSource::open(folder.file("data.csv", packed(text, GetParam())));
  EXPECT_NE(source.compression(), Compression::kNone);
  EXPECT_FALSE(source.is_plain_file());
  EXPECT_FALSE(source.plain_size());
  EXPECT_EQ(source.head(), text.substr(0, source.head().size()));
  EXPECT_EQ(everything(source), text);
  EXPECT_EQ(everything(source), "") << "the end stays the end";
}

TEST_P(Packed, ReadsSeveralStreamsInOneFile) {
  const std::string joined =
      packed("one,", GetParam()) + packed("", GetParam()) + packed("two", GetParam());
  ByteSource source = ByteSource::from_memory(joined, "joined");
  EXPECT_EQ(everything(source, 2), "one,two");
}

TEST_P(Packed, IsRefusedWhereverItIsCut) {
  const std::string whole = packed(text_of(500), GetParam());
  for (std::size_t size = 5; size < whole.size(); ++size) {
    const std::string message = error_of(ErrorCode::kBadInput, [&] {
      ByteSource source = ByteSource::from_memory(std::string_view(whole).substr(0, size), "cut.z");
      (void)everything(source);
    });
    ASSERT_THAT(message, AllOf(HasSubstr("cut.z: truncated"), HasSubstr("before the end")))
        << "cut to " << size << " of " << whole.size();
  }
}

TEST_P(Packed, IsRefusedWhenItsContentIsDamaged) {
  std::string bytes = packed(text_of(100'000), GetParam());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  const std::string message = error_of(ErrorCode::kBadInput, [&] {
    ByteSource source = ByteSource::from_memory(bytes, "bad.z");
    (void)everything(source);
  });
  EXPECT_THAT(message, HasSubstr("bad.z: damaged"));
}

TEST_P(Packed, IsRefusedWhenItsChecksumIsWrong) {
  std::string bytes = packed(text_of(1000), GetParam());
  const std::size_t checksum = GetParam() == ".gz" ? bytes.size() - 8 : bytes.size() - 4;
  bytes[checksum] = static_cast<char>(bytes[checksum] + 1);
  const std::string message = error_of(ErrorCode::kBadInput, [&] {
    ByteSource source = ByteSource::from_memory(bytes, "bad.z");
    (void)everything(source);
  });
  EXPECT_THAT(message, HasSubstr("bad.z: damaged"));
}

TEST_P(Packed, IsRefusedWhenOtherBytesFollow) {
  const std::string bytes = packed("abc", GetParam()) + "rubbish after the end";
  const std::string message = error_of(ErrorCode::kBadInput, [&] {
    ByteSource source = ByteSource::from_memory(bytes, "more.z");
    (void)everything(source);
  });
  EXPECT_THAT(message, HasSubstr("more.z: damaged"));
}

TEST(GzipSource, IgnoresZeroPadding) {
  const std::string bytes = packed("abc", ".gz") + std::string(600, '\0');
  ByteSource source = ByteSource::from_memory(bytes, "tape");
  EXPECT_EQ(everything(source), "abc");
}

TEST(ByteSource, KnowsThePlainSizeAndKeepsTheHead) {
  const TempFolder folder;
  const std::string text = text_of(200'000);
  ByteSource source = ByteSource::open(folder.file("plain", text));
  EXPECT_TRUE(source.is_plain_file());
  EXPECT_EQ(source.plain_size(), static_cast<std::int64_t>(text.size()));
  EXPECT_EQ(source.head().size(), std::size_t{64} << 10);
  EXPECT_EQ(everything(source), text);
}

TEST(ByteSource, ReadsAPipeWithoutASize) {
  const TempFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << "1,2\n"; });
  ByteSource source = ByteSource::open(path);
  EXPECT_FALSE(source.plain_size());
  EXPECT_EQ(everything(source), "1,2\n");
  writer.join();
}

TEST(ByteSource, NamesAFileThatIsMissing) {
  const std::string message =
      error_of(ErrorCode::kIo, [] { (void)ByteSource::open("no/such/file.csv"); });
  EXPECT_THAT(message, AllOf(HasSubstr("no/such/file.csv"), HasSubstr("No such file")));
}

TEST(ByteSource, NamesADirectory) {
  const TempFolder folder;
  const std::string path = folder.path("");
  const std::string message = error_of(ErrorCode::kIo, [&] { (void)ByteSource::open(path); });
  EXPECT_THAT(message, AllOf(HasSubstr(path), HasSubstr("is a directory")));
}

TEST(ByteSource, NamesAFileThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TempFolder folder;
  const std::string path = folder.file("secret", "1");
  ::chmod(path.c_str(), 0);
  const std::string message = error_of(ErrorCode::kIo, [&] { (void)ByteSource::open(path); });
  EXPECT_THAT(message, AllOf(HasSubstr("secret"), HasSubstr("denied")));
}

TEST(ByteSource, NoticesAFileThatIsCutWhileBeingRead) {
  const TempFolder folder;
  const std::string path = folder.file("shrinking", text_of(2'000'000));
  ByteSource source = ByteSource::open(path);
  std::filesystem::resize_file(path, 1'000'000);
  const std::string message = error_of(ErrorCode::kIo, [&] { (void)everything(source); });
  EXPECT_THAT(message, AllOf(HasSubstr("shrinking"), HasSubstr("cut while being read")));
}

TEST(ByteSource, ReadsOnWhenTheFileIsRemovedAfterOpening) {
  const TempFolder folder;
  const std::string path = folder.file("gone", "1,2");
  ByteSource source = ByteSource::open(path);
  std::filesystem::remove(path);
  EXPECT_EQ(everything(source), "1,2");
}

TEST(LineReader, TakesBothLineEndsAndAMissingLastOne) {
  EXPECT_THAT(lines_of("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(lines_of("a\n"), ElementsAre("a"));
  EXPECT_THAT(lines_of("\n"), ElementsAre(""));
  EXPECT_THAT(lines_of(""), ElementsAre());
}

TEST(LineReader, DropsAByteOrderMarkAndRefusesUtf16) {
  EXPECT_THAT(lines_of("\xef\xbb\xbf"
                       "a\nb"),
              ElementsAre("a", "b"));
  EXPECT_THAT(error_of(ErrorCode::kBadInput,
                       [] {
                         (void)lines_of(
                             "\xff\xfe"
                             "a");
                       }),
              HasSubstr("text: the text is UTF-16; save it as UTF-8"));
}

TEST(LineReader, KeepsLinesThatCrossItsBuffer) {
  std::vector<std::string> wanted;
  std::string text;
  for (int i = 0; i < 40; ++i) {
    wanted.emplace_back(static_cast<std::size_t>(i) * 20'011, static_cast<char>('a' + i % 26));
    text += wanted.back() + "\n";
  }
  EXPECT_EQ(lines_of(text), wanted);
}

TEST(LineReader, CountsLinesAndExtendsThem) {
  ByteSource source = ByteSource::from_memory("a\r\nb\r\nc", "text");
  LineReader reader(source);
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  ASSERT_TRUE(reader.extend(line));
  EXPECT_EQ(line, "a\r\nb");
  EXPECT_EQ(reader.line_number(), 1);
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "c");
  EXPECT_EQ(reader.line_number(), 3);
  EXPECT_FALSE(reader.extend(line));
  EXPECT_FALSE(reader.next(line));
}

TEST(LineReader, RefusesALineWithoutEnd) {
  const std::string text = "short\n" + std::string(std::size_t{3} << 20, 'x');
  ByteSource source = ByteSource::from_memory(text, "blob");
  LineReader reader(source, std::size_t{1} << 20);
  std::string_view line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_THAT(error_of(ErrorCode::kBadInput, [&] { (void)reader.next(line); }),
              AllOf(HasSubstr("blob:2: a line of more than"), HasSubstr("is this a text file?")));
}

}  // namespace
}  // namespace kith::detail::stream_test
