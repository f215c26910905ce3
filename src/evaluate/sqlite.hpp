// SPDX-License-Identifier: Apache-2.0
// A thin room over SQLite's C interface: one connection, statements with values bound in order, and
// errors in words that name the file and say what to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;

namespace kith::detail {

struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};
/// What a cell of a table holds. NULL is std::monostate, and so is a NaN once it was stored.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, Blob>;
using SqlRow = std::vector<SqlValue>;

enum class SqlMode { kRead, kWrite, kCreate, kImmutable };

class SqlConnection {
 public:
  /// Opens `path` (or ":memory:"); nothing is read yet. kImmutable takes no locks and makes no
  /// files: only for a file that nobody can be writing. Throws Error(kIo).
  SqlConnection(const std::string& path, SqlMode mode, std::chrono::milliseconds patience);

  /// Runs one statement with `parameters` for its question marks and returns its rows. A database
  /// that others hold is waited for as long as the patience lasts.
  std::vector<SqlRow> run(std::string_view sql, const SqlRow& parameters = {});
  /// Runs a statement without parameters; false where others hold the database.
  bool attempt(std::string_view sql);
  /// The first cell of the first row.
  std::int64_t integer(std::string_view sql);

  [[nodiscard]] std::int64_t last_id() const;  ///< of the last row inserted
  [[nodiscard]] bool read_only() const;
  [[nodiscard]] bool in_transaction() const;
  /// The first `count` bytes of the file, fewer where it is shorter. To be read through SQLite
  /// only: closing any other handle of the file would release the locks of this process.
  [[nodiscard]] std::string head(int count) const;
  /// Whether the file lies no longer where it was opened.
  [[nodiscard]] bool moved() const;
  void set_patience(std::chrono::milliseconds patience);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Throws the Error for an extended result code of SQLite.
  [[noreturn]] void fail(int code) const;

 private:
  int execute(std::string_view sql, const SqlRow& parameters, std::vector<SqlRow>& rows);

  struct Closer {
    void operator()(sqlite3* database) const noexcept;
  };
  std::string path_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<sqlite3, Closer> database_;
};

enum class SqlIntent { kRead, kWrite };

/// What is read inside is the state of one moment; with the intent to write, nobody else changes
/// it until commit(). Undone without commit().
class SqlTransaction {
 public:
  SqlTransaction(SqlConnection& connection, SqlIntent intent);
  SqlTransaction(const SqlTransaction&) = delete;
  SqlTransaction& operator=(const SqlTransaction&) = delete;
  ~SqlTransaction();
  void commit();

 private:
  SqlConnection& connection_;
};

}  // namespace kith::detail
