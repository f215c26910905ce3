// SPDX-License-Identifier: Apache-2.0
// Stores between processes: killed at any moment, writing at once, on a full disk.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "evaluate/sqlite.hpp"
#include "kith/core/rng.hpp"
#include "kith/evaluate/store.hpp"
#include "store_records.hpp"
#include "support/files.hpp"

namespace kith::store_process_test {
namespace {

using detail::SqlConnection;
using detail::SqlMode;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

/// Runs `action`, whose result is the exit code, in a process of its own; 99 where it throws.
pid_t start(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 99;
  try {
    code = action();
  } catch (const std::exception& error) {
    const std::string text = std::string(error.what()) + "\n";
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) code = 98;
  }
  ::_exit(code);
}

int exit_code(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  std::array<int, 2> ends{};
};

std::int64_t only_candidate(Store& store) {
  return store.add_candidate(store.add_experiment(some_experiment()), some_candidate());
}

/// Opens and closes the store again and again, ten units at a time, and reports each unit through
/// the pipe once `put` has returned for it.
[[noreturn]] void write_for_ever(const std::string& path, int partition, int pipe) {
  for (int unit = 0;;) {
    Store store(path);
    const std::int64_t candidate = only_candidate(store);
    for (int i = 0; i < 10; ++i, ++unit) {
      const UnitKey key{candidate, partition, unit};
      store.put(key, fold_result_of(key));
      if (unit == 0) store.put({candidate, partition, kTestFold}, some_test_result());
      if (::write(pipe, &unit, sizeof unit) != sizeof unit) ::_exit(97);
    }
  }
}

/// The number of the last unit that was reported, -1 where none was.
int last_reported(int pipe) {
  int last = -1;
  for (int unit = 0; ::read(pipe, &unit, sizeof unit) == sizeof unit;) last = unit;
  return last;
}

void expect_sound(const std::string& path) {
  SqlConnection connection(path, SqlMode::kWrite, milliseconds(1000));
  EXPECT_EQ(connection.run("PRAGMA integrity_check").at(0).at(0),
            detail::SqlValue(std::string("ok")));
  EXPECT_TRUE(connection.run("PRAGMA foreign_key_check").empty());
}

TEST(StoreProcess, LosesNothingFinishedWhenItIsKilled) {
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  Rng rng(7);
  std::vector<int> last;
  for (int round = 0; round < 24; ++round) {
    const Pipe pipe;
    const pid_t child = start([&]() -> int {
      ::close(pipe.ends[0]);
      write_for_ever(path, round, pipe.ends[1]);
    });
    ::close(pipe.ends[1]);
    // From before the file is there to the middle of many opened and closed stores; every other
    // time when some work is done, however slow the machine.
    int first = 0;
    if (round % 2 == 1) {
      ASSERT_EQ(::read(pipe.ends[0], &first, sizeof first), sizeof first);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100 + rng.below(120000)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    last.push_back(std::max(last_reported(pipe.ends[0]), round % 2 == 1 ? 0 : -1));
    ::close(pipe.ends[0]);
    ASSERT_EQ(exit_code(child), -SIGKILL);
    if (round % 4 != 1) continue;  // the next one finds what was left
    const Store store(path, StoreAccess::kReadOnly);
    EXPECT_TRUE(store.has({1, round, last.back()}));
  }
  { const Store store(path); }
  expect_sound(path);
  EXPECT_EQ(folder.count(), 1U);
  const Store store(path, StoreAccess::kReadOnly);
  EXPECT_EQ(store.experiments().size(), 1U);
  int units = 0;
  for (int round = 0; round < static_cast<int>(last.size()); ++round) {
    for (int unit = 0; unit <= last[static_cast<std::size_t>(round)]; ++unit, ++units) {
      const UnitKey key{1, round, unit};
      ASSERT_TRUE(store.has(key)) << round << " " << unit;
      EXPECT_EQ(store.fold_result(key).value().losses, fold_result_of(key).losses);
    }
    if (last[static_cast<std::size_t>(round)] >= 0) {
      expect_same(store.test_result({1, round, kTestFold}).value(), some_test_result());
    }
  }
  EXPECT_GE(units, 12);
}

/// A store that a process was killed over, its log beside it.
std::string killed_store(const TempFolder& folder) {
  const std::string path = folder.path("s.kith");
  const pid_t child = start([&]() -> int {
    Store store(path);
    store.put({only_candidate(store), 0, 0}, FoldResult{{7}, 0});
    return ::raise(SIGKILL);
  });
  EXPECT_EQ(exit_code(child), -SIGKILL);
  EXPECT_TRUE(std::filesystem::exists(path + "-wal"));
  return path;
}

TEST(StoreProcess, LeavesAStoreThatCanBeReadWhenItIsKilled) {
  const TempFolder folder;
  const std::string path = killed_store(folder);
  EXPECT_TRUE(Store(path, StoreAccess::kReadOnly).has({1, 0, 0}));
  EXPECT_EQ(folder.count(), 1U) << "reading has brought the log into the store";
  EXPECT_EQ(content_of(path).at(18), 1) << "and left it for readers without a log";
  expect_sound(path);
}

TEST(StoreProcess, LeavesAStoreThatCanBeReadWhereNothingCanBeWrittenWhenItIsKilled) {
  const TempFolder folder;
  const std::string path = killed_store(folder);
  for (const char* end : {"", "-wal", "-shm"}) ::chmod((path + end).c_str(), 0444);
  ::chmod(folder.path("").c_str(), 0555);
  const pid_t child = start([&]() -> int {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) return 77;
    return Store(path, StoreAccess::kReadOnly).has({1, 0, 0}) ? 0 : 1;
  });
  const int code = exit_code(child);
  ::chmod(folder.path("").c_str(), 0755);
  if (code == 77) GTEST_SKIP() << "the superuser may write everything";
  EXPECT_EQ(code, 0);
}

TEST(StoreProcess, WritesBesideOthers) {
  constexpr int kUnits = 200;
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  std::vector<pid_t> children;
  children.reserve(3);
  for (int process = 0; process < 3; ++process) {
    children.push_back(start([&, process] {
      Store store(path);
      const std::int64_t candidate = only_candidate(store);
      for (int unit = 0; unit < kUnits; ++unit) {
        store.put({candidate, 0, unit}, fold_result_of({candidate, 0, unit}));  // as all others
        store.put({candidate, 1 + process, unit}, FoldResult{{1.0 * process}, 0});
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(exit_code(child), 0);
  EXPECT_EQ(folder.count(), 1U);
  expect_sound(path);
  const Store store(path, StoreAccess::kReadOnly);
  for (int unit = 0; unit < kUnits; ++unit) {
    EXPECT_EQ(store.fold_result({1, 0, unit}).value().losses, fold_result_of({1, 0, unit}).losses);
    for (int process = 0; process < 3; ++process) {
      EXPECT_EQ(store.fold_result({1, 1 + process, unit}).value().losses.at(0), process);
    }
  }
}

TEST(StoreProcess, KeepsItsLocksWhileTheSameProcessOpensTheFileAgain) {
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  // Started first: SQLite keeps a table of its locks in memory, which a child would inherit.
  const Pipe go;
  const pid_t child = start([&]() -> int {
    char byte = 0;
    if (::read(go.ends[0], &byte, 1) != 1) return 2;
    SqlConnection other(path, SqlMode::kWrite, milliseconds(50));
    return other.attempt("PRAGMA journal_mode = DELETE") ? 1 : 0;  // needs the file for itself
  });
  Store store(path);
  only_candidate(store);
  for (int i = 0; i < 3; ++i) {
    const Store reader(path, StoreAccess::kReadOnly);
  }
  ASSERT_EQ(::write(go.ends[1], "x", 1), 1);
  EXPECT_EQ(exit_code(child), 0);
  EXPECT_EQ(store.experiments().size(), 1U);
}

TEST(StoreProcess, CreatesAStoreOnceWhereSeveralTryAtOnce) {
  const TempFolder folder;
  for (int round = 0; round < 5; ++round) {
    const std::string path = folder.path("s" + std::to_string(round));
    std::vector<pid_t> children;
    children.reserve(5);
    for (int process = 0; process < 5; ++process) {
      children.push_back(start([&]() -> int {
        Store store(path);
        return only_candidate(store) == 1 ? 0 : 1;
      }));
    }
    for (const pid_t child : children) EXPECT_EQ(exit_code(child), 0);
    EXPECT_EQ(Store(path).experiments().size(), 1U);
  }
}

/// Puts units until that fails; 0 where the message and what is left are as
/// they should be.
int fill_up(const std::string& path) {
  Store store(path);
  const std::int64_t candidate = only_candidate(store);
  const FoldResult large{std::vector<double>(1000, 0.5), 0};
  int unit = 0;
  try {
    for (; unit < 10000; ++unit) store.put({candidate, 0, unit}, large);
    return 1;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) return 2;
    EXPECT_THAT(error.what(), AllOf(HasSubstr(path), HasSubstr("finished before is in the store"),
                                    AnyOf(HasSubstr("disk is full"), HasSubstr("disk I/O error"))));
  }
  if (unit < 3 || store.has({candidate, 0, unit})) return 3;
  for (int i = 0; i < unit; ++i) {
    if (!store.has({candidate, 0, i})) return 4;
  }
  return testing::Test::HasFailure() ? 5 : 0;
}

TEST(StoreProcess, SaysWhenFilesMayGrowNoFurther) {
  const TempFolder folder;
  const std::string path = folder.path("s.kith");
  const pid_t child = start([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{400000, 400000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 77;
    return fill_up(path);
  });
  EXPECT_EQ(exit_code(child), 0);
  Store store(path);
  EXPECT_TRUE(store.has({1, 0, 2}));
  store.put({1, 1, 0}, FoldResult{});
  EXPECT_TRUE(store.has({1, 1, 0}));
}

TEST(StoreProcess, SaysWhenTheDiskIsFullAndGoesOnWhenThereIsRoom) {
  const TempFolder folder;
  const pid_t child = start([&] {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (::mount("none", folder.path("").c_str(), "tmpfs", 0, "size=600k") != 0) return 77;
    const std::string path = folder.path("s.kith");
    const int code = fill_up(path);
    if (code != 0) return code;
    if (::mount("none", folder.path("").c_str(), "tmpfs", MS_REMOUNT, "size=8m") != 0) return 77;
    Store store(path);
    store.put({1, 1, 0}, FoldResult{});
    return store.has({1, 0, 2}) && store.has({1, 1, 0}) ? 0 : 6;
  });
  const int code = exit_code(child);
  if (code == 77) GTEST_SKIP() << "a small file system cannot be mounted here";
  EXPECT_EQ(code, 0);
}

TEST(StoreProcess, TranslatesTheErrorOfAFullDatabase) {
  const TempFolder folder;
  SqlConnection connection(folder.path("x"), SqlMode::kCreate, milliseconds(100));
  connection.run("PRAGMA max_page_count = 4");
  connection.run("CREATE TABLE t (b BLOB)");
  EXPECT_THAT(
      error_of(ErrorCode::kIo, [&] { connection.run("INSERT INTO t VALUES (zeroblob(100000))"); }),
      AllOf(HasSubstr(folder.path("x")), HasSubstr("disk is full")));
  EXPECT_TRUE(connection.run("SELECT * FROM t").empty());
}

}  // namespace
}  // namespace kith::store_process_test
