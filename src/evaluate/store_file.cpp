// SPDX-License-Identifier: Apache-2.0
// While somebody writes, a store is in SQLite's write-ahead mode: readers and writers do not wait
// for each other, and a finished transaction survives the death of its process. Who closes it last
// turns it back into one plain file, which can be read where nothing can be written.
#include "evaluate/store_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "core/errors.hpp"
#include "kith/core/stopwatch.hpp"

namespace kith::detail {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kApplicationId = 0x6b697468;  // "kith"
constexpr std::int64_t kVersion = 1;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr int kSmallest = 512;  // bytes: one page
constexpr int kModeByte = 18;   // 2: write-ahead

constexpr std::array<std::string_view, 6> kTables = {
    "CREATE TABLE experiments ("
    "id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL, "
    "protocol TEXT NOT NULL, input TEXT NOT NULL, about TEXT NOT NULL, "
    "class_names TEXT NOT NULL, labels BLOB NOT NULL, group_names TEXT NOT NULL, "
    "group_ids BLOB NOT NULL, sample_ids TEXT NOT NULL, partitions INTEGER NOT NULL, checksum "
    "INTEGER NOT NULL) STRICT",
    "CREATE TABLE partitions ("
    "experiment INTEGER NOT NULL REFERENCES experiments (id), number INTEGER NOT NULL, "
    "train BLOB NOT NULL, test BLOB NOT NULL, fold_of BLOB NOT NULL, checksum INTEGER NOT NULL, "
    "PRIMARY KEY (experiment, number)) STRICT",
    "CREATE TABLE sizes ("
    "experiment INTEGER NOT NULL REFERENCES experiments (id), number INTEGER NOT NULL, "
    "size TEXT NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (experiment, number)) STRICT",
    "CREATE TABLE candidates ("
    "id INTEGER PRIMARY KEY, experiment INTEGER NOT NULL REFERENCES experiments (id), "
    "name TEXT NOT NULL, method TEXT NOT NULL, settings TEXT NOT NULL, grid TEXT NOT NULL, "
    "checksum INTEGER NOT NULL, UNIQUE (experiment, name)) STRICT",
    "CREATE TABLE fold_results ("
    "candidate INTEGER NOT NULL REFERENCES candidates (id), partition INTEGER NOT NULL, "
    "fold INTEGER NOT NULL, losses BLOB NOT NULL, seconds REAL, checksum INTEGER NOT NULL, "
    "PRIMARY KEY (candidate, partition, fold)) STRICT",
    "CREATE TABLE test_results ("
    "candidate INTEGER NOT NULL REFERENCES candidates (id), partition INTEGER NOT NULL, "
    "chosen TEXT NOT NULL, inner_losses BLOB NOT NULL, labels BLOB NOT NULL, "
    "scores BLOB NOT NULL, probabilities BLOB NOT NULL, certificate TEXT NOT NULL, "
    "seconds REAL, checksum INTEGER NOT NULL, PRIMARY KEY (candidate, partition)) STRICT"};

bool in_memory(const std::string& path) { return path == ":memory:"; }

bool exists(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0;
}

/// SQLite puts its files beside the one that links lead to.
std::string resolved(const std::string& path) {
  std::error_code ignored;
  const std::string real = std::filesystem::canonical(path, ignored).string();
  return real.empty() ? path : real;
}

/// What a killed process leaves beside its store.
bool has_leftovers(const std::string& path) {
  const std::string real = resolved(path);
  return exists(real + "-wal") || exists(real + "-journal");
}

bool folder_is_writable(const std::string& path) {
  const std::string folder = std::filesystem::path(resolved(path)).parent_path().string();
  return ::faccessat(AT_FDCWD, folder.empty() ? "." : folder.c_str(), W_OK, AT_EACCESS) == 0;
}

Error not_a_store(const std::string& path) {
  return bad_input({path},
                   "not a store: the file is no SQLite database; an evaluation writes stores");
}

void check_file(const std::string& path, StoreAccess access) {
  if (path.empty()) throw invalid("the name of the store is empty");
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT && access == StoreAccess::kReadWrite) return;
    throw io_error(path + ": cannot open the store");
  }
  if (!S_ISREG(found.st_mode)) {
    throw Error(ErrorCode::kIo, fmt::format("{}: not a store but {}", path,
                                            S_ISDIR(found.st_mode) ? "a folder" : "a device"));
  }
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0) {
    throw io_error(path + ": cannot read the store");
  }
  // SQLite would take a file of one byte for a new one.
  if (found.st_size > 0 && found.st_size < kSmallest) throw not_a_store(path);
}

void check_magic(const SqlConnection& connection) {
  const std::string head = connection.head(static_cast<int>(kMagic.size()));
  if (!head.empty() && head != kMagic) throw not_a_store(connection.path());
}

[[noreturn]] void damaged(const SqlConnection& connection, const std::string& how) {
  throw bad_input({connection.path()},
                  "the store is damaged ({}); bring back a copy of the file, or delete "
                  "it and evaluate again",
                  how);
}

/// Inside a transaction: whether there is a store; throws Error where there is something else.
bool is_store(SqlConnection& connection) {
  const std::string& path = connection.path();
  const std::int64_t application = connection.integer("PRAGMA application_id");
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const std::int64_t tables = connection.integer("SELECT count(*) FROM sqlite_master");
  if (application == 0 && version == 0 && tables == 0) return false;
  if (application != kApplicationId) {
    throw bad_input({path}, "an SQLite database, but not a store of kith; give another name");
  }
  if (version != kVersion) {
    throw bad_input({path},
                    "a store of version {} was written by another kith (this "
                    "one reads version {}); use that kith, or another store",
                    version, kVersion);
  }
  if (tables == 0) damaged(connection, "it has no tables");
  return true;
}

void check_tables(SqlConnection& connection) {
  SqlRow found;
  for (SqlRow& row : connection.run("SELECT sql FROM sqlite_master WHERE type = 'table'")) {
    found.push_back(std::move(row.at(0)));
  }
  const bool same = std::equal(found.begin(), found.end(), kTables.begin(), kTables.end(),
                               [](const SqlValue& there, std::string_view table) {
                                 return there == SqlValue(std::string(table));
                               });
  if (same) return;
  throw bad_input({connection.path()},
                  "a store with other tables: another kith wrote it, or it is damaged; use that "
                  "kith, or another store");
}

void check_integrity(SqlConnection& connection) {
  check_tables(connection);
  const std::vector<SqlRow> rows = connection.run("PRAGMA integrity_check(1)");
  const auto* said = rows.empty() ? nullptr : std::get_if<std::string>(&rows[0].at(0));
  if (said == nullptr || *said != "ok") damaged(connection, said == nullptr ? "" : *said);
}

/// False where there is nothing yet.
bool has_sound_store(SqlConnection& connection) {
  const SqlTransaction moment(connection, SqlIntent::kRead);
  if (!is_store(connection)) return false;
  check_integrity(connection);
  return true;
}

void create_tables(SqlConnection& connection) {
  SqlTransaction transaction(connection, SqlIntent::kWrite);
  if (is_store(connection)) return;  // another process was faster
  for (const std::string_view table : kTables) connection.run(table);
  connection.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  connection.run(fmt::format("PRAGMA user_version = {}", kVersion));
  transaction.commit();
}

/// Changing the mode needs the file for itself for a moment, and SQLite does not always wait for
/// it.
void enter_write_ahead(SqlConnection& connection, milliseconds patience) {
  const Stopwatch clock;
  while (!connection.attempt("PRAGMA journal_mode = WAL")) {
    if (clock.seconds() >= std::chrono::duration<double>(patience).count()) {
      connection.fail(SQLITE_BUSY);
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  // Where the file system cannot do it the mode stays as it was, and needs the default, FULL.
  const SqlRow mode = connection.run("PRAGMA journal_mode").at(0);
  if (mode.at(0) != SqlValue(std::string("wal"))) return;
  connection.run("PRAGMA synchronous = NORMAL");
  connection.run("PRAGMA wal_autocheckpoint = 100");  // a small log: the disk may be nearly full
}

SqlConnection open_for_writing(const std::string& path, milliseconds patience) {
  SqlConnection connection(path, SqlMode::kCreate, patience);
  check_magic(connection);
  if (connection.read_only()) connection.fail(SQLITE_READONLY);
  connection.run("PRAGMA foreign_keys = ON");
  if (!has_sound_store(connection)) create_tables(connection);
  enter_write_ahead(connection, patience);
  return connection;
}

/// A store that a killed process left behind needs a connection that may write, since reading
/// finishes or undoes what that process had begun; where writing is not permitted SQLite opens for
/// reading all the same. In write-ahead mode readers make files, too: where they cannot and there
/// are none, nobody is writing.
SqlConnection connect_for_reading(const std::string& path, milliseconds patience) {
  if (has_leftovers(path)) return {path, SqlMode::kWrite, patience};
  SqlConnection connection(path, SqlMode::kRead, patience);
  const std::string head = connection.head(kModeByte + 1);
  const bool write_ahead = head.size() > kModeByte && head[kModeByte] == 2;
  if (!write_ahead || folder_is_writable(path)) return connection;
  return {path, SqlMode::kImmutable, patience};
}

SqlConnection open_for_reading(const std::string& path, milliseconds patience) {
  SqlConnection connection = connect_for_reading(path, patience);
  check_magic(connection);
  connection.run("PRAGMA query_only = ON");
  if (!has_sound_store(connection)) {
    throw bad_input({path}, "the store is empty; an evaluation fills it");
  }
  return connection;
}

}  // namespace

SqlConnection open_store(const std::string& path, StoreAccess access, milliseconds patience) {
  if (!in_memory(path)) check_file(path, access);
  return access == StoreAccess::kReadWrite ? open_for_writing(path, patience)
                                           : open_for_reading(path, patience);
}

void settle_store(SqlConnection& connection) noexcept {
  try {
    connection.set_patience(milliseconds(0));
    connection.run("PRAGMA synchronous = FULL");
    // Where others have it open, the last of them does it, and the log is emptied as far as they
    // let us.
    if (!connection.attempt("PRAGMA journal_mode = DELETE")) {
      connection.run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
  } catch (...) {
    // Everything finished is in the file or its log already: nothing is lost.
  }
}

}  // namespace kith::detail
