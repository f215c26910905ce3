// SPDX-License-Identifier: Apache-2.0
// The values of a store as cells of its tables and back, bit for bit. Every row ends with a
// checksum over its other cells, so that a changed byte is found when it is read.
#pragma once

#include <string>

#include "evaluate/sqlite.hpp"
#include "kith/evaluate/store.hpp"

namespace kith::detail {

/// With the checksum of its cells appended.
[[nodiscard]] SqlRow sealed(SqlRow row);
/// The row without its checksum; throws Error naming the file where it does not fit.
[[nodiscard]] SqlRow unsealed(SqlRow row, const std::string& path);

/// As it stands in a store. Bytes that are not UTF-8 are replaced, numbers that JSON does not have
/// are null.
[[nodiscard]] std::string json_text(const Json& json);

// Cells in the order of docs/formats.md "Store", from the first column that is no key.
[[nodiscard]] SqlRow experiment_row(const ExperimentRecord& record);
[[nodiscard]] SqlRow partition_row(const Partition& partition);
[[nodiscard]] SqlRow candidate_row(const CandidateRecord& record);
[[nodiscard]] SqlRow fold_row(const FoldResult& result);
[[nodiscard]] SqlRow test_row(const TestResult& result);

/// Reads cells one after the other. Throws Error naming the file where a cell has another type or
/// holds what no writer writes.
class StoredRow {
 public:
  StoredRow(const SqlRow& row, const std::string& path) : row_(row), path_(path) {}

  void skip(std::size_t cells) { place_ += cells; }
  std::int64_t integer();
  double number();
  std::string text();
  Json json();
  std::vector<std::string> texts();  ///< a JSON array of them
  std::uint64_t hexadecimal();
  std::vector<int> integers();
  std::vector<Index> positions();
  std::vector<double> numbers();
  Matrix matrix();

 private:
  template <class T>
  const T& next();
  [[noreturn]] void damaged() const;

  const SqlRow& row_;
  const std::string& path_;
  std::size_t place_ = 0;
};

}  // namespace kith::detail
