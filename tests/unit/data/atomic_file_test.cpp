// SPDX-License-Identifier: Apache-2.0
#include "kith/data/atomic_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <string>

#include "support/files.hpp"

namespace kith::atomic_file_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void write_whole(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

TEST(AtomicFile, AppearsOnCommitAndLeavesNothingBeside) {
  const TempFolder folder;
  const std::string path = folder.path("out.csv");
  {
    AtomicFile file(path);
    file.write("1,");
    file.write("2\n");
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
  }
  EXPECT_EQ(content_of(path), "1,2\n");
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, WithoutCommitKeepsWhatWasThere) {
  const TempFolder folder;
  const std::string path = folder.file("out.csv", "old");
  {
    AtomicFile file(path);
    file.write(std::string(3'000'000, 'x'));
  }
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, WritesMoreThanItsBuffer) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 700'000; ++i) text += std::to_string(i);
  write_whole(folder.path("big"), text);
  EXPECT_EQ(content_of(folder.path("big")), text);
}

TEST(AtomicFile, GivesTheSameBytesForTheSameContent) {
  const TempFolder folder;
  for (const std::string ending : {".gz", ".zst"}) {
    write_whole(folder.path("a" + ending), std::string(100'000, 'y'));
    write_whole(folder.path("b" + ending), std::string(100'000, 'y'));
    EXPECT_EQ(content_of(folder.path("a" + ending)), content_of(folder.path("b" + ending)));
    EXPECT_LT(content_of(folder.path("a" + ending)).size(), 5'000U);
  }
}

TEST(AtomicFile, NamesTheFileWhenTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
  const std::string message =
      error_of(ErrorCode::kIo, [] { write_whole("/dev/full", std::string(3'000'000, 'x')); });
  EXPECT_THAT(message, AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
  EXPECT_THAT(error_of(ErrorCode::kIo, [] { write_whole("/dev/full", "x"); }),
              HasSubstr("No space left"));
}

TEST(AtomicFile, RemovesTheTemporaryWhenAWriteFails) {
  const TempFolder folder;
  const std::string path = folder.file("out.csv", "old");
  // A limit on the size of files stands in for a disk that fills up half way.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 100'000;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      error_of(ErrorCode::kIo, [&] { write_whole(path, std::string(3'000'000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, AllOf(HasSubstr(path), HasSubstr("too large")));
  EXPECT_EQ(content_of(path), "old");
  EXPECT_EQ(folder.count(), 1U);
}

TEST(AtomicFile, NamesAFolderThatDoesNotExist) {
  const std::string message =
      error_of(ErrorCode::kIo, [] { write_whole("no/such/folder/x.csv", "1"); });
  EXPECT_THAT(message, AllOf(HasSubstr("no/such/folder/x.csv"), HasSubstr("No such file")));
}

TEST(AtomicFile, RefusesADirectory) {
  const TempFolder folder;
  EXPECT_THAT(error_of(ErrorCode::kIo, [&] { write_whole(folder.path(""), "1"); }),
              HasSubstr("is a directory"));
}

TEST(AtomicFile, KeepsLinksAndPermissions) {
  const TempFolder folder;
  const std::string target = folder.file("target", "old");
  std::filesystem::permissions(target, std::filesystem::perms(0640));
  const std::string link = folder.path("link");
  std::filesystem::create_symlink("target", link);
  write_whole(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(content_of(target), "new");
  EXPECT_EQ(std::filesystem::status(target).permissions(), std::filesystem::perms(0640));
}

TEST(AtomicFile, LetsTwoWritersOfOneNameBothFinish) {
  const TempFolder folder;
  AtomicFile first(folder.path("x"));
  AtomicFile second(folder.path("x"));
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(content_of(folder.path("x")), "first");
  EXPECT_EQ(folder.count(), 1U);
}

}  // namespace
}  // namespace kith::atomic_file_test
