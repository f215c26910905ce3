// SPDX-License-Identifier: Apache-2.0
#include "evaluate/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <new>
#include <system_error>

#include "kith/core/error.hpp"

namespace kith::detail {
namespace {

constexpr std::string_view kMemory = ":memory:";

/// A name that SQLite cannot take for one of its own notations (`file:...`, "").
std::string plain_name(const std::string& path) {
  return path == kMemory || path.starts_with("/") ? path : "./" + path;
}

std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : plain_name(path)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri + "?immutable=1";
}

int open_flags(SqlMode mode) {
  // The store has a mutex of its own around every call.
  switch (mode) {
    case SqlMode::kRead:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    case SqlMode::kWrite:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    case SqlMode::kCreate:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    case SqlMode::kImmutable:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
  }
  return 0;
}

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalizer>;

/// The bytes stay where they are until the statement is done, hence SQLITE_STATIC. An empty blob
/// needs an address, since SQLite takes a null pointer for NULL.
struct Binder {
  sqlite3_stmt* statement;
  int place;
  int operator()(std::monostate) const { return sqlite3_bind_null(statement, place); }
  int operator()(std::int64_t value) const { return sqlite3_bind_int64(statement, place, value); }
  int operator()(double value) const { return sqlite3_bind_double(statement, place, value); }
  int operator()(const std::string& text) const {
    return sqlite3_bind_text64(statement, place, text.data(), text.size(), SQLITE_STATIC,
                               SQLITE_UTF8);
  }
  int operator()(const Blob& blob) const {
    return sqlite3_bind_blob64(statement, place, blob.bytes.data(), blob.bytes.size(),
                               SQLITE_STATIC);
  }
};

/// `data` is null for no bytes.
std::string bytes_of(const void* data, int size) {
  return size == 0 ? std::string()
                   : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

SqlValue cell(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const void* text = sqlite3_column_text(statement, column);
      return bytes_of(text, sqlite3_column_bytes(statement, column));
    }
    case SQLITE_BLOB: {
      const void* blob = sqlite3_column_blob(statement, column);
      return Blob{bytes_of(blob, sqlite3_column_bytes(statement, column))};
    }
    default:
      return std::monostate();
  }
}

SqlRow row_of(sqlite3_stmt* statement) {
  SqlRow row;
  const int columns = sqlite3_column_count(statement);
  row.reserve(static_cast<std::size_t>(columns));
  for (int column = 0; column < columns; ++column) row.push_back(cell(statement, column));
  return row;
}

std::string operating_system(sqlite3* database) {
  const int code = sqlite3_system_errno(database);
  return code == 0 ? std::string() : ": " + std::generic_category().message(code);
}

std::string seconds_of(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

}  // namespace

void SqlConnection::Closer::operator()(sqlite3* database) const noexcept {
  [[maybe_unused]] const int code = sqlite3_close(database);
  assert(code == SQLITE_OK && "every statement is finalized by now");
}

SqlConnection::SqlConnection(const std::string& path, SqlMode mode,
                             std::chrono::milliseconds patience)
    : path_(path), patience_(patience) {
  sqlite3* raw = nullptr;
  const std::string name = mode == SqlMode::kImmutable ? immutable_uri(path) : plain_name(path);
  const int code = sqlite3_open_v2(name.c_str(), &raw, open_flags(mode), nullptr);
  database_.reset(raw);
  if (raw == nullptr) throw std::bad_alloc();
  if (code != SQLITE_OK) fail(sqlite3_extended_errcode(raw));
  sqlite3_extended_result_codes(raw, 1);
  set_patience(patience);
}

int SqlConnection::execute(std::string_view sql, const SqlRow& parameters,
                           std::vector<SqlRow>& rows) {
  sqlite3_stmt* raw = nullptr;
  int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  const Statement statement(raw);
  if (code != SQLITE_OK) return code;
  assert(sqlite3_bind_parameter_count(raw) == static_cast<int>(parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    code = std::visit(Binder{raw, static_cast<int>(i) + 1}, parameters[i]);
    if (code != SQLITE_OK) return code;
  }
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) rows.push_back(row_of(raw));
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

std::vector<SqlRow> SqlConnection::run(std::string_view sql, const SqlRow& parameters) {
  std::vector<SqlRow> rows;
  const int code = execute(sql, parameters, rows);
  if (code != SQLITE_OK) fail(code);
  return rows;
}

bool SqlConnection::attempt(std::string_view sql) {
  std::vector<SqlRow> rows;
  const int code = execute(sql, {}, rows);
  if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) return false;
  if (code != SQLITE_OK) fail(code);
  return true;
}

std::int64_t SqlConnection::integer(std::string_view sql) {
  return std::get<std::int64_t>(run(sql).at(0).at(0));
}

std::int64_t SqlConnection::last_id() const { return sqlite3_last_insert_rowid(database_.get()); }

bool SqlConnection::read_only() const { return sqlite3_db_readonly(database_.get(), "main") == 1; }

bool SqlConnection::in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

std::string SqlConnection::head(int count) const {
  sqlite3_file* file = nullptr;
  int code = sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK || file == nullptr || file->pMethods == nullptr) return {};
  sqlite3_int64 size = 0;
  code = file->pMethods->xFileSize(file, &size);
  if (code != SQLITE_OK) fail(code);
  std::string bytes(static_cast<std::size_t>(std::min<sqlite3_int64>(size, count)), '\0');
  code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) fail(code);
  return bytes;
}

bool SqlConnection::moved() const {
  if (path_ == kMemory) return false;
  int moved = 0;
  const int code = sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code == SQLITE_OK && moved != 0;
}

void SqlConnection::set_patience(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(database_.get(), static_cast<int>(patience.count()));
}

void SqlConnection::fail(int code) const {
  const std::string said = sqlite3_errmsg(database_.get());
  const auto io = [&](const std::string& text) {
    return Error(ErrorCode::kIo, path_ + ": " + text);
  };
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // the statements are right wherever a store is as it was written
      throw bad_input({path_}, "the store is damaged (" + said +
                                   "); bring back a copy of the file, or delete it and evaluate "
                                   "again");
    case SQLITE_FULL:
      throw io(
          "the disk is full; what was finished before is in the store. Make room, then run "
          "the same command again");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      if (code == SQLITE_READONLY_DBMOVED) {
        throw io("the store was moved or deleted while it was in use");
      }
      throw io(
          "the store or its folder is read-only, and writing needs both; make them writable "
          "or copy the store elsewhere");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      throw io("another process has held the store for " + seconds_of(patience_) +
               "; wait until it is done, then run the same command again");
    case SQLITE_CANTOPEN:
      throw io("cannot open the store or the files beside it" + operating_system(database_.get()));
    case SQLITE_IOERR:
      throw io("reading or writing the store failed" + operating_system(database_.get()) +
               "; what was finished before is in the store (SQLite: " + said + ")");
    case SQLITE_TOOBIG:
      throw Error(ErrorCode::kInvalidArgument,
                  path_ + ": a value is larger than a store can hold (1 GB)");
    default:
      throw Error(ErrorCode::kInternal, fmt::format("{}: SQLite: {} ({})", path_, said, code));
  }
}

SqlTransaction::SqlTransaction(SqlConnection& connection, SqlIntent intent)
    : connection_(connection) {
  connection_.run(intent == SqlIntent::kWrite ? "BEGIN IMMEDIATE" : "BEGIN DEFERRED");
}

SqlTransaction::~SqlTransaction() {
  // SQLite has undone it already after some errors; whatever fails here leaves nothing half done.
  if (!connection_.in_transaction()) return;
  try {
    connection_.run("ROLLBACK");
  } catch (...) {
  }
}

void SqlTransaction::commit() { connection_.run("COMMIT"); }

}  // namespace kith::detail
