// SPDX-License-Identifier: Apache-2.0
// The file of a store: what is refused, what is found damaged, what is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <type_traits>

#include "evaluate/sqlite.hpp"
#include "kith/core/xxh64.hpp"
#include "kith/evaluate/store.hpp"
#include "store_records.hpp"
#include "support/files.hpp"

namespace kith::store_file_test {
namespace {

using detail::SqlConnection;
using detail::SqlMode;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr milliseconds kShort{200};

/// A store with one data set, one candidate, two folds and a test result; its path.
std::string filled_store(const TempFolder& folder, const std::string& name = "s.kith") {
  Store store(folder.path(name));
  const std::int64_t candidate =
      store.add_candidate(store.add_experiment(some_experiment()), some_candidate());
  store.put({candidate, 0, 0}, fold_result_of({candidate, 0, 0}));
  store.put({candidate, 0, 1}, fold_result_of({candidate, 0, 1}));
  store.put({candidate, 0, kTestFold}, some_test_result());
  return folder.path(name);
}

/// Everything in it, as text.
std::string all_of(const Store& store) {
  std::string text;
  for (const std::int64_t number : store.experiments()) {
    const ExperimentRecord record = store.experiment(number);
    text += record.name + record.protocol.dump() + record.input.dump() + record.about.dump();
    for (const int label : record.labels.ids) text += record.labels.names.at(std::size_t(label));
    for (const std::string& id : record.ids) text += id;
    for (const Partition& partition : record.partitions) {
      text += testing::PrintToString(partition.train) + testing::PrintToString(partition.test) +
              testing::PrintToString(partition.fold_of);
    }
    for (const std::int64_t candidate : store.candidates(number)) {
      const CandidateRecord method = store.candidate(candidate);
      text += method.name + method.method + method.settings.dump() + method.grid.dump();
      for (const int fold : {0, 1}) {
        const auto result = store.fold_result({candidate, 0, fold});
        text += result ? testing::PrintToString(bits(result->losses)) : "none";
      }
      const auto test = store.test_result({candidate, 0, kTestFold});
      text += test ? test->chosen.dump() + testing::PrintToString(bits(test->prediction.scores)) +
                         testing::PrintToString(test->prediction.labels)
                   : "none";
    }
  }
  return text;
}

std::string all_of(const std::string& path) { return all_of(Store(path, StoreAccess::kReadOnly)); }

/// The message, which must name the file, of opening it for reading and for writing.
std::string refused(const std::string& path, ErrorCode code,
                    StoreAccess access = StoreAccess::kReadOnly) {
  const std::string message = error_of(code, [&] { const Store store(path, access, kShort); });
  EXPECT_THAT(message, HasSubstr(path));
  return message;
}

template <class T>
std::string as_bytes(T value) {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto word = std::bit_cast<Word>(value);
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(word >> (8 * i) & 0xff);
  return bytes;
}

/// While it lives, permissions count: the superuser becomes nobody.
class AsNobody {
 public:
  AsNobody() : user_(::geteuid()) {
    if (user_ == 0) changed_ = ::seteuid(65534) == 0;
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (changed_ && ::seteuid(user_) != 0) ADD_FAILURE() << "cannot become the superuser again";
  }
  [[nodiscard]] bool holds() const { return ::geteuid() != 0; }

 private:
  uid_t user_;
  bool changed_ = false;
};

/// Read permission only, for the store and its folder, until the end of the test.
class ReadOnlyFolder {
 public:
  explicit ReadOnlyFolder(std::string path) : path_(std::move(path)) {
    ::chmod(path_.c_str(), 0444);
    ::chmod(folder().c_str(), 0555);
  }
  ReadOnlyFolder(const ReadOnlyFolder&) = delete;
  ReadOnlyFolder& operator=(const ReadOnlyFolder&) = delete;
  ~ReadOnlyFolder() {
    ::chmod(folder().c_str(), 0755);
    ::chmod(path_.c_str(), 0644);
  }

 private:
  [[nodiscard]] std::string folder() const {
    return std::filesystem::path(path_).parent_path().string();
  }
  std::string path_;
};

TEST(StoreFile, LeavesOneFileBehind) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  EXPECT_EQ(folder.count(), 1U);
  const std::string before = content_of(path);
  EXPECT_FALSE(all_of(path).empty());
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_TRUE(content_of(path) == before) << "reading changes nothing";
}

TEST(StoreFile, TakesAnEmptyFileForANewStore) {
  const TempFolder folder;
  const std::string path = folder.file("s.kith", "");
  EXPECT_THAT(refused(path, ErrorCode::kBadInput), HasSubstr("empty"));
  Store(path).add_experiment(some_experiment());
  EXPECT_EQ(Store(path).experiments().size(), 1U);
}

TEST(StoreFile, RefusesWhatIsNotAFile) {
  const TempFolder folder;
  EXPECT_THAT(refused(folder.path("none.kith"), ErrorCode::kIo), HasSubstr("No such file"));
  EXPECT_THAT(refused(folder.path("no/s.kith"), ErrorCode::kIo, StoreAccess::kReadWrite),
              HasSubstr("No such file"));
  EXPECT_THAT(refused(folder.path(""), ErrorCode::kIo, StoreAccess::kReadWrite),
              HasSubstr("a folder"));
  EXPECT_THAT(refused("/dev/null", ErrorCode::kIo, StoreAccess::kReadWrite), HasSubstr("a device"));
  EXPECT_THAT(refused("", ErrorCode::kInvalidArgument), HasSubstr("empty"));
  EXPECT_EQ(folder.count(), 0U);
}

TEST(StoreFile, RefusesAndKeepsFilesOfAnotherKind) {
  const TempFolder folder;
  for (const std::string& content : {std::string("a,b\n1,2\n"), std::string(5000, 'x'),
                                     std::string(5000, '\0'), std::string("S")}) {
    const std::string path = folder.file("other", content);
    for (const StoreAccess access : {StoreAccess::kReadOnly, StoreAccess::kReadWrite}) {
      EXPECT_THAT(refused(path, ErrorCode::kBadInput, access), HasSubstr("not a store"));
    }
    EXPECT_TRUE(content_of(path) == content);
  }
  EXPECT_EQ(folder.count(), 1U);
}

TEST(StoreFile, RefusesAndKeepsDatabasesOfOthers) {
  const TempFolder folder;
  const std::string path = folder.path("other.db");
  SqlConnection(path, SqlMode::kCreate, kShort).run("CREATE TABLE recipes (name TEXT)");
  const std::string before = content_of(path);
  for (const StoreAccess access : {StoreAccess::kReadOnly, StoreAccess::kReadWrite}) {
    EXPECT_THAT(refused(path, ErrorCode::kBadInput, access), HasSubstr("not a store of kith"));
  }
  EXPECT_TRUE(content_of(path) == before);
  EXPECT_EQ(folder.count(), 1U);
}

TEST(StoreFile, RefusesEveryOtherVersion) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  for (const std::string version : {"2", "0"}) {
    SqlConnection(path, SqlMode::kWrite, kShort).run("PRAGMA user_version = " + version);
    for (const StoreAccess access : {StoreAccess::kReadOnly, StoreAccess::kReadWrite}) {
      EXPECT_THAT(refused(path, ErrorCode::kBadInput, access),
                  AllOf(HasSubstr("version " + version), HasSubstr("reads version 1")));
    }
  }
}

TEST(StoreFile, RefusesOtherTables) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  SqlConnection(path, SqlMode::kWrite, kShort).run("DROP TABLE test_results");
  EXPECT_THAT(refused(path, ErrorCode::kBadInput), HasSubstr("damaged"));
}

TEST(StoreFile, RefusesATruncatedFile) {
  const TempFolder folder;
  const std::string whole = content_of(filled_store(folder));
  ASSERT_GT(whole.size(), 16384U);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{50}, std::size_t{100},
        std::size_t{511}, std::size_t{512}, std::size_t{4095}, std::size_t{4096},
        std::size_t{10000}, whole.size() - 4096, whole.size() - 1}) {
    const std::string path = folder.file("cut.kith", whole.substr(0, size));
    for (const StoreAccess access : {StoreAccess::kReadOnly, StoreAccess::kReadWrite}) {
      EXPECT_THAT(refused(path, ErrorCode::kBadInput, access),
                  AnyOf(HasSubstr("damaged"), HasSubstr("not a store")))
          << size;
    }
  }
}

TEST(StoreFile, GivesTheSameOrAnErrorWhateverByteIsChanged) {
  const TempFolder folder;
  const std::string whole = content_of(filled_store(folder));
  const std::string right = all_of(folder.path("s.kith"));
  std::size_t found = 0;
  for (std::size_t at = 0; at < whole.size(); at += at < 100 ? 1 : 97) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1 << (at % 8)));
    const std::string path = folder.file("changed.kith", changed);
    try {
      EXPECT_EQ(all_of(path), right) << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput) << at << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr(path));
      ++found;
    }
  }
  EXPECT_GT(found, 40U);
}

TEST(StoreFile, FindsAChangedNumberWhenItIsRead) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  SqlConnection(path, SqlMode::kWrite, kShort)
      .run("UPDATE fold_results SET losses = zeroblob(32) WHERE fold = 1");
  const Store store(path, StoreAccess::kReadOnly);
  EXPECT_TRUE(store.fold_result({1, 0, 0}).has_value());
  EXPECT_THAT(error_of(ErrorCode::kBadInput,
                       [&] {
                         (void)store.fold_result({1, 0, 1});
                       }),
              AllOf(HasSubstr(path), HasSubstr("damaged")));
}

TEST(StoreFile, HasTheLayoutOfItsDescription) {
  const TempFolder folder;
  SqlConnection connection(filled_store(folder), SqlMode::kRead, kShort);
  EXPECT_EQ(connection.integer("PRAGMA application_id"), 0x6b697468);
  EXPECT_EQ(connection.integer("PRAGMA user_version"), 1);
  const detail::SqlRow row = connection.run("SELECT * FROM fold_results WHERE fold = 1").at(0);
  ASSERT_EQ(row.size(), 6U);
  const std::string losses = std::get<detail::Blob>(row[3]).bytes;
  const std::vector<double> expected = fold_result_of({1, 0, 1}).losses;
  EXPECT_EQ(losses, as_bytes(expected[0]) + as_bytes(expected[1]) + as_bytes(expected[2]) +
                        as_bytes(expected[3]));
  Xxh64 hash;
  for (const std::int64_t key : {1, 0, 1}) {
    hash.update(as_bytes(std::int64_t{1}) + as_bytes(std::int64_t{8}) + as_bytes(key));
  }
  hash.update(as_bytes(std::int64_t{4}) + as_bytes(std::int64_t{32}) + losses);
  hash.update(as_bytes(std::int64_t{2}) + as_bytes(std::int64_t{8}) + as_bytes(0.5));
  EXPECT_EQ(std::get<std::int64_t>(row[5]), std::bit_cast<std::int64_t>(hash.digest()));
  const std::string scores =
      std::get<detail::Blob>(connection.run("SELECT scores FROM test_results").at(0).at(0)).bytes;
  const Matrix matrix = some_test_result().prediction.scores;
  EXPECT_EQ(scores.substr(0, 24), as_bytes(std::int64_t{2}) + as_bytes(std::int64_t{5}) +
                                      as_bytes(static_cast<float>(matrix(0, 0))) +
                                      as_bytes(static_cast<float>(matrix(0, 1))));
  EXPECT_EQ(scores.size(), 16U + 4U * 10U);
}

TEST(StoreFile, IsReadWhereNothingCanBeWritten) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  const std::string right = all_of(path);
  const ReadOnlyFolder read_only(path);
  const AsNobody nobody;
  if (!nobody.holds()) GTEST_SKIP() << "the superuser may write everything";
  EXPECT_EQ(all_of(path), right);
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_THAT(refused(path, ErrorCode::kIo, StoreAccess::kReadWrite), HasSubstr("read-only"));
}

TEST(StoreFile, IsReadWhereNothingCanBeWrittenInWriteAheadModeToo) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  const std::string right = all_of(path);
  SqlConnection(path, SqlMode::kWrite, kShort).run("PRAGMA journal_mode = WAL");
  ASSERT_EQ(folder.count(), 1U);
  const ReadOnlyFolder read_only(path);
  const AsNobody nobody;
  if (!nobody.holds()) GTEST_SKIP() << "the superuser may write everything";
  EXPECT_EQ(all_of(path), right);
}

TEST(StoreFile, NeedsAFolderItCanWriteTo) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  ASSERT_EQ(::chmod(folder.path("").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  const AsNobody nobody;
  if (!nobody.holds()) GTEST_SKIP() << "the superuser may write everything";
  refused(path, ErrorCode::kIo, StoreAccess::kReadWrite);
  refused(folder.path("new.kith"), ErrorCode::kIo, StoreAccess::kReadWrite);
}

TEST(StoreFile, IsFoundThroughLinks) {
  const TempFolder folder;
  const TempFolder elsewhere;
  std::filesystem::create_symlink(folder.path("s.kith"), elsewhere.path("link"));
  const std::string right = all_of(filled_store(folder));
  EXPECT_EQ(all_of(elsewhere.path("link")), right);
  Store(elsewhere.path("link")).put({1, 1, 0}, FoldResult{});
  EXPECT_TRUE(Store(folder.path("s.kith")).has({1, 1, 0}));
  EXPECT_EQ(folder.count(), 1U);
  EXPECT_EQ(elsewhere.count(), 1U);
}

TEST(StoreFile, IsNotWrittenThroughAReader) {
  const TempFolder folder;
  Store store(filled_store(folder), StoreAccess::kReadOnly);
  EXPECT_THAT(error_of(ErrorCode::kIo,
                       [&] {
                         store.put({1, 1, 0}, FoldResult{});
                       }),
              HasSubstr("reading only"));
  EXPECT_THAT(error_of(ErrorCode::kIo, [&] { store.add_experiment(some_experiment()); }),
              HasSubstr("reading only"));
}

TEST(StoreFile, IsReadWhileOthersWrite) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  const Store early(path, StoreAccess::kReadOnly);
  EXPECT_FALSE(early.has({1, 1, 0}));
  {
    Store writer(path);
    const Store late(path, StoreAccess::kReadOnly);
    writer.put({1, 1, 0}, fold_result_of({1, 1, 0}));
    for (const Store* reader : {&early, &late}) {
      EXPECT_EQ(bits(reader->fold_result({1, 1, 0}).value().losses),
                bits(fold_result_of({1, 1, 0}).losses));
    }
  }
  EXPECT_TRUE(early.has({1, 1, 0}));
}

TEST(StoreFile, WaitsForOthersAndThenSaysSo) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  Store store(path, StoreAccess::kReadWrite, kShort);
  SqlConnection other(path, SqlMode::kWrite, kShort);
  other.run("BEGIN IMMEDIATE");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of(ErrorCode::kIo,
                       [&] {
                         store.put({1, 1, 0}, FoldResult{});
                       }),
              AllOf(HasSubstr(path), HasSubstr("another process"), HasSubstr("0.2 s")));
  EXPECT_GE(std::chrono::steady_clock::now() - start, kShort);
  EXPECT_FALSE(store.has({1, 1, 0}));
  other.run("ROLLBACK");
  store.put({1, 1, 0}, FoldResult{});
  EXPECT_TRUE(store.has({1, 1, 0}));
}

TEST(StoreFile, IsNotOpenedWhileAnotherHoldsAllOfIt) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  SqlConnection other(path, SqlMode::kWrite, kShort);
  other.run("BEGIN EXCLUSIVE");
  for (const StoreAccess access : {StoreAccess::kReadOnly, StoreAccess::kReadWrite}) {
    EXPECT_THAT(refused(path, ErrorCode::kIo, access), HasSubstr("another process"));
  }
}

TEST(StoreFile, SaysWhenItWasTakenAway) {
  const TempFolder folder;
  const std::string path = filled_store(folder);
  Store store(path);
  std::filesystem::remove(path);
  EXPECT_THAT(error_of(ErrorCode::kIo,
                       [&] {
                         store.put({1, 1, 0}, FoldResult{});
                       }),
              AllOf(HasSubstr(path), HasSubstr("moved or deleted")));
}

}  // namespace
}  // namespace kith::store_file_test
